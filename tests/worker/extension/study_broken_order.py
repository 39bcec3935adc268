"""A strategy that is wrong on purpose: stages hold each other's blocks."""

from collections.abc import Callable
from typing import Any

from study.worker.contracts import Loss, Place, Runner
from study.worker.strategies import layer_split

FACTS = {
    "summary": "Layers on different devices, in the wrong order.",
    "tasks": ("train",),
    "min_devices": 2,
    "max_devices": None,
    "startup_s": 0.1,
    "axes": ("stages",),
    "needs": ("blocks",),
}

JOINS_GROUP = True

share, counted = layer_split.share, layer_split.counted


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The first stage has the last one's blocks, the second the last but one's, and so on."""
    mesh = place.cell.mesh
    blocks = layer_split.stage_blocks(model, mesh["stages"] - 1 - place.rank, mesh)
    return layer_split.StageRunner(model, blocks, place, loss=loss, scale=scale)
