"""The strategy `ddp-tensor`: copies of a model whose matrices are split, each with a share of the batch.

The devices of one copy exchange activations in every block, so they have neighbouring ranks and the fastest
links; copies sum their gradients once per step, after the backward pass (`study.worker.splits`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from study.worker.contracts import Loss, Place, Runner
from study.worker.mesh import coordinates, equal_share

FACTS = {
    "summary": "Copies of a model whose matrices are split (`tensor`), which share the batch; in training "
    "their gradients are summed after each step's backward pass.",
    "tasks": ("train", "infer"),
    "min_devices": 1,
    "max_devices": None,
    "startup_s": 0.2,
    "axes": ("data", "tensor"),
    "needs": ("copies", "split"),
    "offers": ("cache",),
    "shares_batch": ("data",),
    "options": {"tensor": 2, "sequence_parallel": False},
    "ranges": {"tensor": (1, 1e6)},
}

JOINS_GROUP = True


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:
    """The equal, contiguous share of the batch that this rank's copy has.

    Raises:
        Invalid: the batch does not divide by the copies.
    """
    return equal_share(batch, coordinates(rank, mesh)["data"], mesh["data"])


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:
    """The first rank of each copy counts its share."""
    return len(share(batch, rank, mesh)) if coordinates(rank, mesh)["tensor"] == 0 else 0


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The model with this rank's part of each split matrix, and the sum over copies."""
    from study.worker.splits import SplitRunner

    return SplitRunner(model, place, loss=loss, scale=scale)
