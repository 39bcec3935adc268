"""The bubble of a pipeline: the share of a step in which its stages wait at the beginning and at the end.

The formulae take equal stages for granted. The slowest stage sets the pace, so its excess over the mean is
printed beside them, and so is the bubble that was measured.

Sources: Huang et al., NeurIPS 2019 (GPipe); Narayanan et al., SC 2021, arXiv 2104.04473, section 2.2
(1F1B and interleaved stages; it quotes the bubble relative to the ideal time, not to the whole).
"""

import math
from collections.abc import Sequence

from study.analysis import reasons
from study.analysis.verdicts import Refused

FILL_AND_DRAIN = frozenset({"gpipe", "1f1b"})
INTERLEAVED = frozenset({"interleaved", "looped_bfs"})
ZERO_BUBBLE = frozenset({"interleaved_zero_bubble", "zbv_zero_bubble", "dualpipev"})
"""Schedules of torch.distributed.pipelining; how small their bubble is depends on times, not on shape."""


def relative_bubble(schedule: str, *, stages: int, micro_batches: int, chunks: int = 1) -> float | Refused:
    """Bubble over the ideal time, as Megatron quotes it: (p - 1) / (v m).

    `stages` are the devices p of the pipeline, `chunks` the stages v that each of them holds.
    """
    if schedule in ZERO_BUBBLE:
        return Refused(reason=reasons.NO_BUBBLE_FORMULA)
    if schedule in FILL_AND_DRAIN:
        return (stages - 1) / micro_batches
    if schedule in INTERLEAVED:
        return (stages - 1) / (chunks * micro_batches)
    return Refused(reason=reasons.NO_SUCH_SCHEDULE)


def bubble_share(schedule: str, *, stages: int, micro_batches: int, chunks: int = 1) -> float | Refused:
    """Bubble over the whole step: (p - 1) / (v m + p - 1)."""
    relative = relative_bubble(schedule, stages=stages, micro_batches=micro_batches, chunks=chunks)
    return relative if isinstance(relative, Refused) else relative / (1 + relative)


def measured_bubble(stage_s: Sequence[float], *, micro_batches: int, step_s: float) -> float | Refused:
    """1 - m (t_f + t_b) / t_step, of the slowest stage.

    `stage_s` is each device's forward and backward time of one micro-batch, all its chunks together.
    """
    busy_s = micro_batches * max(stage_s)
    return Refused(reason=reasons.STAGES_LONGER_THAN_STEP) if busy_s > step_s else 1 - busy_s / step_s


def imbalance(stage_s: Sequence[float]) -> float:
    """The slowest stage over the mean stage; one where all are equal."""
    return max(stage_s) * len(stage_s) / math.fsum(stage_s)
