"""What the wrapper costs: the version made for one device against the parallel code on one device."""

from study.analysis.comparison_claims import comparison_claims
from study.analysis.parts import Parts
from study.domain.finding import Finding

FACTS = {
    "summary": "The version for one device against the same strategy on one device, paired by block.",
    "section": "one_device",
    "rank": 13,
}

FRAMES = {
    "clear": (
        "On one device, throughput of {workload} ({task}, batch: {batch}) with strategy {a} is {ratio} "
        "times that with strategy {b} ({base})."
    ),
    "small": (
        "On one device, throughput of {workload} ({task}, batch: {batch}) with strategy {a} is {ratio} "
        "times that with strategy {b} ({base}); this difference is measurable, but not shown to exceed "
        "the margin of {margin} set in the plan."
    ),
    "within": (
        "On one device, throughput of {workload} ({task}, batch: {batch}) with strategy {a} is {ratio} "
        "times that with strategy {b} ({base}); this difference is measurable and within the margin of "
        "{margin} set in the plan."
    ),
    "same": (
        "On one device, throughput of {workload} ({task}, batch: {batch}) with strategy {a} and with "
        "strategy {b} ({base}) shows no difference of practical size: the ratio is {ratio}, within the "
        "margin of {margin} set in the plan."
    ),
    "open": (
        "Whether throughput of {workload} ({task}, batch: {batch}) on one device with strategy {a} "
        "differs from that with strategy {b} ({base}) is not settled: the ratio is {ratio}."
    ),
    "not_compared": (
        "Throughput of {workload} ({task}, batch: {batch}) on one device with strategy {a} is not "
        "compared with that with strategy {b}: a comparison needs three blocks that hold both."
    ),
    "short": (
        "On one device, throughput of {workload} ({task}) with strategy {a} is {value} times that with "
        "strategy {b}."
    ),
    "short_small": (
        "On one device, throughput of {workload} ({task}) with strategy {a} is {value} times that with "
        "strategy {b}; this is not shown to exceed the margin of {margin}."
    ),
    "short_within": (
        "On one device, throughput of {workload} ({task}) with strategy {a} is {value} times that with "
        "strategy {b}; this is within the margin of {margin}."
    ),
    "short_same": (
        "On one device, throughput of {workload} ({task}) with strategy {a} and with {b} shows no "
        "difference of practical size."
    ),
    "short_open": (
        "Whether throughput of {workload} ({task}) on one device with strategy {a} differs from that with "
        "{b} is not settled."
    ),
    "short_not_compared": (
        "On one device, throughput of {workload} ({task}) with strategy {a} is not compared with that with "
        "strategy {b}."
    ),
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each base that has its parallel code beside it on one device."""
    return comparison_claims(
        parts, shelf="wrapper-cost", factor="strategy", section="one_device", frames=FRAMES
    )
