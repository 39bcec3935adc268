"""What more devices do to inference throughput: strong and weak scaling, each against one device."""

from study.analysis.parts import Parts
from study.analysis.scaling_claims import scaling_claims
from study.domain.finding import Finding

FACTS = {
    "summary": "Inference throughput on more devices against one, strong and weak scaling by name.",
    "section": "more_devices",
    "rank": 21,
}

FRAMES = {
    "strong_clear": (
        "Inference throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the global batch held at {batch} (strong scaling, {strategy})."
    ),
    "strong_small": (
        "Inference throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the global batch held at {batch} (strong scaling, {strategy}); this difference is "
        "measurable, but not shown to exceed the margin of {margin} set in the plan."
    ),
    "strong_within": (
        "Inference throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the global batch held at {batch} (strong scaling, {strategy}); this difference is "
        "measurable and within the margin of {margin} set in the plan."
    ),
    "strong_same": (
        "Inference throughput of {workload} on {devices} devices and on one device ({base}) shows no "
        "difference of practical size, with the global batch held at {batch} (strong scaling, "
        "{strategy}): the ratio is {speedup}, within the margin of {margin} set in the plan."
    ),
    "strong_open": (
        "Whether inference throughput of {workload} on {devices} devices differs from that of one device "
        "({base}) is not settled, with the global batch held at {batch} (strong scaling, {strategy}): the "
        "ratio is {speedup}."
    ),
    "strong_too_few": (
        "Inference throughput of {workload} on {devices} devices was {rate}, with the global batch held "
        "at {batch} (strong scaling, {strategy}); fewer than three trials do not allow a comparison with "
        "one device."
    ),
    "strong_no_base": (
        "Inference throughput of {workload} on {devices} devices was {rate}, with the global batch held "
        "at {batch} (strong scaling, {strategy}); there is no measurement on one device to compare it "
        "with."
    ),
    "strong_implausible": (
        "Inference throughput of {workload} on {devices} devices was {rate}, with the global batch held "
        "at {batch} (strong scaling, {strategy}); no speed-up is stated, as it would lie more than half "
        "above the number of devices."
    ),
    "weak_clear": (
        "Inference throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the batch per device held at {batch} (weak scaling, {strategy})."
    ),
    "weak_small": (
        "Inference throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the batch per device held at {batch} (weak scaling, {strategy}); this difference "
        "is measurable, but not shown to exceed the margin of {margin} set in the plan."
    ),
    "weak_within": (
        "Inference throughput of {workload} on {devices} devices is {speedup} times that of one device "
        "({base}), with the batch per device held at {batch} (weak scaling, {strategy}); this difference "
        "is measurable and within the margin of {margin} set in the plan."
    ),
    "weak_same": (
        "Inference throughput of {workload} on {devices} devices and on one device ({base}) shows no "
        "difference of practical size, with the batch per device held at {batch} (weak scaling, "
        "{strategy}): the ratio is {speedup}, within the margin of {margin} set in the plan."
    ),
    "weak_open": (
        "Whether inference throughput of {workload} on {devices} devices differs from that of one device "
        "({base}) is not settled, with the batch per device held at {batch} (weak scaling, {strategy}): "
        "the ratio is {speedup}."
    ),
    "weak_too_few": (
        "Inference throughput of {workload} on {devices} devices was {rate}, with the batch per device "
        "held at {batch} (weak scaling, {strategy}); fewer than three trials do not allow a comparison "
        "with one device."
    ),
    "weak_no_base": (
        "Inference throughput of {workload} on {devices} devices was {rate}, with the batch per device "
        "held at {batch} (weak scaling, {strategy}); there is no measurement on one device to compare it "
        "with."
    ),
    "weak_implausible": (
        "Inference throughput of {workload} on {devices} devices was {rate}, with the batch per device "
        "held at {batch} (weak scaling, {strategy}); no speed-up is stated, as it would lie more than "
        "half above the number of devices."
    ),
    "short_strong": "Inference throughput of {workload} on {devices} devices is {ratio} times that of one.",
    "short_weak": (
        "Inference throughput of {workload} on {devices} devices has a weak-scaling efficiency of "
        "{efficiency}."
    ),
    "short_same": (
        "Inference throughput of {workload} on {devices} devices and on one shows no difference of "
        "practical size."
    ),
    "short_open": (
        "Whether inference throughput of {workload} on {devices} devices differs from that on one is not "
        "settled."
    ),
    "short_rate": "Inference throughput of {workload} on {devices} devices was {rate}.",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each series of inference and each count of devices above one."""
    return scaling_claims(parts, shelf="inference-scales", task="infer", frames=FRAMES)
