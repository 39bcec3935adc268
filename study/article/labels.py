"""The shortest labels that tell cells or series of one panel apart."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from study.article.panels import grouped
from study.article.words import SCALINGS, TASKS, alone, count, model, series_model, strategy
from study.domain.figure import Column
from study.domain.summary import Analysis, CellSummary, SeriesSummary
from study.domain.text import Name, Slot, Text, said

T = TypeVar("T")


def cell_labels(cells: Sequence[CellSummary]) -> tuple[Text, ...]:
    """Model and task if they differ between the cells, then what differs within a model and task.

    What all cells share is left to the title. Labels that would be equal give way to the cells' own.
    """
    several_models = len({model(cell) for cell in cells}) > 1
    several_tasks = len({cell.cell.task for cell in cells}) > 1
    groups = grouped(cells, lambda cell: (model(cell), cell.cell.task))
    differ = {
        factor
        for group in groups
        for factor in ("strategy", "devices", "batch")
        if len({_level(cell, factor, cells) for cell in group}) > 1
    }
    labels = []
    for cell in cells:
        how = _how(cell, differ, cells)
        if several_models:
            what = said("{model}, {task}", model=model(cell), task=TASKS[cell.cell.task])
        elif several_tasks:
            what = alone(TASKS[cell.cell.task])
        else:
            labels.append(how or alone(strategy(cell.cell, cells, code=False)))
            continue
        labels.append(said("{what}, {how}", what=what, how=how) if how else what)
    if all(labels.count(label) == 1 for label in labels):
        return tuple(labels)
    names = [cell.label for cell in cells]
    unique = len(set(names)) == len(names)
    return tuple(alone(Name(text=cell.label if unique else cell.cell_id)) for cell in cells)


def _level(cell: CellSummary, factor: str, cells: Sequence[CellSummary]) -> object:
    """What a cell has of a factor; strategies with other options are other strategies."""
    return strategy(cell.cell, cells) if factor == "strategy" else getattr(cell.cell, factor)


def _how(cell: CellSummary, differ: set[str], cells: Sequence[CellSummary]) -> Text | None:
    """The strategy, devices and batch of a cell, as far as they differ."""
    way = strategy(cell.cell, cells, code=False)
    devices, batch = count(cell.cell.devices), count(cell.cell.batch)
    if "devices" in differ and "batch" in differ:
        return said("{strategy} × {devices}, batch {batch}", strategy=way, devices=devices, batch=batch)
    if "devices" in differ:
        return said("{strategy} × {devices}", strategy=way, devices=devices)
    if "strategy" in differ and "batch" in differ:
        return said("{strategy}, batch {batch}", strategy=way, batch=batch)
    if "batch" in differ:
        return said("batch {batch}", batch=batch)
    return alone(way) if "strategy" in differ else None


def series_labels(panel: Sequence[SeriesSummary], analysis: Analysis) -> tuple[Text, ...]:
    """What differs between the series: the strategy within one model, else model and task, else both."""
    wordings: list[Callable[[SeriesSummary], Text]] = [
        lambda one: alone(series_strategy(one, analysis)),
        _model_and_task,
        lambda one: said(
            "{model}, {task}, {strategy}",
            model=series_model(one),
            task=TASKS[one.task],
            strategy=series_strategy(one, analysis),
        ),
        lambda one: said(
            "{model}, {task}, {strategy}, batch {batch}",
            model=series_model(one),
            task=TASKS[one.task],
            strategy=series_strategy(one, analysis),
            batch=count(held_batch(one, analysis)),
        ),
        lambda one: alone(Name(text=one.label)),
    ]
    if len({(one.workload, one.size, one.task) for one in panel}) > 1:
        wordings = wordings[1:]  # beside another model, a strategy alone names nothing
    return tuple(_first_that_tells_apart(panel, wordings) or [alone(Name(text=s.series.key)) for s in panel])


def series_columns() -> tuple[Column, ...]:
    """The columns that name a series in a table."""
    return (
        Column(key="series", title=said("Series"), numeric=False),
        Column(key="strategy", title=said("Strategy"), numeric=False),
        Column(key="scaling", title=said("Scaling"), numeric=False),
        Column(key="batch_held", title=said("Batch held"), style="integer"),
    )


def series_entries(one: SeriesSummary, analysis: Analysis) -> tuple[Slot, ...]:
    """A series in these columns: model and task, or its own label where another series has the same."""
    twins = [
        other
        for other in analysis.series
        if (
            _model_and_task(other),
            series_strategy(other, analysis),
            other.series.scaling,
            held_batch(other, analysis),
        )
        == (
            _model_and_task(one),
            series_strategy(one, analysis),
            one.series.scaling,
            held_batch(one, analysis),
        )
    ]
    return (
        Name(text=one.label) if len(twins) > 1 else _model_and_task(one),
        series_strategy(one, analysis, code=True),
        SCALINGS[one.series.scaling],
        count(held_batch(one, analysis)),
    )


def series_strategy(one: SeriesSummary, analysis: Analysis, *, code: bool = False) -> Name:
    """The strategy of a series, with those options that tell it from others of the run."""
    last = next((s.cell for s in analysis.cells if s.cell_id == one.series.members[-1]), None)
    if last is None:
        return Name(text=one.series.strategy, code=code)
    return strategy(last, analysis.cells, code=code)


def held_batch(one: SeriesSummary, analysis: Analysis) -> int:
    """The batch that a series holds: the global one under strong scaling, else that of each device."""
    cell = next((s.cell for s in analysis.cells if s.cell_id == one.series.members[-1]), None)
    if cell is None:
        return 0
    return cell.batch if one.series.scaling == "strong" else cell.batch // cell.devices


def _model_and_task(one: SeriesSummary) -> Text:
    return said("{model}, {task}", model=series_model(one), task=TASKS[one.task])


def _first_that_tells_apart(
    things: Sequence[T], wordings: Sequence[Callable[[T], Text]]
) -> list[Text] | None:
    for wording in wordings:
        labels = [wording(thing) for thing in things]
        if all(labels.count(label) == 1 for label in labels):
            return labels
    return None
