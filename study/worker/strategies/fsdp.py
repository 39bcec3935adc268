"""The strategy `fsdp`: data parallel, with parameters, gradients and optimiser state cut over the devices.

torch's FSDP2 (`study.worker.shards`). What grows with devices is the model that fits; the price is that
parameters travel twice per step, once if `reshard` is off, and gradients once. With `replicas` above one
the model is cut over each group of devices and the groups hold copies (hybrid sharding): parameters then
travel within a group only. A group's devices have neighbouring ranks, and so the fastest links, since it
exchanges more than copies do.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from study.worker.contracts import Loss, Place, Runner
from study.worker.mesh import equal_share

FACTS = {
    "summary": "Data parallel with parameters, gradients and optimiser state cut over the devices (FSDP2), "
    "or over each of several groups of devices.",
    "tasks": ("train", "infer"),
    "min_devices": 1,
    "max_devices": None,
    "startup_s": 0.2,
    "axes": ("shard", "replicas"),
    "needs": ("copies",),
    "offers": ("cache",),
    "shares_batch": ("shard", "replicas"),
    "options": {"replicas": 1, "reshard": True},
    "ranges": {"replicas": (1, 1e6)},
}

JOINS_GROUP = True


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:
    """An equal, contiguous share of the batch.

    Raises:
        Invalid: the batch does not divide by the ranks.
    """
    return equal_share(batch, rank, math.prod(mesh.values()))


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:
    """The samples of its share."""
    return len(share(batch, rank, mesh))


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The model cut over this rank's group."""
    from torch.distributed.device_mesh import init_device_mesh

    from study.worker.shards import ShardedRunner

    degrees = place.cell.mesh
    # Against the order of the axes: within a group ranks are neighbours.
    mesh = init_device_mesh(
        place.device.type, (degrees["replicas"], degrees["shard"]), mesh_dim_names=("replicas", "shard")
    )
    return ShardedRunner(
        model, place, mesh if degrees["replicas"] > 1 else mesh["shard"], loss=loss, scale=scale
    )
