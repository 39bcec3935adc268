"""Number formats: the same work in two precisions."""

from study.analysis.comparison_claims import comparison_claims
from study.analysis.parts import Parts
from study.domain.finding import Finding

FACTS = {
    "summary": "Cells that differ only in their precision, paired by block.",
    "section": "one_device",
    "rank": 12,
}

FRAMES = {
    "clear": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with precision "
        "{a} is {ratio} times that with precision {b} ({base})."
    ),
    "small": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with precision "
        "{a} is {ratio} times that with precision {b} ({base}); this difference is measurable, but not "
        "shown to exceed the margin of {margin} set in the plan."
    ),
    "within": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with precision "
        "{a} is {ratio} times that with precision {b} ({base}); this difference is measurable and within "
        "the margin of {margin} set in the plan."
    ),
    "same": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with precision "
        "{a} and with precision {b} ({base}) shows no difference of practical size: the ratio is "
        "{ratio}, within the margin of {margin} set in the plan."
    ),
    "open": (
        "Whether throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with "
        "precision {a} differs from that with precision {b} ({base}) is not settled: the ratio is "
        "{ratio}."
    ),
    "not_compared": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with precision "
        "{a} is not compared with that with precision {b}: a comparison needs three blocks that hold "
        "both."
    ),
    "short": (
        "Throughput of {workload} ({task}) with precision {a} is {value} times that with precision {b}."
    ),
    "short_small": (
        "Throughput of {workload} ({task}) with precision {a} is {value} times that with precision {b}; "
        "this is not shown to exceed the margin of {margin}."
    ),
    "short_within": (
        "Throughput of {workload} ({task}) with precision {a} is {value} times that with precision {b}; "
        "this is within the margin of {margin}."
    ),
    "short_same": (
        "Throughput of {workload} ({task}) with precision {a} and with precision {b} shows no difference "
        "of practical size."
    ),
    "short_open": (
        "Whether throughput of {workload} ({task}) with precision {a} differs from that with precision "
        "{b} is not settled."
    ),
    "short_not_compared": (
        "Throughput of {workload} ({task}) with precision {a} is not compared with that with precision {b}."
    ),
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each further precision against the first."""
    return comparison_claims(
        parts, shelf="precisions", factor="precision", section="one_device", frames=FRAMES
    )
