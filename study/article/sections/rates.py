"""All rates: one table with the absolute rate of every cell, on one device and on more."""

from study.article.material import Material, cells_in_order
from study.article.words import (
    TASKS,
    a_second,
    count,
    entry,
    estimate,
    model,
    number,
    shared_unit,
    strategy,
    unit_column,
)
from study.domain.article import SectionOfArticle, TableBlock
from study.domain.figure import Column, Missing, Table, TableCell
from study.domain.summary import CellSummary
from study.domain.text import Name, Num, said

NO_FORMAT = said("A check of the instrument computes with no numbers.")


def section(material: Material) -> SectionOfArticle | None:
    """None where nothing was measured: the section on one device says so.

    Checks of the instrument have a table of their own, and stand here only if there is nothing else.
    """
    cells = cells_in_order(material.analysis)
    if not any(cell.measured for cell in cells):
        return None
    results = tuple(cell for cell in cells if cell.cell.task != "check") or cells
    return SectionOfArticle(key="rates", title=said("All rates"), blocks=(TableBlock(table=_table(results)),))


def _table(cells: tuple[CellSummary, ...]) -> Table:
    unit = shared_unit({cell.unit for cell in cells if cell.rate})
    both = any(cell.means_differ for cell in cells)
    columns = (
        Column(key="model", title=said("Model"), numeric=False),
        Column(key="task", title=said("Task"), numeric=False),
        Column(key="strategy", title=said("Strategy"), numeric=False),
        Column(key="precision", title=said("Precision"), numeric=False),
        Column(key="devices", title=said("Devices"), style="integer"),
        Column(key="batch", title=said("Batch"), style="integer"),
        Column(key="rate_per_s", title=said("Rate"), style="rate", unit=unit),
        *(
            (Column(key="geometric_mean_per_s", title=said("Geometric mean"), style="rate", unit=unit),)
            if both
            else ()
        ),
        unit_column(),
        Column(key="step_mean_ms", title=said("Mean step"), style="milliseconds", unit="ms"),
        Column(key="step_median_ms", title=said("Median step"), style="milliseconds", unit="ms"),
        Column(key="trials_measured", title=said("Trials"), style="integer"),
        Column(key="trials_planned", title=said("Planned"), style="integer"),
    )
    return Table(
        key="t-throughput",
        caption=said(
            "The rate of every cell, on one device and on more, with its pointwise confidence interval."
        ),
        columns=columns,
        rows=tuple(_row(cell, cells, both=both) for cell in cells),
    )


def _row(cell: CellSummary, among: tuple[CellSummary, ...], *, both: bool) -> tuple[TableCell, ...]:
    """`both` asks for the geometric mean of the trials beside the rate, which is total over total."""
    unknown = cell.unknown
    precision: TableCell = Name(text=cell.cell.precision, code=True)
    if cell.cell.workload == "sleep":
        precision = Missing(reason=NO_FORMAT)
    return (
        model(cell),
        TASKS[cell.cell.task],
        strategy(cell.cell, among),
        precision,
        count(cell.cell.devices),
        count(cell.cell.batch),
        entry(estimate(cell.rate, "rate", cell.unit), unknown.get("rate", "")),
        *((_geometric_mean(cell),) if both else ()),
        a_second(cell.unit),
        entry(number(cell.step_mean_s, "milliseconds"), unknown.get("step_mean_s", "")),
        entry(number(cell.step_median_s, "milliseconds"), unknown.get("step_median_s", "")),
        count(cell.measured),
        count(cell.planned),
    )


def _geometric_mean(cell: CellSummary) -> TableCell:
    """The centre of the rate's interval, and so to the same places as the rate."""
    if cell.geometric_mean is None or cell.rate is None:
        return entry(None, cell.unknown.get("geometric_mean", ""))
    rate = estimate(cell.rate, "rate", cell.unit)
    return Num(value=cell.geometric_mean, style="rate", unit=cell.unit, like=rate)
