"""Absolute rates as bars from zero: one panel a model and task, every trial as a point, intervals as whiskers."""

from collections.abc import Sequence

from study.article.material import measured_cells, relevant_finding, trials_of
from study.article.panels import grouped
from study.article.words import TASKS, count, entry, estimate, model, shared_unit
from study.domain.figure import Axis, Bar, Column, Figure, Mark, Panel, Points, Table, Token, Whisker
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, CellSummary
from study.domain.text import Est, Listing, Name, Num, Slot, Text, said

FACTS = {"summary": "absolute rates, every trial shown", "section": "one", "rank": 10}

MISSING = said("There is no figure of rates: no cell was measured.")

ROW_HEIGHT = 38
"""Pixels for one bar and its label."""

BAR: Token = "n2"
ESTIMATE: Token = "s1"
"""Bars recede and the estimate with its trials stands out: the interval is what may be compared."""


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:
    """The rate of every cell on one device, or of all cells where none has one; None if nothing was measured."""
    cells = measured_cells(analysis)
    cells = tuple(cell for cell in cells if cell.cell.devices == 1) or cells
    if not cells:
        return None
    finding = relevant_finding(analysis, "fig-throughput")
    panels = grouped(cells, lambda cell: (cell.cell.workload, cell.cell.size, cell.cell.task, cell.unit))
    return Figure(
        key="fig-throughput",
        title=finding.short if finding else _neutral_title(cells),
        subtitle=said("Work done in a second of wall time, all processes together. Larger is more work."),
        caption=said(
            "Bars start at zero and end at the cell's rate. Small rings are trials, whiskers are confidence"
            " intervals. Panels have axes of their own."
        ),
        alt=_alt(cells),
        panels=tuple(_panel(panel, analysis) for panel in panels),
        table=_table(cells, analysis),
        height=110 + ROW_HEIGHT * max(len(panel) for panel in panels),
        narrow_height=110 * len(panels) + ROW_HEIGHT * len(cells),
    )


def _panel(cells: Sequence[CellSummary], analysis: Analysis) -> Panel:
    first = cells[0]
    marks: list[Mark] = []
    for at, cell in enumerate(cells):
        if cell.rate is None:
            continue
        rates = tuple(trial.rate for trial in trials_of(analysis, cell.cell_id) if trial.rate is not None)
        label = said("{rate}", rate=Est(estimate=cell.rate, style="rate", unit=cell.unit, show="value"))
        marks.append(Bar(at=float(at), value=cell.rate.value, token=BAR))
        if rates:
            marks.append(
                Points(x=rates, y=(float(at),) * len(rates), token=ESTIMATE, hollow=True, small=True)
            )
        marks.append(
            Whisker(at=float(at), estimate=cell.rate, token=ESTIMATE, along="x", value_label=label)
        )
    return Panel(
        title=said("{model}, {task}", model=model(first), task=TASKS[first.cell.task]),
        x=Axis(title=said("Rate"), style="rate", unit=first.unit, start=0.0),
        y=Axis(title=said("Strategy and batch"), categories=_categories(cells)),
        marks=tuple(marks),
    )


def _categories(cells: Sequence[CellSummary]) -> tuple[Slot, ...]:
    """What tells the cells of a panel apart: strategy and batch, and the label where that is not enough."""
    short: list[Text] = [
        said(
            "{strategy} × {devices}, batch {batch}",
            strategy=Name(text=cell.cell.strategy),
            devices=count(cell.cell.devices),
            batch=count(cell.cell.batch),
        )
        for cell in cells
    ]
    if all(short.count(label) == 1 for label in short):
        return tuple(short)
    return tuple(Name(text=cell.label) for cell in cells)


def _neutral_title(cells: Sequence[CellSummary]) -> Text:
    if all(cell.cell.devices == 1 for cell in cells):
        return said("Rates on one device")
    return said("Rates of the cells that were measured")


def _alt(cells: Sequence[CellSummary]) -> Text:
    rates: tuple[Slot, ...] = tuple(
        said(
            "{label} {rate}",
            label=Name(text=cell.label[:34]),
            rate=Num(value=cell.rate.value, style="rate", unit=cell.unit),
        )
        for cell in cells
        if cell.rate
    )[:2]
    return said(
        "Bar chart of rates with a point for every trial, starting with {rates}. All numbers are in the table"
        " below.",
        rates=Listing(items=rates),
    )


def _table(cells: Sequence[CellSummary], analysis: Analysis) -> Table:
    unit = shared_unit({cell.unit for cell in cells})
    rows = []
    for cell in cells:
        rates = [trial.rate for trial in trials_of(analysis, cell.cell_id) if trial.rate is not None]
        rows.append(
            (
                Name(text=cell.label),
                entry(estimate(cell.rate, "rate", cell.unit), cell.unknown.get("rate", "")),
                entry(_extreme(min(rates, default=None), cell.unit), ""),
                entry(_extreme(max(rates, default=None), cell.unit), ""),
                count(cell.measured),
            )
        )
    return Table(
        key="t-fig-throughput",
        caption=said("Rates with their confidence intervals, and the lowest and highest trial of each cell."),
        columns=(
            Column(key="cell", title=said("Cell"), numeric=False),
            Column(key="rate_per_s", title=said("Rate"), style="rate", unit=unit),
            Column(key="lowest_trial_per_s", title=said("Lowest trial"), style="rate", unit=unit),
            Column(key="highest_trial_per_s", title=said("Highest trial"), style="rate", unit=unit),
            Column(key="trials", title=said("Trials"), style="integer"),
        ),
        rows=tuple(rows),
    )


def _extreme(value: float | None, unit: str) -> Num | None:
    return None if value is None else Num(value=value, style="rate", unit=unit)
