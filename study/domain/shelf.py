"""Shelves: folders that are registries. Names and facts are read from the files without importing them.

A shelf file states its facts as one literal at its top, `FACTS = {...}`, which is read here with
`ast` and decoded strictly; so planning knows what a workload offers where torch is not installed.
Other distributions add theirs through an entry-point group named like the shelf, for example
`study.workloads`, whose value is the module's dotted name.
"""

import ast
import functools
import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from typing import TypeVar

import msgspec

from study.domain.errors import BadShelfFile
from study.domain.fact import Fact, Level
from study.domain.study import Task

PACKAGE = Path(__file__).resolve().parent.parent

SHELVES: dict[str, str] = {
    "workloads": "study.worker.workloads",
    "strategies": "study.worker.strategies",
    "accelerators": "study.worker.accelerators",
    "launchers": "study.lab.launchers",
    "findings": "study.analysis.findings",
    "figures": "study.article.figures",
}


class TaskFacts(Fact, frozen=True, kw_only=True):
    """What a workload does under one task: its unit of work, its options with their defaults.

    `ranges` gives the least and the largest value of an option. `fits` says which options together may
    not exceed a dimension of the size: `{"context": ("prompt", "generate")}`. `needs` are abilities that a
    strategy must offer for this task: "cache" for decoding with a cache.
    """

    unit: str
    options: dict[str, Level] = {}
    ranges: dict[str, tuple[float, float]] = {}
    fits: dict[str, tuple[str, ...]] = {}
    needs: tuple[str, ...] = ()


class WorkloadFacts(Fact, frozen=True, kw_only=True):
    """What planning has to know of a workload. `sizes` maps a size's name to its dimensions.

    `seams` are the ways in which it may be spread over devices, each with the dimension of its size that
    limits it, or "": `{"copies": "", "blocks": "layers", "split": "heads"}`. "copies": each device may
    hold all of it and a share of the batch; "blocks": it may be cut in front of any of so many blocks;
    "split": its matrices may be cut into so many equal parts, or a divisor of that number.
    """

    summary: str
    tasks: dict[Task, TaskFacts]
    sizes: dict[str, dict[str, Level]]
    precisions: tuple[str, ...]
    seams: dict[str, str]
    needs_torch: bool = True


class StrategyFacts(Fact, frozen=True, kw_only=True):
    """What planning has to know of a strategy: how it spreads devices, what it needs, what it can be told.

    `axes` name the dimensions of its mesh of devices. The degree of every axis but the first is an option
    of the same name; the first takes the devices that remain. Three names carry a rule: a "stages" axis
    (times the option `chunks`) may not exceed the blocks of the model, a "tensor" axis divides what its
    matrices may be split into, and `micro_batches` divides the batch of each group of devices that
    shares the batch: the batch is shared by the axes in `shares_batch`, and must divide by them.

    `needs` are seams that a workload must have, `offers` abilities that a task may need. Of `options`,
    `ranges` bounds numbers, `choices` lists the words of a text, `at_least` names the axis whose degree
    is an option's least value, and `applies` says that an option exists only where another one has one
    of some words: `{"chunks": {"schedule": ("interleaved",)}}`.
    """

    summary: str
    tasks: tuple[Task, ...]
    min_devices: int
    max_devices: int | None
    startup_s: float
    axes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    offers: tuple[str, ...] = ()
    shares_batch: tuple[str, ...] = ()
    options: dict[str, Level] = {}
    ranges: dict[str, tuple[float, float]] = {}
    choices: dict[str, tuple[str, ...]] = {}
    at_least: dict[str, str] = {}
    applies: dict[str, dict[str, tuple[str, ...]]] = {}


class AcceleratorFacts(Fact, frozen=True, kw_only=True):
    """What planning has to know of an accelerator: precisions, backend, seconds to start a trial on it."""

    summary: str
    backend: str
    precisions: tuple[str, ...]
    startup_s: float


class LauncherFacts(Fact, frozen=True, kw_only=True):
    """What a launcher can do."""

    summary: str
    several_nodes: bool


class PageFacts(Fact, frozen=True, kw_only=True):
    """What a finding or figure is about."""

    summary: str
    section: str
    rank: int


KINDS: dict[str, type[Fact]] = {
    "workloads": WorkloadFacts,
    "strategies": StrategyFacts,
    "accelerators": AcceleratorFacts,
    "launchers": LauncherFacts,
    "findings": PageFacts,
    "figures": PageFacts,
}
"""What the files of each shelf state."""

F = TypeVar("F", bound=Fact)


def module_names(shelf: str) -> dict[str, str]:
    """Every extension on a shelf: its name and the dotted name of its module, sorted by name."""
    package = SHELVES[shelf]
    folder = PACKAGE.joinpath(*package.split(".")[1:])
    found = {
        path.stem: f"{package}.{path.stem}" for path in folder.glob("*.py") if not path.stem.startswith("_")
    }
    for name, module in _of_others(f"study.{shelf}", tuple(sys.path)):
        found.setdefault(name.replace("_", "-"), module)
    return {name.replace("_", "-"): module for name, module in sorted(found.items())}


@functools.cache
def _of_others(group: str, _path: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Names and modules of other distributions, read once for every path: every distribution is opened."""
    return tuple((point.name, point.value) for point in importlib.metadata.entry_points(group=group))


def source_of(module: str) -> Path:
    """The file of a module, found without importing it if it is ours."""
    if module.startswith("study."):
        return PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError) as error:
        raise BadShelfFile(module, f"its entry point leads nowhere: {error}") from error
    if spec is None or spec.origin is None:
        raise BadShelfFile(module, "its entry point leads nowhere: there is no such module")
    return Path(spec.origin)


def facts(shelf: str, name: str, kind: type[F]) -> F:
    """The facts that one shelf file states.

    Raises:
        BadShelfFile: the file has no literal `FACTS`, or one that does not fit `kind`.
    """
    module = module_names(shelf)[name]
    try:
        tree = ast.parse(source_of(module).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError) as error:
        raise BadShelfFile(module, f"it cannot be read as Python: {error}") from error
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(t, ast.Name) and t.id == "FACTS" for t in targets):
            if node.value is None:
                break
            try:
                return msgspec.convert(ast.literal_eval(node.value), kind)
            except (ValueError, TypeError, msgspec.ValidationError) as error:
                raise BadShelfFile(module, f"FACTS: {error}") from error
    raise BadShelfFile(module, "it states no FACTS")


def all_facts(shelf: str, kind: type[F]) -> dict[str, F]:
    """The facts of every extension on a shelf, by name."""
    return {name: facts(shelf, name, kind) for name in module_names(shelf)}
