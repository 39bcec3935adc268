"""One device: the absolute rates, without which no ratio means anything."""

from study.article.material import Material, cells_in_order
from study.article.words import TASKS, count, entry, estimate, model, number, shared_unit
from study.domain.article import SectionOfArticle, TableBlock
from study.domain.figure import Column, Table, TableCell
from study.domain.summary import CellSummary
from study.domain.text import Name, Text, said


def section(material: Material) -> SectionOfArticle | Text:
    """Findings on one device, their figures, and the rate of every cell; left out if there is no cell."""
    cells = cells_in_order(material.analysis)
    if not any(cell.measured for cell in cells):
        return said("There is no section on one device: no cell was measured.")
    return SectionOfArticle(
        key="one",
        title=said("One device"),
        blocks=(
            *material.findings_as_prose("one"),
            *material.figure_blocks("one"),
            TableBlock(table=_table(cells)),
        ),
    )


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
        Column(key="step_mean_ms", title=said("Mean step"), style="milliseconds", unit="ms"),
        Column(key="step_median_ms", title=said("Median step"), style="milliseconds", unit="ms"),
        Column(key="trials_measured", title=said("Trials"), style="integer"),
        Column(key="trials_planned", title=said("Planned"), style="integer"),
    )
    return Table(
        key="t-throughput",
        caption=said("The rate of every cell, on one device and on more, with its confidence interval."),
        columns=columns,
        rows=tuple(_row(cell, both=both) for cell in cells),
    )


def _row(cell: CellSummary, *, both: bool) -> tuple[TableCell, ...]:
    """`both` asks for the geometric mean of the trials beside the rate, which is total over total."""
    unknown = cell.unknown
    mean = entry(number(cell.geometric_mean, "rate", cell.unit), unknown.get("geometric_mean", ""))
    return (
        model(cell),
        TASKS[cell.cell.task],
        Name(text=cell.cell.strategy, code=True),
        Name(text=cell.cell.precision, code=True),
        count(cell.cell.devices),
        count(cell.cell.batch),
        entry(estimate(cell.rate, "rate", cell.unit), unknown.get("rate", "")),
        *((mean,) if both else ()),
        entry(number(cell.step_mean_s, "milliseconds"), unknown.get("step_mean_s", "")),
        entry(number(cell.step_median_s, "milliseconds"), unknown.get("step_median_s", "")),
        count(cell.measured),
        count(cell.planned),
    )
