"""Short names for cells and series: workload, size and task, then only what tells them apart."""

from collections import Counter
from collections.abc import Iterable, Sequence

from study.analysis.terms import TASKS
from study.domain.strategy_words import strategy_words
from study.domain.study import Scaling
from study.domain.trial import Cell, Plan


def subject(cell: Cell) -> str:
    """Workload and size: "gpt tiny"."""
    return f"{cell.workload} {cell.size}".strip()


def cell_labels(plan: Plan) -> dict[str, str]:
    """A label for each cell id, unique within the plan."""
    cells = {planned.id: planned.cell for planned in plan.cells}
    named = {key: [*_heading(cell), *_always(cell, cells.values())] for key, cell in cells.items()}
    return _told_apart(named, {key: _varying(cell, list(cells.values())) for key, cell in cells.items()})


def series_labels(plan: Plan) -> dict[str, str]:
    """A label for each series key, unique within the plan: "gpt tiny, training"."""
    cells = {planned.id: planned.cell for planned in plan.cells}
    # The last member has the most devices, so it is of the series' own strategy; the first may be the base.
    shown = {series.key: cells[series.members[-1]] for series in plan.series}
    named = {key: _heading(cell) for key, cell in shown.items()}
    more = {
        series.key: [
            f"{series.scaling} scaling",
            strategy_words(shown[series.key], cells.values()),
            f"batch {held_batch(series.scaling, shown[series.key])}",
            *_varying(shown[series.key], list(shown.values())),
        ]
        for series in plan.series
    }
    return _told_apart(named, more)


def held_batch(scaling: Scaling, cell: Cell) -> int:
    """The batch that a series holds: the global one under strong scaling, else that of a device."""
    return cell.batch if scaling == "strong" else cell.batch // cell.devices


def _heading(cell: Cell) -> list[str]:
    return [subject(cell), TASKS[cell.task].text]


def _always(cell: Cell, cells: Iterable[Cell]) -> list[str]:
    return [strategy_words(cell, cells), f"×{cell.devices}", f"batch {cell.batch}"]


def _varying(cell: Cell, cells: Sequence[Cell]) -> list[str]:
    """The levels of those factors that take several levels among these cells."""
    parts = {
        "precision": cell.precision,
        "variant": f"variant {cell.variant}" if cell.variant else "",
        "accelerator": cell.accelerator,
        "threads_per_device": f"threads {cell.threads_per_device}",
        "nodes": f"nodes {cell.nodes}",
    }
    several = [parts[name] for name in parts if len({getattr(other, name) for other in cells}) > 1]
    for key, value in sorted(cell.options.items()):
        same_kind = {other.options[key] for other in cells if key in other.options}
        if len(same_kind) > 1:
            several.append(f"{key} {value}")
    return [part for part in several if part]


def _told_apart(named: dict[str, list[str]], more: dict[str, list[str]]) -> dict[str, str]:
    """Labels as short as may be: the further parts are added only to labels that are not unique."""
    counts = Counter(", ".join(parts) for parts in named.values())
    labels = {
        key: ", ".join([*parts, *more[key]] if counts[", ".join(parts)] > 1 else parts)
        for key, parts in named.items()
    }
    taken = Counter(labels.values())
    return {key: f"{label}, {key}" if taken[label] > 1 else label for key, label in labels.items()}
