"""The study file as types: the question, what is varied, what is held, how it is measured."""

from typing import Annotated, Literal

from msgspec import Meta

from study.domain.fact import Fact, Level

Task = Literal["train", "infer", "check"]
Scaling = Literal["strong", "weak"]

Slug = Annotated[str, Meta(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]
Positive = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Seconds = Annotated[float, Meta(ge=0, le=86_400)]


class Protocol(Fact, frozen=True, kw_only=True):
    """How every trial is measured; held for all cells of a study.

    The window is fixed work: either `window_steps` steps, or as many as fill `window_s` at the
    pace of the warm-up, agreed by all ranks before the window opens, and at least `min_steps`.

    With `precision`, whole blocks are added after the first `blocks` until the 95 % interval of every
    cell that `precision_cells` (globs, by default all) fits has a half-width below that share of its
    rate, or `most_blocks` or `time_budget_s` is reached, or reaching it is out of reach. `sentinel`
    measures one fixed small cell first and last in each block. `preheat_s` is the longest that a trial
    runs its own load before its window, until the temperature moves by less than
    `preheat_slope_c_per_min`; without a sensor it does not wait. `pin` binds every rank to CPUs of its own.
    `silence_limit_s` is how long a rank may make no step in its window before it counts as hanging.
    """

    blocks: Annotated[int, Meta(ge=1, le=1000)] = 5
    warmup_steps: Positive = 5
    warmup_s: Seconds = 0.4
    window_s: Annotated[float, Meta(gt=0, le=86_400)] = 1.6
    window_steps: Positive | None = None
    min_steps: Annotated[int, Meta(ge=2, le=2**31 - 1)] = 10
    settle_s: Seconds = 0.0
    time_limit_s: Annotated[float, Meta(gt=0, le=86_400)] = 60.0
    margin: Annotated[float, Meta(gt=0, lt=0.5)] = 0.02
    seed: Annotated[int, Meta(ge=0, lt=2**32)] | None = None
    precision: Annotated[float, Meta(gt=0, lt=0.5)] | None = None
    precision_cells: list[str] = []
    most_blocks: Annotated[int, Meta(ge=1, le=1000)] = 30
    time_budget_s: Annotated[float, Meta(gt=0, le=30 * 86_400)] | None = None
    sentinel: bool = True
    preheat_s: Seconds = 0.0
    preheat_slope_c_per_min: Annotated[float, Meta(gt=0, le=100)] = 1.0
    pin: bool = True
    silence_limit_s: Annotated[float, Meta(gt=0, le=86_400)] = 10.0


class Matrix(Fact, frozen=True, kw_only=True):
    """One product of factors. Every field that takes a list is a factor; a lone value is one level.

    `batch` is the global batch under strong scaling and the batch per device under weak scaling.
    `devices = "auto"` stands for every power of two that the machine has, and for all that it has; on the
    cpu for at most four ranks. Each of `strategy_options` varies only those strategies that have it.
    """

    workload: str
    task: Task
    size: str | list[str]
    strategy: str | list[str] = "single"
    devices: Literal["auto"] | Positive | list[Positive] = "auto"
    scaling: Scaling = "strong"
    batch: Positive | list[Positive] = 8
    precision: str | list[str] = "fp32"
    variant: str | list[str] = ""
    threads_per_device: Positive = 1
    options: dict[str, Level | list[Level]] = {}
    strategy_options: dict[str, Level | list[Level]] = {}


class Exclude(Fact, frozen=True, kw_only=True):
    """Cells left out on purpose: those whose factors equal every entry of `where`, with the reason.

    `batch` in `where` is the batch as the matrix writes it: of each device under weak scaling.
    """

    where: dict[str, Level]
    because: Annotated[str, Meta(min_length=1)]


class Study(Fact, frozen=True, kw_only=True):
    """One study file, decoded."""

    name: Slug
    title: Annotated[str, Meta(min_length=1, max_length=200)]
    question: str = ""
    authors: list[str] = []
    disclosure: str = ""
    accelerator: str = "auto"
    protocol: Protocol = Protocol()
    matrix: Annotated[list[Matrix], Meta(min_length=1)]
    exclude: list[Exclude] = []
