"""Absolute rates as bars from zero, one panel a unit of work, with every trial and the intervals."""

from collections.abc import Sequence

from study.article.box import cells_of
from study.article.captions import caption
from study.article.labels import cell_labels
from study.article.material import measured_cells, relevant_finding, trials_of
from study.article.panels import grouped
from study.article.words import (
    TASKS,
    UNTITLED,
    a_second,
    alone,
    count,
    entry,
    estimate,
    model,
    shared_unit,
    unit_column,
)
from study.domain.figure import Axis, Bar, Column, Figure, Mark, Panel, Points, Table, Token, Whisker
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, CellSummary
from study.domain.text import Est, Listing, Name, Num, Slot, Term, Text, said

FACTS = {"summary": "absolute rates, every trial shown", "section": "one", "rank": 10}

MISSING = said("There is no figure of rates: no cell was measured.")

ROW_HEIGHT = 38
"""Pixels for one bar and its label."""

HEADROOM = 1.35
"""The axis goes on beyond the longest bar, so that its value can be written there."""

BAR: Token = "n2"
ESTIMATE: Token = "s1"
"""Bars recede and the estimate with its trials stands out: the interval is what may be compared."""


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:  # noqa: ARG001 - contract
    """The rate of every cell on one device, or of all cells where there is none; None without a rate."""
    cells = measured_cells(analysis)
    cells = tuple(cell for cell in cells if cell.cell.task != "check") or cells
    cells = tuple(cell for cell in cells if cell.cell.devices == 1) or cells
    if not cells:
        return None
    finding = relevant_finding(analysis, "fig-throughput", absolute=True)
    groups = grouped(cells, lambda cell: cell.unit)
    panels = tuple(_panel(sorted(group, key=_fastest_first), analysis) for group in groups)
    return Figure(
        key="fig-throughput",
        title=finding.short if finding else _neutral_title(cells),
        subtitle=said("Work done in a second of wall time, all processes together. Larger is more work."),
        caption=caption(panels, *_own_caption(len(panels))),
        alt=_alt(_titled_first(cells, cells_of(finding, analysis) if finding else frozenset())),
        panels=panels,
        table=_table(cells, analysis),
        height=110 + ROW_HEIGHT * max(len(group) for group in groups),
        narrow_height=110 * len(groups) + ROW_HEIGHT * len(cells),
    )


def _own_caption(panels: int) -> tuple[Text, ...]:
    bars = said("Bars start at zero and end at the cell's rate.")
    return (bars, said("Different units have panels of their own.")) if panels > 1 else (bars,)


def _titled_first(cells: Sequence[CellSummary], titled: frozenset[str]) -> list[CellSummary]:
    """The cells of which the title speaks, then the others in their order."""
    return sorted(cells, key=lambda cell: cell.cell_id not in titled)


def _panel(cells: Sequence[CellSummary], analysis: Analysis) -> Panel:
    marks: list[Mark] = []
    for at, cell in enumerate(cells):
        if cell.rate is None:
            continue
        rates = tuple(trial.rate for trial in trials_of(analysis, cell.cell_id) if trial.rate is not None)
        label = alone(Est(estimate=cell.rate, style="plain", show="value"))
        marks.append(Bar(at=float(at), value=cell.rate.value, token=BAR))
        if rates:
            marks.append(
                Points(x=rates, y=(float(at),) * len(rates), token=ESTIMATE, hollow=True, small=True)
            )
        marks.append(Whisker(at=float(at), estimate=cell.rate, token=ESTIMATE, along="x", value_label=label))
    return Panel(
        title=_title(cells),
        x=Axis(title=said("Rate"), style="rate", unit=cells[0].unit, start=0.0, end=HEADROOM * _most(marks)),
        y=Axis(title=UNTITLED, categories=cell_labels(cells)),
        marks=tuple(marks),
    )


def _fastest_first(cell: CellSummary) -> tuple[float, str]:
    return (-cell.rate.value if cell.rate else 0.0, cell.cell_id)


def _most(marks: Sequence[Mark]) -> float:
    """The largest value that the panel has to hold."""
    rates = [mark.estimate for mark in marks if isinstance(mark, Whisker)]
    points = [x for mark in marks if isinstance(mark, Points) for x in mark.x]
    return max([*points, *(rate.high or rate.value for rate in rates)])


def _title(cells: Sequence[CellSummary]) -> Text:
    """The model and task of a panel, as far as its cells share them, or else their unit."""
    first = cells[0]
    if len({model(cell) for cell in cells}) > 1:
        return said("Rates counted in {unit}", unit=Term(text=first.unit))
    if len({cell.cell.task for cell in cells}) > 1:
        return alone(model(first))
    return said("{model}, {task}", model=model(first), task=TASKS[first.cell.task])


def _neutral_title(cells: Sequence[CellSummary]) -> Text:
    if all(cell.cell.devices == 1 for cell in cells):
        return said("Rates on one device")
    return said("Rates of the cells that were measured")


def _alt(cells: Sequence[CellSummary]) -> Text:
    rates: tuple[Slot, ...] = tuple(
        said(
            "{model} {task} with {strategy} {rate}",
            model=Name(text=model(cell).text[:24]),
            task=TASKS[cell.cell.task],
            strategy=Name(text=cell.cell.strategy[:16]),
            rate=Est(estimate=cell.rate, style="rate", unit=cell.unit, show="value"),
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
                a_second(cell.unit),
                count(cell.measured),
            )
        )
    return Table(
        key="t-fig-throughput",
        caption=said(
            "Rates with their pointwise confidence intervals, and the lowest and highest trial of each cell."
        ),
        columns=(
            Column(key="cell", title=said("Cell"), numeric=False),
            Column(key="rate_per_s", title=said("Rate"), style="rate", unit=unit),
            Column(key="lowest_trial_per_s", title=said("Lowest trial"), style="rate", unit=unit),
            Column(key="highest_trial_per_s", title=said("Highest trial"), style="rate", unit=unit),
            unit_column(),
            Column(key="trials", title=said("Trials"), style="integer"),
        ),
        rows=tuple(rows),
    )


def _extreme(value: float | None, unit: str) -> Num | None:
    return None if value is None else Num(value=value, style="rate", unit=unit)
