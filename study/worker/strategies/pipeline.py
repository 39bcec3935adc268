"""The strategy `pipeline`: layers on different devices, micro-batches passing through them at the same time.

What `layer-split` does with a batch as a whole is done with its parts one after another, so that a device
works on one part while the next device works on the part before. What is left of waiting is the bubble at
the beginning and the end of a step: (p - 1) / m of the time of the work with p stages and m micro-batches,
and v times less where each device holds v stages (Narayanan et al. 2021, section 2.2).
"""

from collections.abc import Callable, Mapping
from typing import Any

from study.worker.contracts import Loss, Place, Runner

FACTS = {
    "summary": "Layers on different devices, micro-batches passing through them by a schedule; "
    "for inference, forwards only.",
    "tasks": ("train", "infer"),
    "min_devices": 1,
    "max_devices": None,
    "startup_s": 0.1,
    "axes": ("stages",),
    "needs": ("blocks",),
    "options": {"schedule": "gpipe", "micro_batches": 4, "chunks": 2},
    "ranges": {"micro_batches": (1, 1e6), "chunks": (2, 1e3)},
    "choices": {"schedule": ("gpipe", "1f1b", "interleaved")},
    "at_least": {"micro_batches": "stages"},
    "applies": {"chunks": {"schedule": ("interleaved",)}},
}

JOINS_GROUP = True


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:  # noqa: ARG001 - the shelf's contract
    """The whole batch: the first stage needs the inputs, the last one the targets."""
    return range(batch)


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:
    """The last stage has the result, so it counts the work."""
    return batch if rank == mesh["stages"] - 1 else 0


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The stages of this rank under the schedule."""
    from study.worker.schedules import PipelineRunner

    return PipelineRunner(model, place, loss=loss, scale=scale)
