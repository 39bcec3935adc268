"""What the parts of one rank owe each other: accelerator, strategy, workload, job, group.

Accelerators, strategies and workloads are modules on shelves; these protocols are their contracts in
types. Nothing here imports torch, so that a workload which does not need it runs without it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
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


Loss = Callable[[Any, Any], Any]
"""Of a model's outputs and the targets: the mean over the samples, a tensor without dimensions."""


class Runner(Protocol):
    """A model under its strategy, as one rank sees it; what `Strategy.apply` returns.

    `named_parameters` are this rank's part: names are those of the unchanged model, a shard is a DTensor,
    and a weight that two modules share has the name that comes first in the model's `seams.tied`.

    `train` does forward and backward on this rank's samples and leaves, in `.grad`, the gradient of the
    mean loss over the global batch. It returns the loss of the samples that this rank shares with
    others, detached, or None where another rank has it. `infer` answers without gradients, or gives None
    where another rank has the answer; `context` is what the model's forward takes besides (a cache).
    `hand_back` brings an answer to the rank that makes the next step's input of it: it returns the answer
    where it is known and None elsewhere; `like` has its shape and type.

    `unsynchronised` is a context in which ranks do not exchange gradients, so that its cost can be seen;
    None where the strategy cannot do without. `partners` is the group of ranks that hold other parameters
    and must skip a step together when fp16 overflows; None where gradients tell every rank the same.
    """

    partners: Any

    def named_parameters(self) -> Iterable[tuple[str, Any]]: ...
    def train(self, inputs: Any, targets: Any) -> Any: ...
    def infer(self, inputs: Any, *context: Any) -> Any: ...
    def hand_back(self, answer: Any, like: Any) -> Any: ...
    def unsynchronised(self) -> AbstractContextManager[Any] | None: ...


class Strategy(Protocol):
    """A module on the shelf of strategies; its `__init__` says what each part promises."""

    JOINS_GROUP: bool

    def share(self, batch: int, rank: int, mesh: Mapping[str, int]) -> range: ...
    def counted(self, batch: int, rank: int, mesh: Mapping[str, int]) -> int: ...
    def apply(
        self, model: Any, place: "Place", *, loss: Loss | None, scale: Callable[[Any], Any]
    ) -> Runner: ...


class Group(Protocol):
    """The ranks of one trial, as one of them sees them."""

    def barrier(self) -> None: ...
    def max(self, value: float) -> float: ...
    def close(self) -> None: ...
    def abort(self) -> None: ...


def unscaled(loss: Any) -> Any:
    """A loss as it is: only fp16 scales it."""
    return loss


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a job stands: the cell, this rank, its device, its samples, and the strategy.

    `share` are the indices, within the global batch, of the samples whose data this rank needs.
    `counted` is how many samples' work it reports: over all ranks each sample counts once.
    `optimiser`, of parameter groups, stands in for the workload's own where a test asks for it.
    `runners` are those made so far.
    """

    cell: Cell
    seed: int
    rank: int
    world_size: int
    device: Any
    accelerator: Accelerator
    share: range
    counted: int
    strategy: Strategy
    optimiser: Callable[[Any], Any] | None = None
    runners: list[Runner] = field(default_factory=list)

    def run(self, model: Any, *, loss: Loss | None = None, scale: Callable[[Any], Any] = unscaled) -> Runner:
        """An unchanged model, made on the meta device, under the cell's strategy.

        `loss` is given for training; `scale` multiplies it before the backward pass.
        """
        self.runners.append(self.strategy.apply(model, self, loss=loss, scale=scale))
        return self.runners[-1]


@dataclass(frozen=True, kw_only=True)
class Window:
    """What the timing loop saw: host clock at both ends, the opening mark and one per step, the notes."""

    start_ns: int
    end_ns: int
    cpu_ns: int
    marks: Sequence[Mark]
    notes: Sequence[Note]


@dataclass(frozen=True, kw_only=True)
class Flops:
    """Floating-point operations of the model in one step, of the samples that this rank counts.

    Null with the reason where nobody counted them. Recomputed ones are not counted.
    """

    per_step: int | None = None
    reason: str = "the workload does not count its operations"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What the checks after the window read off the notes; one value per step, or empty.

    `no_loss` is the reason where there is no first loss. `flops` were counted before the first step.
    """

    loss_first: float | None = None
    loss: tuple[float, ...] = ()
    first_token_ns: tuple[int, ...] = ()
    token_ns: tuple[int, ...] = ()
    no_loss: str = "nothing is trained"
    flops: Flops = Flops()


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
