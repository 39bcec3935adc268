"""Variants of one cell: the same work under two names, such as a set-up checked against itself."""

from study.analysis.comparison_claims import comparison_claims
from study.analysis.parts import Parts
from study.domain.finding import Finding

FACTS = {
    "summary": "Cells that differ only in their variant, paired by block.",
    "section": "checks",
    "rank": 32,
}

FRAMES = {
    "clear": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with variant "
        "{a} is {ratio} times that with variant {b} ({base})."
    ),
    "small": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with variant "
        "{a} is {ratio} times that with variant {b} ({base}); this difference is measurable, but not "
        "shown to exceed the margin of {margin} set in the plan."
    ),
    "within": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with variant "
        "{a} is {ratio} times that with variant {b} ({base}); this difference is measurable and within "
        "the margin of {margin} set in the plan."
    ),
    "same": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with variant "
        "{a} and with variant {b} ({base}) shows no difference of practical size: the ratio is {ratio}, "
        "within the margin of {margin} set in the plan."
    ),
    "open": (
        "Whether throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with "
        "variant {a} differs from that with variant {b} ({base}) is not settled: the ratio is {ratio}."
    ),
    "not_compared": (
        "Throughput of {workload} ({task}, {strategy}, devices: {devices}, batch: {batch}) with variant "
        "{a} is not compared with that with variant {b}: a comparison needs three blocks that hold both."
    ),
    "short": "Throughput of {workload} ({task}) with variant {a} is {value} times that with variant {b}.",
    "short_small": (
        "Throughput of {workload} ({task}) with variant {a} is {value} times that with variant {b}; this "
        "is not shown to exceed the margin of {margin}."
    ),
    "short_within": (
        "Throughput of {workload} ({task}) with variant {a} is {value} times that with variant {b}; this "
        "is within the margin of {margin}."
    ),
    "short_same": (
        "Throughput of {workload} ({task}) with variant {a} and with variant {b} shows no difference of "
        "practical size."
    ),
    "short_open": (
        "Whether throughput of {workload} ({task}) with variant {a} differs from that with variant {b} is "
        "not settled."
    ),
    "short_not_compared": (
        "Throughput of {workload} ({task}) with variant {a} is not compared with that with variant {b}."
    ),
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each further variant against the first."""
    return comparison_claims(parts, shelf="variants", factor="variant", section="checks", frames=FRAMES)
