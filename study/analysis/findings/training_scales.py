"""What more devices do to training throughput: strong and weak scaling, each against one device."""

from study.analysis.parts import Parts
from study.analysis.scaling_claims import scaling_claims
from study.domain.finding import Finding

FACTS = {
    "summary": "Training throughput on more devices against one, strong and weak scaling by name.",
    "section": "more_devices",
    "rank": 20,
}

FRAMES = {
    "strong_clear": (
        "Training throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the global batch held at {batch} (strong scaling, {strategy})."
    ),
    "strong_small": (
        "Training throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the global batch held at {batch} (strong scaling, {strategy}); this difference is "
        "measurable, but not shown to exceed the margin of {margin} set in the plan."
    ),
    "strong_within": (
        "Training throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the global batch held at {batch} (strong scaling, {strategy}); this difference is "
        "measurable and within the margin of {margin} set in the plan."
    ),
    "strong_same": (
        "Training throughput of {workload} on {devices} devices and on one device ({base}) shows no "
        "difference of practical size, with the global batch held at {batch} (strong scaling, "
        "{strategy}): the ratio is {speedup}, within the margin of {margin} set in the plan."
    ),
    "strong_open": (
        "Whether training throughput of {workload} on {devices} devices differs from that of one device "
        "({base}) is not settled, with the global batch held at {batch} (strong scaling, {strategy}): the "
        "ratio is {speedup}."
    ),
    "strong_too_few": (
        "Training throughput of {workload} on {devices} devices was {rate}, with the global batch held at "
        "{batch} (strong scaling, {strategy}); fewer than three trials do not allow a comparison with "
        "one device."
    ),
    "strong_no_base": (
        "Training throughput of {workload} on {devices} devices was {rate}, with the global batch held at "
        "{batch} (strong scaling, {strategy}); there is no measurement on one device to compare it with."
    ),
    "strong_implausible": (
        "Training throughput of {workload} on {devices} devices was {rate}, with the global batch held at "
        "{batch} (strong scaling, {strategy}); no speed-up is stated, as it would lie more than half "
        "above the number of devices."
    ),
    "weak_clear": (
        "Training throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the batch per device held at {batch} (weak scaling, {strategy})."
    ),
    "weak_small": (
        "Training throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the batch per device held at {batch} (weak scaling, {strategy}); this difference "
        "is measurable, but not shown to exceed the margin of {margin} set in the plan."
    ),
    "weak_within": (
        "Training throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the batch per device held at {batch} (weak scaling, {strategy}); this difference "
        "is measurable and within the margin of {margin} set in the plan."
    ),
    "weak_same": (
        "Training throughput of {workload} on {devices} devices and on one device ({base}) shows no "
        "difference of practical size, with the batch per device held at {batch} (weak scaling, "
        "{strategy}): the ratio is {speedup}, within the margin of {margin} set in the plan."
    ),
    "weak_open": (
        "Whether training throughput of {workload} on {devices} devices differs from that of one device "
        "({base}) is not settled, with the batch per device held at {batch} (weak scaling, {strategy}): "
        "the ratio is {speedup}."
    ),
    "weak_too_few": (
        "Training throughput of {workload} on {devices} devices was {rate}, with the batch per device "
        "held at {batch} (weak scaling, {strategy}); fewer than three trials do not allow a comparison "
        "with one device."
    ),
    "weak_no_base": (
        "Training throughput of {workload} on {devices} devices was {rate}, with the batch per device "
        "held at {batch} (weak scaling, {strategy}); there is no measurement on one device to compare it "
        "with."
    ),
    "weak_implausible": (
        "Training throughput of {workload} on {devices} devices was {rate}, with the batch per device "
        "held at {batch} (weak scaling, {strategy}); no speed-up is stated, as it would lie more than "
        "half above the number of devices."
    ),
    "short_strong": "Training throughput of {workload} on {devices} devices is {ratio} times that of one.",
    "short_weak": (
        "Training throughput of {workload} on {devices} devices has a weak-scaling efficiency of "
        "{efficiency}."
    ),
    "short_same": (
        "Training throughput of {workload} on {devices} devices and on one shows no difference of "
        "practical size."
    ),
    "short_open": (
        "Whether training throughput of {workload} on {devices} devices differs from that on one is not "
        "settled."
    ),
    "short_rate": "Training throughput of {workload} on {devices} devices was {rate}.",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each series of training and each count of devices above one."""
    return scaling_claims(parts, shelf="training-scales", task="train", frames=FRAMES)
