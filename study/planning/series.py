"""Which cells form a series over device counts, and which cell each series is compared with."""

from collections import defaultdict

import msgspec

from study.domain.study import Scaling
from study.domain.trial import Cell, Series
from study.planning.cells import Candidate, cell_digest

NO_BASE = "the study has no cell of the strategy `single` on one device with this batch"
NO_OWN_BASE = "the study does not run this strategy on one device with this batch"


def all_series(runnable: list[Candidate]) -> list[Series]:
    """Every series with at least two device counts, in file order.

    The base is the strategy `single` on one device at the same batch level; where the study has
    none, the same strategy on one device stands in for it.
    """
    ids = {cell_digest(candidate.cell): candidate.id for candidate in runnable}
    groups: dict[tuple[Scaling, str], list[Candidate]] = defaultdict(list)
    for candidate in runnable:
        groups[candidate.scaling, cell_digest(_without_devices(candidate))].append(candidate)
    found: dict[str, Series] = {}
    for (scaling, _), group in groups.items():
        first = group[0]
        if first.cell.strategy == "single":
            continue
        by_count = {candidate.cell.devices: candidate.id for candidate in group}
        at_one = _without_devices(first)
        single = msgspec.structs.replace(at_one, strategy="single", mesh={}, strategy_options={})
        own_base = ids.get(cell_digest(at_one))
        base = ids.get(cell_digest(single), own_base)
        if base:
            by_count[1] = base
        if len(by_count) < 2:
            continue
        unknown = {}
        if base is None:
            unknown["base"] = NO_BASE
        if own_base is None:
            unknown["own_base"] = NO_OWN_BASE
        key = _key(first)
        found[key] = Series(
            key=key,
            scaling=scaling,
            strategy=first.cell.strategy,
            members=tuple(by_count[count] for count in sorted(by_count)),
            base=base,
            own_base=own_base,
            unknown=unknown,
        )
    return list(found.values())


def _without_devices(candidate: Candidate) -> Cell:
    """The cell as it would be on one device: what all members of a series share.

    Only the first axis of the mesh grows with the devices. Where another one has more than one device,
    this cell does not exist.
    """
    mesh = dict(candidate.cell.mesh)
    if mesh:
        mesh[next(iter(mesh))] = 1
    return msgspec.structs.replace(candidate.cell, devices=1, batch=candidate.batch_level, mesh=mesh)


def _key(candidate: Candidate) -> str:
    shared = _without_devices(candidate)
    variant = f".{shared.variant}" if shared.variant else ""
    return (
        f"{shared.workload}-{shared.size}.{shared.task}.{shared.strategy}.{shared.precision}"
        f".{candidate.scaling}{shared.batch}{variant}-{cell_digest(shared)}"
    )
