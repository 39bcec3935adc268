"""What the parts of one rank owe each other: accelerator, strategy, workload, job, group.

Accelerators, strategies and workloads are modules on shelves; these protocols are their contracts in
types. Nothing here imports torch, so that a workload which does not need it runs without it.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from study.domain.record import Numerics
from study.domain.trial import Cell

Mark = Any
"""A point in time on a device: a number of nanoseconds, or an event that a device will reach."""

Note = Any
"""What one step leaves behind for the checks after the window: a loss still on the device, for example."""


class Invalid(Exception):
    """The order cannot be measured, or what was measured is not the work that was asked for."""


class Unmet(Exception):
    """The ranks could not meet, for a reason that lies outside the cell: a port that is taken."""


class Accelerator(Protocol):
    """A module on the shelf of accelerators; its `__init__` says what each function promises."""

    def open_device(self, local_rank: int, threads: int, precision: str) -> Any: ...
    def device_name(self) -> str: ...
    def threads(self) -> int | None: ...
    def mark(self) -> Mark: ...
    def elapsed_ns(self, earlier: Mark, later: Mark) -> int: ...
    def synchronise(self) -> None: ...
    def reset_peak_memory(self) -> str: ...
    def peak_memory_bytes(self) -> int: ...
    def autocast(self, precision: str) -> AbstractContextManager[Any]: ...
    def numerics(self) -> Numerics: ...


class Strategy(Protocol):
    """A module on the shelf of strategies; its `__init__` says what each part promises."""

    JOINS_GROUP: bool

    def share(self, batch: int, rank: int, world_size: int) -> range: ...
    def apply(self, model: Any, *, training: bool, device: Any) -> Any: ...


class Group(Protocol):
    """The ranks of one trial, as one of them sees them."""

    def barrier(self) -> None: ...
    def max(self, value: float) -> float: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a job stands: the cell, this rank, its device, its samples, and how models are wrapped.

    `share` are the indices, within the global batch, of the samples that this rank works on.
    `wrap` puts an unchanged model under the cell's strategy.
    """

    cell: Cell
    seed: int
    rank: int
    world_size: int
    device: Any
    accelerator: Accelerator
    share: range
    wrap: Callable[[Any], Any]


@dataclass(frozen=True, kw_only=True)
class Window:
    """What the timing loop saw: host clock at both ends, the opening mark and one per step, the notes."""

    start_ns: int
    end_ns: int
    cpu_ns: int
    marks: Sequence[Mark]
    notes: Sequence[Note]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the checks after the window read off the notes; one value per step, or empty."""

    loss_first: float | None = None
    loss: tuple[float, ...] = ()
    first_token_ns: tuple[int, ...] = ()
    token_ns: tuple[int, ...] = ()


class Job(Protocol):
    """One rank's work. `work_per_step` counts this rank's units in a step.

    `begin` is called before each window (warm-up has windows too), `step` does one step and must not
    synchronise, `evidence` is called once after the last window with the note of the very first step
    and the measured window. It raises `Invalid` if the work was not what was asked for.
    """

    @property
    def work_unit(self) -> str: ...
    @property
    def work_per_step(self) -> int: ...
    @property
    def parameters(self) -> int | None: ...
    def begin(self) -> None: ...
    def step(self) -> Note: ...
    def evidence(self, first: Note, window: Window) -> Evidence: ...
