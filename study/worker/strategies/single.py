"""The strategy `single`: one device, the plain model, no process group. The base of every comparison."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from study.worker.contracts import Invalid, Loss, Place, Runner

FACTS = {
    "summary": "One device and the plain model: no process group, no wrapper.",
    "tasks": ("train", "infer", "check"),
    "min_devices": 1,
    "max_devices": 1,
    "startup_s": 0.0,
    "needs": ("copies",),
    "offers": ("cache",),
}

JOINS_GROUP = False


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:
    """The whole batch.

    Raises:
        Invalid: there is more than one rank.
    """
    ranks = math.prod(mesh.values())
    if (rank, ranks) != (0, 1):
        raise Invalid(f"The strategy single runs on one device, and {max(ranks, rank + 1)} were ordered.")
    return range(batch)


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:
    """Every sample."""
    return len(share(batch, rank, mesh))


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The model as it is."""
    from study.worker.parameters import materialise
    from study.worker.runners import WholeRunner

    materialise(model, seed=place.seed, device=place.device)
    return WholeRunner(model, model, place, loss=loss, scale=scale)
