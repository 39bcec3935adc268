"""The strategy `ddp-pipeline`: several pipelines, each with the whole model and an equal share of the batch.

Stages exchange activations with their neighbours, so they take neighbouring ranks and the fastest links;
the ranks that hold the same stage of different pipelines sum their gradients once per step.
"""

from collections.abc import Callable, Mapping
from typing import Any

from study.worker.contracts import Loss, Place, Runner
from study.worker.mesh import coordinates, equal_share

FACTS = {
    "summary": "Several pipelines (`pipeline`) that share the batch; in training their gradients are summed "
    "after each step's schedule.",
    "tasks": ("train", "infer"),
    "min_devices": 1,
    "max_devices": None,
    "startup_s": 0.1,
    "axes": ("data", "stages"),
    "needs": ("blocks",),
    "shares_batch": ("data",),
    "options": {"stages": 2, "schedule": "gpipe", "micro_batches": 4, "chunks": 2},
    "ranges": {"stages": (1, 1e6), "micro_batches": (1, 1e6), "chunks": (2, 1e3)},
    "choices": {"schedule": ("gpipe", "1f1b", "interleaved")},
    "at_least": {"micro_batches": "stages"},
    "applies": {"chunks": {"schedule": ("interleaved",)}},
}

JOINS_GROUP = True


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:
    """The equal, contiguous share of the batch that this rank's pipeline has.

    Raises:
        Invalid: the batch does not divide by the pipelines.
    """
    return equal_share(batch, coordinates(rank, mesh)["data"], mesh["data"])


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:
    """The last stage of each pipeline counts its share."""
    last = coordinates(rank, mesh)["stages"] == mesh["stages"] - 1
    return len(share(batch, rank, mesh)) if last else 0


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The stages of this rank under the schedule, and the sum over pipelines after it."""
    from study.worker.schedules import PipelineRunner

    return PipelineRunner(model, place, loss=loss, scale=scale)
