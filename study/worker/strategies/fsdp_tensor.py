"""The strategy `fsdp-tensor`: a model whose matrices are split, and each part cut once more.

The devices that split a matrix exchange activations in every block, so they have neighbouring ranks and the
fastest links. Those that hold the same part of it, and other samples, cut that part among them as `fsdp`
does (`study.worker.splits`, then `study.worker.shards`).
"""

from collections.abc import Callable, Mapping
from typing import Any

from study.worker.contracts import Loss, Place, Runner
from study.worker.mesh import coordinates, equal_share

FACTS = {
    "summary": "A model whose matrices are split (`tensor`), with each part cut once more over the devices "
    "that share the batch (`fsdp`).",
    "tasks": ("train", "infer"),
    "min_devices": 1,
    "max_devices": None,
    "startup_s": 0.3,
    "axes": ("shard", "tensor"),
    "needs": ("copies", "split"),
    "offers": ("cache",),
    "shares_batch": ("shard",),
    "options": {"tensor": 2, "sequence_parallel": False, "reshard": True},
    "ranges": {"tensor": (1, 1e6)},
}

JOINS_GROUP = True


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:
    """The equal, contiguous share of the batch that this rank and those beside it have.

    Raises:
        Invalid: the batch does not divide by the groups.
    """
    return equal_share(batch, coordinates(rank, mesh)["shard"], mesh["shard"])


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:
    """The first rank of those that split a matrix counts their share."""
    return len(share(batch, rank, mesh)) if coordinates(rank, mesh)["tensor"] == 0 else 0


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The model split first, then cut."""
    from study.worker.mesh import device_mesh
    from study.worker.shards import ShardedRunner
    from study.worker.splits import split

    mesh, options = device_mesh(place), place.cell.strategy_options
    split(model, mesh["tensor"], sequence_parallel=bool(options["sequence_parallel"]))
    runner = ShardedRunner(model, place, mesh["shard"], loss=loss, scale=scale)
    runner.partners = mesh["tensor"].get_group()
    return runner
