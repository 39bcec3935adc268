"""The sentinel: one fixed small cell, first and last in each block, by which a machine is known again.

Its model, its batch, its warm-up and its window are the same in every study, whatever the study measures,
so that sessions of different studies and days can be held against each other. A session is licensed by it
if the rates agree within a hundredth. For that ten trials (five blocks) must settle a mean to well below
that: with windows of 1.6 s the trials of this cell spread by 0.35 % on a shared two-core machine, so ten
settle it to 0.25 %; halves of the same windows spread by 0.85 %, which would leave 0.6 %.

Source: method page, order and comparing archived results.
"""

import msgspec

from study.domain.shelf import WorkloadFacts
from study.domain.study import Matrix, Protocol, Study
from study.domain.trial import PlannedCell
from study.planning.cells import Candidate, Shelves, candidates

MATRIX = Matrix(
    workload="gpt",
    task="train",
    size="tiny",
    strategy="single",
    devices=1,
    precision="fp32",
    batch=8,
    threads_per_device=1,
)
"""The cell, with the workload's default options. Whoever changes it begins a new line of comparisons."""

TRIALS_A_BLOCK = 2
MOST_SHARE = 0.5
"""So much of a block's predicted time may the sentinel add. A block of four trials like its own holds it."""

SWITCHED_OFF = "the study switches it off"
WITHOUT_TORCH = "nothing that is planned needs torch, and the sentinel does"
TOO_DEAR = "its two trials would make each block longer by more than half"


def sentinel_protocol(protocol: Protocol) -> Protocol:
    """How the sentinel is measured: its own warm-up, window and limit; all else as in the study.

    Preheating is the study's, and comes on top of the limit.
    """
    return msgspec.structs.replace(
        protocol,
        warmup_steps=5,
        warmup_s=0.4,
        window_s=1.6,
        window_steps=None,
        min_steps=10,
        time_limit_s=60.0 + protocol.preheat_s,
    )


def candidate(shelves: Shelves, accelerator: str) -> Candidate:
    """The sentinel's cell on one device of `accelerator`, with the reason if it cannot run there."""
    alone = Study(name="sentinel", title="The sentinel", matrix=[MATRIX])
    return candidates(alone, shelves, accelerator, 1, "the sentinel")[0]


def why_none(
    protocol: Protocol,
    workloads: list[WorkloadFacts],
    sentinel: PlannedCell,
    seconds: list[float | None],
) -> str:
    """Why a plan has no sentinel, or nothing.

    `workloads` are those of the planned cells, `seconds` their predicted times. A cell without a prediction
    counts as long as the sentinel.
    """
    if not protocol.sentinel:
        return SWITCHED_OFF
    if not any(workload.needs_torch for workload in workloads):
        return WITHOUT_TORCH
    own = sentinel.predicted_s or 0.0
    block_s = sum(own if each is None else each for each in seconds)
    return TOO_DEAR if TRIALS_A_BLOCK * own > MOST_SHARE * block_s else ""
