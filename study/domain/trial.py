"""Cells, trials and plans: what is going to be measured, in which order, and the order a rank gets."""

from typing import Literal

from study.domain.fact import Fact, Level
from study.domain.study import Protocol, Scaling, Task


class Cell(Fact, frozen=True, kw_only=True):
    """One combination of levels: everything that defines what a trial measures.

    `batch` is the global batch: samples per step over all ranks. `options` holds every option of
    the workload, defaults filled in, so that a changed default is a changed cell; `strategy_options`
    likewise of the strategy. `mesh` is how the devices are laid out: the degree of each axis of the
    strategy, the axis whose neighbours are nearest last; their product is `devices`.
    """

    workload: str
    size: str
    task: Task
    strategy: str
    accelerator: str
    devices: int
    precision: str
    batch: int
    threads_per_device: int
    nodes: int = 1
    variant: str = ""
    options: dict[str, Level] = {}
    mesh: dict[str, int] = {}
    strategy_options: dict[str, Level] = {}


class PlannedCell(Fact, frozen=True, kw_only=True):
    """A cell that will run: its id, and its predicted seconds per trial.

    `protocol` is its own way of being measured; where it is null, it is measured as the plan says.
    """

    id: str
    cell: Cell
    predicted_s: float | None
    predicted_memory_bytes: int | None
    oversubscribed: bool
    protocol: Protocol | None = None
    unknown: dict[str, str] = {}


class SkippedCell(Fact, frozen=True, kw_only=True):
    """A cell that cannot or should not run, with the sentence that says why."""

    id: str
    cell: Cell
    reason: str


class Series(Fact, frozen=True, kw_only=True):
    """Cells that differ only in the number of devices, and the cell that they are compared with.

    Of the mesh only the first axis grows with the devices. `members` are cell ids in order of devices.
    `base` is the best single-device version (strategy `single`) at the same global batch (strong) or
    batch per device (weak), or null with a reason.
    `own_base` is the same strategy at one device: base over own base is the wrapper's cost.
    """

    key: str
    scaling: Scaling
    strategy: str
    members: tuple[str, ...]
    base: str | None
    own_base: str | None
    unknown: dict[str, str] = {}


class PlannedTrial(Fact, frozen=True, kw_only=True):
    """One cell in one block. `id` is `<order>-<cell id>`; `order` counts from 1.

    A sentinel's trial watches the machine, first and last in its block. It is no sample of its cell, even
    where the study measures the same cell.
    """

    id: str
    order: int
    block: int
    cell_id: str
    seed: int
    role: Literal["cell", "sentinel"] = "cell"


class Plan(Fact, frozen=True, kw_only=True):
    """Everything a run is going to do, decided before it starts.

    `digest` is the SHA-256 of what is measured (cells, protocol, series), not of the order. `trials` grow
    by whole blocks where the protocol asks for a precision. `sentinel` is the fixed cell that watches the
    machine; it belongs to no series and to no comparison.
    """

    digest: str
    seed: int
    accelerator: str
    devices_present: int
    cores_present: int
    protocol: Protocol
    cells: tuple[PlannedCell, ...]
    skipped: tuple[SkippedCell, ...]
    series: tuple[Series, ...]
    trials: tuple[PlannedTrial, ...]
    predicted_s: float | None
    sentinel: PlannedCell | None = None
    unknown: dict[str, str] = {}


def planned_cell(plan: Plan, trial: PlannedTrial) -> PlannedCell:
    """What a trial of the plan measures: the sentinel or a cell, which may have the same id."""
    if trial.role == "sentinel" and plan.sentinel is not None:
        return plan.sentinel
    return next(planned for planned in plan.cells if planned.id == trial.cell_id)


class Order(Fact, frozen=True, kw_only=True):
    """What one rank is told. The worker is handed everything: it inherits no configuration.

    `store` is the path of the rendezvous file, `folder` where this attempt's files go.
    `deadline_s` bounds every wait for another rank. `cpus` are those to bind this rank to; where there are
    none, `not_pinned` says why.
    """

    trial: str
    cell: Cell
    protocol: Protocol
    seed: int
    rank: int
    world_size: int
    store: str
    folder: str
    deadline_s: float
    cpus: tuple[int, ...] = ()
    not_pinned: str = "nothing was said about it"
