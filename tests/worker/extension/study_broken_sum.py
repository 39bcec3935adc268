"""A strategy that is wrong on purpose: ranks never add up their gradients."""

from collections.abc import Callable
from typing import Any

from study.worker.contracts import Loss, Place, Runner
from study.worker.strategies import ddp

FACTS = {
    "summary": "Data parallel whose ranks never add up their gradients.",
    "tasks": ("train",),
    "min_devices": 2,
    "max_devices": None,
    "startup_s": 0.1,
    "axes": ("data",),
    "needs": ("copies",),
    "shares_batch": ("data",),
}

JOINS_GROUP = True

share, counted = ddp.share, ddp.counted


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The model of ddp without ddp's wrapper."""
    from study.worker.parameters import materialise
    from study.worker.runners import WholeRunner

    materialise(model, seed=place.seed, device=place.device)
    return WholeRunner(model, model, place, loss=loss, scale=scale)
