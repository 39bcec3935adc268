"""The product of a study's factors as cells, each with the reason if it cannot run."""

import hashlib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

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
        for cell, level in _product(matrix, shelves, accelerator, devices):
            reason = _impossible(cell, matrix, level, shelves, devices)
            for rule in study.exclude:
                if _fits(rule, cell, level):
                    reason = reason or rule.because
            found.append(
                Candidate(
                    cell=cell,
                    id=cell_id(cell, shelves.strategies[cell.strategy].options),
                    scaling=matrix.scaling,
                    batch_level=level,
                    reason=reason,
                )
            )
    return found


def cell_id(cell: Cell, defaults: Mapping[str, Level] | None = None) -> str:
    """A readable id and eight hex digits of everything that defines the cell.

    Two different cells never share an id: the digest covers every field, the readable part only the
    factors that a reader looks for, and of the strategy's options those that differ from `defaults`.
    """
    precision = f".{cell.precision}"
    variant = f".{_plain(cell.variant)}" if cell.variant else ""
    readable = (
        f"{cell.workload}-{_plain(cell.size)}.{cell.task}.{strategy_label(cell, defaults)}.x{cell.devices}"
        f"{precision}.b{cell.batch}{variant}"
    )
    return f"{readable}-{cell_digest(cell)}"


def cell_digest(cell: Cell) -> str:
    """Eight hex digits of everything that defines the cell."""
    return hashlib.sha256(msgspec.json.encode(cell, order="sorted")).hexdigest()[:8]


def strategy_label(cell: Cell, defaults: Mapping[str, Level] | None = None) -> str:
    """The strategy with those options that are not at their default: `pipeline-1f1b-m4`."""
    shown = [
        _short(name, value)
        for name, value in cell.strategy_options.items()
        if defaults is None or value != defaults.get(name)
    ]
    return "-".join([cell.strategy, *shown])


def _short(name: str, value: Level) -> str:
    """A word as it is, a number behind its option's first letter, a switch as its name, with "no" if off."""
    if isinstance(value, bool):
        return _plain(name) if value else f"no{_plain(name)}"
    return _plain(value) if isinstance(value, str) else f"{name[0]}{_plain(f'{value:g}')}"


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


def mesh_of(facts: StrategyFacts, devices: int, options: Mapping[str, Level]) -> dict[str, int]:
    """The degree of each axis of a strategy at so many devices; empty if they cannot be laid out so."""
    if not facts.axes:
        return {}
    first, *others = facts.axes
    degrees = {axis: int(options[axis]) for axis in others}
    taken = math.prod(degrees.values())
    return {first: devices // taken, **degrees} if taken and devices % taken == 0 else {}


def _product(matrix: Matrix, shelves: Shelves, accelerator: str, present: int) -> Iterator[tuple[Cell, int]]:
    defaults = dict(shelves.workloads[matrix.workload].tasks[matrix.task].options)
    option_levels = _option_levels(matrix.options, defaults)
    counts = device_levels(matrix.devices, accelerator, present, matrix.threads_per_device)
    told = {
        str(name): _strategy_options(shelves.strategies[str(name)], matrix.strategy_options)
        for name in _levels(matrix.strategy)
    }
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
        for strategy_options in told[str(strategy)]:
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
                mesh=mesh_of(shelves.strategies[str(strategy)], int(count), strategy_options),
                strategy_options=strategy_options,
            )
            yield cell, int(batch)


def _option_levels(
    asked: Mapping[str, Level | list[Level]], defaults: Mapping[str, Level]
) -> dict[str, list[Level]]:
    """The levels of those options that are asked for and exist, a whole number made real where it stands
    for one."""
    return {
        key: [float(level) if type(defaults[key]) is float else level for level in _levels(value)]
        for key, value in asked.items()
        if key in defaults
    }


def _strategy_options(
    facts: StrategyFacts, asked: Mapping[str, Level | list[Level]]
) -> list[dict[str, Level]]:
    """Every different combination of a strategy's options; one that does not apply is left out of it."""
    levels = _option_levels(asked, facts.options)
    found: list[dict[str, Level]] = []
    for chosen in itertools.product(*levels.values()):
        options = {**facts.options, **dict(zip(levels, chosen, strict=True))}
        applying = {
            name: value
            for name, value in sorted(options.items())
            if all(options[other] in words for other, words in facts.applies.get(name, {}).items())
        }
        if applying not in found:
            found.append(applying)
    return found


def _levels(value: Level | Sequence[Level]) -> list[Level]:
    return [value] if isinstance(value, str | int | float) else list(value)


def _impossible(cell: Cell, matrix: Matrix, level: int, shelves: Shelves, present: int) -> str:
    """Why a cell cannot run on this machine, or nothing."""
    strategy = shelves.strategies[cell.strategy]
    workload = shelves.workloads[cell.workload]
    most = strategy.max_devices or cell.devices
    asks = [need for need in workload.tasks[cell.task].needs if need not in strategy.offers]
    reasons = {
        f"The strategy {cell.strategy} does not do the task {cell.task}.": cell.task not in strategy.tasks,
        f"The workload {cell.workload} has no seam for the strategy {cell.strategy}.": (
            not set(strategy.needs) <= set(workload.seams)
        ),
        f"The task {cell.task} of {cell.workload} needs a {' and a '.join(asks)}, "
        f"which the strategy {cell.strategy} does not have.": bool(asks),
        f"The strategy {cell.strategy} needs at least {strategy.min_devices} devices.": (
            cell.devices < strategy.min_devices
        ),
        f"The strategy {cell.strategy} uses one device.": cell.devices > most == 1,
        f"The strategy {cell.strategy} uses at most {most} devices.": cell.devices > most,
        **_bad_layout(cell, strategy, workload, level if matrix.scaling == "strong" else cell.batch),
        f"It needs {cell.devices} devices; this machine has {present}.": (
            cell.accelerator != "cpu" and cell.devices > present
        ),
        f"The accelerator {cell.accelerator} has no precision {cell.precision}.": (
            cell.precision not in shelves.accelerators[cell.accelerator].precisions
        ),
        **_out_of_bounds(cell, workload, strategy),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _bad_layout(cell: Cell, strategy: StrategyFacts, workload: WorkloadFacts, batch: int) -> dict[str, bool]:
    """Sentences on a mesh that does not fit the devices, the batch or the model."""
    if strategy.axes and not cell.mesh:
        shown = " and ".join(f"{axis} {cell.strategy_options[axis]}" for axis in strategy.axes[1:])
        return {
            f"The strategy {cell.strategy} cannot be laid out over {cell.devices} devices with {shown}.": True
        }
    found = {}
    groups = math.prod(cell.mesh[axis] for axis in strategy.shares_batch)
    unequal = (
        f"The global batch of {batch} cannot be shared equally by {groups} devices."
        if groups == cell.devices
        else f"The global batch of {batch} cannot be shared equally by {groups} groups of devices."
    )
    found[unequal] = batch % groups != 0
    micro = int(cell.strategy_options.get("micro_batches", 1)) or 1
    found[f"A batch of {batch // groups} cannot be cut into {micro} equal micro-batches."] = (
        batch // groups % micro != 0
    )
    size = workload.sizes[cell.size]
    stages = cell.mesh.get("stages", 1) * int(cell.strategy_options.get("chunks", 1))
    blocks = size.get(workload.seams.get("blocks", ""), stages)
    found[f"{stages} stages are more than the {blocks} blocks of size {cell.size}."] = stages > int(blocks)
    tensor = cell.mesh.get("tensor", 1)
    parts = size.get(workload.seams.get("split", ""), tensor)
    found[f"Size {cell.size} can be split into {parts} equal parts or a divisor of that, not {tensor}."] = (
        int(parts) % tensor != 0
    )
    return found


def _out_of_bounds(cell: Cell, workload: WorkloadFacts, strategy: StrategyFacts) -> dict[str, bool]:
    """Sentences on options that the workload, this size of it, or the strategy cannot take."""
    task, size = workload.tasks[cell.task], workload.sizes[cell.size]
    found = {}
    bounded = [(cell.options, name, bounds) for name, bounds in task.ranges.items()]
    bounded += [(cell.strategy_options, name, bounds) for name, bounds in strategy.ranges.items()]
    for options, option, (least, most) in bounded:
        if option in options:
            value = float(options[option])
            found[f"The option {option} is {value:g}; it may lie between {least:g} and {most:g}."] = not (
                least <= value <= most
            )
    for option, axis in strategy.at_least.items():
        if option in cell.strategy_options and axis in cell.mesh:
            count, degree = cell.strategy_options[option], cell.mesh[axis]
            found[f"The option {option} is {count}; with {degree} {axis} it must be {degree} at least."] = (
                float(count) < degree
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
    if key.startswith("strategy_options."):
        return cell.strategy_options.get(key.removeprefix("strategy_options."))
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
    _check_strategy_options(matrix, shelves, where)
    for level in _levels(matrix.variant):
        if level and not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,23}", str(level)):
            raise BadStudyFile(
                f"{where}.variant", f"{level!r} is not a label", "Use a to z, 0 to 9 and -, at most 24."
            )
    lists = {
        key: getattr(matrix, key) for key in ("size", "strategy", "precision", "variant", "batch", "devices")
    }
    lists |= {f"options.{key}": value for key, value in matrix.options.items()}
    lists |= {f"strategy_options.{key}": value for key, value in matrix.strategy_options.items()}
    for key, value in lists.items():
        levels = _levels(value)
        if not levels:
            raise BadStudyFile(f"{where}.{key}", "an empty list has no levels", "Name at least one level.")
        if len(set(levels)) < len(levels):
            raise BadStudyFile(f"{where}.{key}", "a level stands there twice", "Name every level once.")


def _check_strategy_options(matrix: Matrix, shelves: Shelves, where: str) -> None:
    """Each option belongs to one of the matrix's strategies at least, and suits all to which it belongs."""
    listed = {str(name): shelves.strategies[str(name)] for name in _levels(matrix.strategy)}
    known = {option for facts in listed.values() for option in facts.options}
    for key, value in matrix.strategy_options.items():
        at = f"{where}.strategy_options.{key}"
        if key not in known:
            raise BadStudyFile(
                at,
                f"no strategy of this matrix ({', '.join(listed)}) has such an option",
                nearest(key, known, "options"),
            )
        for facts in listed.values():
            for level in _levels(value) if key in facts.options else []:
                _check_option(at, level, facts.options[key])
                if key in facts.choices and level not in facts.choices[key]:
                    raise BadStudyFile(
                        at, f'"{level}" is no {key}', nearest(str(level), facts.choices[key], "words")
                    )


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
    factors = [name for name in Cell.__struct_fields__ if name not in ("options", "mesh", "strategy_options")]
    for number, rule in enumerate(study.exclude):
        where = f"{place}: exclude[{number}].where"
        for key, value in rule.where.items():
            if key.startswith(("options.", "strategy_options.")):
                options = _options_of(study, shelves, of_strategy=key.startswith("strategy_options."))
                option = key.partition(".")[2]
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


def _options_of(study: Study, shelves: Shelves, *, of_strategy: bool) -> set[str]:
    """The options of all workloads, or of all strategies, that a study names."""
    if not of_strategy:
        return {name for m in study.matrix for name in shelves.workloads[m.workload].tasks[m.task].options}
    strategies = {str(level) for m in study.matrix for level in _levels(m.strategy)}
    return {option for name in strategies for option in shelves.strategies[name].options}


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "", text.lower())
