"""Where a rank stands in the mesh of devices, and which samples that gives it. Nothing here needs torch."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from study.worker.contracts import Invalid


def coordinates(rank: int, mesh: Mapping[str, int]) -> dict[str, int]:
    """The index of a rank along each axis. Ranks that are neighbours on the last axis have neighbouring
    numbers, so that they share the fastest links."""
    found = {}
    for axis, degree in reversed(list(mesh.items())):
        rank, found[axis] = divmod(rank, degree)
    return {axis: found[axis] for axis in mesh}


def lines(mesh: Mapping[str, int], axis: str) -> Iterator[tuple[int, ...]]:
    """The ranks of each line along an axis: those that differ in nothing else, in their order on it."""
    found: dict[tuple[int, ...], list[int]] = {}
    for rank in range(math.prod(mesh.values())):
        at = coordinates(rank, mesh)
        found.setdefault(tuple(index for name, index in at.items() if name != axis), []).append(rank)
    yield from (tuple(line) for line in found.values())


def equal_share(batch: int, index: int, parts: int) -> range:
    """The contiguous share number `index` of `parts` equal ones.

    Raises:
        Invalid: the batch does not divide.
    """
    if batch % parts:
        raise Invalid(f"A batch of {batch} cannot be shared equally by {parts} ranks.")
    each = batch // parts
    return range(index * each, (index + 1) * each)


def device_mesh(place: Any) -> Any:
    """torch's mesh of the cell: `mesh["data"]` is this rank's line along that axis."""
    from torch.distributed.device_mesh import init_device_mesh

    mesh = place.cell.mesh
    return init_device_mesh(place.device.type, tuple(mesh.values()), mesh_dim_names=tuple(mesh))
