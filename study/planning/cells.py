"""The product of a study's factors as cells, each with the reason if it cannot run."""

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from study.domain.errors import BadStudyFile
from study.domain.fact import Fact, Level
from study.domain.shelf import AcceleratorFacts, StrategyFacts, WorkloadFacts
from study.domain.study import Exclude, Matrix, Scaling, Study
from study.domain.trial import Cell
from study.planning.study_file import nearest

LARGEST_OPTION = 1e12

MOST_CPU_DEVICES = 4
"""`devices = "auto"` stops here on the cpu accelerator: more ranks say little about a machine's cards."""


class Shelves(Fact, frozen=True, kw_only=True):
    """The facts of everything that a study file can name."""

    workloads: dict[str, WorkloadFacts]
    strategies: dict[str, StrategyFacts]
    accelerators: dict[str, AcceleratorFacts]


class Candidate(Fact, frozen=True, kw_only=True):
    """One cell of the product: where it came from, and the reason if it cannot run (else empty)."""

    cell: Cell
    id: str
    scaling: Scaling
    batch_level: int
    reason: str


def candidates(study: Study, shelves: Shelves, accelerator: str, devices: int, place: str) -> list[Candidate]:
    """Every cell of the study on a machine with `devices` devices of `accelerator`, in file order.

    Raises:
        BadStudyFile: a matrix names what is on no shelf, or an exclusion fits no cell.
    """
    found: list[Candidate] = []
    for index, matrix in enumerate(study.matrix):
        _check_names(matrix, shelves, f"{place}: matrix[{index}]")
    _check_exclusions(study, shelves, place)
    for matrix in study.matrix:
        for cell, level in _product(matrix, shelves.workloads[matrix.workload], accelerator, devices):
            reason = _impossible(cell, matrix, level, shelves, devices)
            for rule in study.exclude:
                if _fits(rule, cell, level):
                    reason = reason or rule.because
            found.append(
                Candidate(
                    cell=cell, id=cell_id(cell), scaling=matrix.scaling, batch_level=level, reason=reason
                )
            )
    return found


def cell_id(cell: Cell) -> str:
    """A readable id and eight hex digits of everything that defines the cell.

    Two different cells never share an id: the digest covers every field, the readable part only the
    factors that a reader looks for.
    """
    digest = hashlib.sha256(msgspec.json.encode(cell, order="sorted")).hexdigest()[:8]
    precision = f".{cell.precision}"
    variant = f".{_plain(cell.variant)}" if cell.variant else ""
    readable = (
        f"{cell.workload}-{_plain(cell.size)}.{cell.task}.{cell.strategy}.x{cell.devices}"
        f"{precision}.b{cell.batch}{variant}"
    )
    return f"{readable}-{digest}"


def device_levels(asked: str | int | list[int], accelerator: str, present: int, threads: int) -> list[int]:
    """The device counts of one matrix. "auto" is every power of two that is there, and all there are."""
    if isinstance(asked, int):
        return [asked]
    if isinstance(asked, list):
        return asked
    most = present
    if accelerator == "cpu":
        most = max(1, min(present // threads, MOST_CPU_DEVICES))
    powers = [2**k for k in range(most.bit_length()) if 2**k <= most]
    return sorted({*powers, most})


def _product(
    matrix: Matrix, facts: WorkloadFacts, accelerator: str, present: int
) -> Iterator[tuple[Cell, int]]:
    defaults = dict(facts.tasks[matrix.task].options)
    option_levels = {
        key: [float(level) if type(defaults[key]) is float else level for level in _levels(value)]
        for key, value in matrix.options.items()
    }
    counts = device_levels(matrix.devices, accelerator, present, matrix.threads_per_device)
    for size, strategy, precision, variant, batch, count, *chosen in itertools.product(
        _levels(matrix.size),
        _levels(matrix.strategy),
        _levels(matrix.precision),
        _levels(matrix.variant),
        _levels(matrix.batch),
        counts,
        *option_levels.values(),
    ):
        options: dict[str, Level] = {**defaults, **dict(zip(option_levels, chosen, strict=True))}
        cell = Cell(
            workload=matrix.workload,
            size=str(size),
            task=matrix.task,
            strategy=str(strategy),
            accelerator=accelerator,
            devices=int(count),
            precision=str(precision),
            batch=int(batch) * (int(count) if matrix.scaling == "weak" else 1),
            threads_per_device=matrix.threads_per_device,
            variant=str(variant),
            options=dict(sorted(options.items())),
        )
        yield cell, int(batch)


def _levels(value: Level | Sequence[Level]) -> list[Level]:
    return [value] if isinstance(value, str | int | float) else list(value)


def _impossible(cell: Cell, matrix: Matrix, level: int, shelves: Shelves, present: int) -> str:
    """Why a cell cannot run on this machine, or nothing."""
    strategy = shelves.strategies[cell.strategy]
    workload = shelves.workloads[cell.workload]
    most = strategy.max_devices or cell.devices
    reasons = {
        f"The strategy {cell.strategy} does not do the task {cell.task}.": cell.task not in strategy.tasks,
        f"The workload {cell.workload} has no seam for the strategy {cell.strategy}.": (
            cell.strategy not in workload.strategies
        ),
        f"The strategy {cell.strategy} needs at least {strategy.min_devices} devices.": (
            cell.devices < strategy.min_devices
        ),
        f"The strategy {cell.strategy} uses one device.": cell.devices > most == 1,
        f"The strategy {cell.strategy} uses at most {most} devices.": cell.devices > most,
        f"The global batch of {level} cannot be shared equally by {cell.devices} devices.": (
            strategy.copies and matrix.scaling == "strong" and level % cell.devices != 0
        ),
        f"It needs {cell.devices} devices; this machine has {present}.": (
            cell.accelerator != "cpu" and cell.devices > present
        ),
        f"The accelerator {cell.accelerator} has no precision {cell.precision}.": (
            cell.precision not in shelves.accelerators[cell.accelerator].precisions
        ),
        **_out_of_bounds(cell, workload),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _out_of_bounds(cell: Cell, workload: WorkloadFacts) -> dict[str, bool]:
    """Sentences on options that the workload, or this size of it, cannot take."""
    task, size = workload.tasks[cell.task], workload.sizes[cell.size]
    found = {}
    for option, (least, most) in task.ranges.items():
        value = float(cell.options[option])
        found[f"The option {option} is {value:g}; it may lie between {least:g} and {most:g}."] = not (
            least <= value <= most
        )
    for dimension, together in task.fits.items():
        total, room = sum(int(cell.options[option]) for option in together), int(size[dimension])
        found[f"{' and '.join(together)} come to {total}; {dimension} of size {cell.size} is {room}."] = (
            total > room
        )
    return found


def _fits(rule: Exclude, cell: Cell, batch_level: int) -> bool:
    return all(_factor(cell, key, batch_level) == value for key, value in rule.where.items())


def _factor(cell: Cell, key: str, batch_level: int) -> object:
    """A factor as the study file writes it: the batch is the matrix's, not the global one."""
    if key.startswith("options."):
        return cell.options.get(key.removeprefix("options."))
    return batch_level if key == "batch" else getattr(cell, key, None)


def _check_names(matrix: Matrix, shelves: Shelves, where: str) -> None:
    if matrix.workload not in shelves.workloads:
        raise BadStudyFile(
            f"{where}.workload",
            f'there is no workload "{matrix.workload}"',
            nearest(matrix.workload, shelves.workloads, "workloads"),
        )
    workload = shelves.workloads[matrix.workload]
    if matrix.task not in workload.tasks:
        raise BadStudyFile(
            f"{where}.task",
            f'the workload {matrix.workload} has no task "{matrix.task}"',
            nearest(matrix.task, workload.tasks, f"tasks of {matrix.workload}"),
        )
    allowed: dict[str, tuple[Iterable[str], str]] = {
        "size": (workload.sizes, f"sizes of {matrix.workload}"),
        "strategy": (shelves.strategies, "strategies"),
        "precision": (workload.precisions, f"precisions of {matrix.workload}"),
    }
    for key, (names, what) in allowed.items():
        _check_levels(where, key, _levels(getattr(matrix, key)), list(names), what)
    options = workload.tasks[matrix.task].options
    for key, value in matrix.options.items():
        if key not in options:
            raise BadStudyFile(
                f"{where}.options.{key}",
                f"{matrix.workload} has no such option for the task {matrix.task}",
                nearest(key, options, "options"),
            )
        for level in _levels(value):
            _check_option(f"{where}.options.{key}", level, options[key])
    for level in _levels(matrix.variant):
        if level and not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,23}", str(level)):
            raise BadStudyFile(
                f"{where}.variant", f"{level!r} is not a label", "Use a to z, 0 to 9 and -, at most 24."
            )
    lists = {
        key: getattr(matrix, key) for key in ("size", "strategy", "precision", "variant", "batch", "devices")
    }
    lists |= {f"options.{key}": value for key, value in matrix.options.items()}
    for key, value in lists.items():
        levels = _levels(value)
        if not levels:
            raise BadStudyFile(f"{where}.{key}", "an empty list has no levels", "Name at least one level.")
        if len(set(levels)) < len(levels):
            raise BadStudyFile(f"{where}.{key}", "a level stands there twice", "Name every level once.")


def _check_levels(where: str, key: str, levels: list[Level], names: list[str], what: str) -> None:
    for level in levels:
        if level not in names:
            raise BadStudyFile(
                f"{where}.{key}", f'"{level}" is not among the {what}', nearest(str(level), names, what)
            )


def _check_option(where: str, level: Level, default: Level) -> None:
    """An option takes the type of its default; a whole number may stand for a real one."""
    right = type(level) is type(default) or (type(default) is float and type(level) is int)
    if not right:
        raise BadStudyFile(
            where,
            f"expected {type(default).__name__}, got {type(level).__name__}",
            f"Write a value like {default!r}.",
        )
    if isinstance(level, int | float) and not isinstance(level, bool) and not 0 <= level < LARGEST_OPTION:
        raise BadStudyFile(
            where,
            f"{level} does not lie between 0 and {LARGEST_OPTION:g}",
            f"Write a value like {default!r}.",
        )


def _check_exclusions(study: Study, shelves: Shelves, place: str) -> None:
    """An exclusion names factors, and levels that some matrix has.

    Of numbers only the type is checked: which of them occur depends on the machine.
    """
    factors = [name for name in Cell.__struct_fields__ if name != "options"]
    for number, rule in enumerate(study.exclude):
        where = f"{place}: exclude[{number}].where"
        for key, value in rule.where.items():
            if key.startswith("options."):
                options = {
                    name for m in study.matrix for name in shelves.workloads[m.workload].tasks[m.task].options
                }
                option = key.removeprefix("options.")
                if option not in options:
                    raise BadStudyFile(
                        f"{where}.{key}",
                        "no matrix of this study has this option",
                        nearest(option, options, "options"),
                    )
                continue
            if key not in factors:
                raise BadStudyFile(
                    f"{where}.{key}", "there is no such factor", nearest(key, factors, "factors")
                )
            if key in ("devices", "batch", "threads_per_device", "nodes") and type(value) is not int:
                raise BadStudyFile(
                    f"{where}.{key}", f"{value!r} is no whole number", f"Write {key} = 2, for example."
                )
            if key in ("workload", "size", "task", "strategy", "precision", "variant"):
                named = {str(level) for m in study.matrix for level in _levels(getattr(m, key))}
                if str(value) not in named:
                    raise BadStudyFile(
                        f"{where}.{key}",
                        f'no matrix of this study has "{value}"',
                        nearest(str(value), named, "levels"),
                    )


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())
