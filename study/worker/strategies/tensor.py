"""The strategy `tensor`: the matrices of each block split over the devices, which work on the same samples.

Megatron's tensor parallelism (`study.worker.splits`). Every block exchanges activations four times per
step, so it wants fast links. What the seams do not name, embeddings and the head for example, every device
holds and computes whole. With `sequence_parallel` norms and sums between the split layers are shared too.
"""

from collections.abc import Callable, Mapping
from typing import Any

from study.worker.contracts import Loss, Place, Runner

FACTS = {
    "summary": "The matrices of each block split over the devices, which work on the same samples.",
    "tasks": ("train", "infer"),
    "min_devices": 1,
    "max_devices": None,
    "startup_s": 0.2,
    "axes": ("tensor",),
    "needs": ("split",),
    "offers": ("cache",),
    "options": {"sequence_parallel": False},
}

JOINS_GROUP = True


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:  # noqa: ARG001 - the shelf's contract
    """The whole batch."""
    return range(batch)


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:  # noqa: ARG001 - the shelf's contract
    """All ranks do the same samples, and the first one counts them."""
    return batch if rank == 0 else 0


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The model with this rank's part of each split matrix."""
    from study.worker.splits import SplitRunner

    return SplitRunner(model, place, loss=loss, scale=scale)
