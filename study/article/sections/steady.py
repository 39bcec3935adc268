"""How steady: what was shown of the step times, cell by cell, and the step times as they came."""

from collections import Counter

from study.article.material import Material, cells_in_order, trials_of
from study.article.words import TASKS, count, model, strategy
from study.domain.article import Paragraph, SectionOfArticle, TableBlock
from study.domain.figure import Column, Table, TableCell
from study.domain.steadiness import CellSteadiness
from study.domain.summary import CellSummary
from study.domain.text import Term, Text, said

VERDICTS: dict[CellSteadiness, Term] = {
    "steady": Term(text="steady"),
    "not_shown": Term(text="not shown"),
    "drifting": Term(text="drifting"),
    "no_steady_state": Term(text="no steady state"),
    "inconsistent": Term(text="inconsistent"),
}

HOW = Paragraph(
    sentences=(
        said(
            "The series of a trial is its warm-up and its window; change points on the logarithms of the step"
            " times give its levels, and the drift within the last level is carried on over the whole series."
        ),
        said(
            "A trial whose interval lies within the tolerance is steady; one whose interval lies outside is"
            " drifting; otherwise neither is shown, as in short or noisy series."
        ),
        said("No step was removed: a stall inside the window counts, and so does a slow start."),
    )
)


def section(material: Material) -> SectionOfArticle | Text:
    """Left out when no trial has step times."""
    figures = material.figure_blocks("steady")
    if not figures:
        return said("There is no section on steadiness: no trial was measured.")
    cells = tuple(cell for cell in cells_in_order(material.analysis) if cell.steadiness is not None)
    return SectionOfArticle(
        key="steady",
        title=said("How steady"),
        blocks=(
            *material.findings_as_prose("steady"),
            HOW,
            *((TableBlock(table=_table(material, cells)),) if cells else ()),
            *figures,
        ),
    )


def _table(material: Material, cells: tuple[CellSummary, ...]) -> Table:
    return Table(
        key="t-steady",
        caption=said("What the step times of each cell's trials show, by number of trials."),
        columns=(
            Column(key="model", title=said("Model"), numeric=False),
            Column(key="task", title=said("Task"), numeric=False),
            Column(key="strategy", title=said("Strategy"), numeric=False),
            Column(key="devices", title=said("Devices"), style="integer"),
            Column(key="verdict", title=said("Together"), numeric=False),
            Column(key="steady", title=said("Steady"), style="integer"),
            Column(key="not_shown", title=said("Not shown"), style="integer"),
            Column(key="drifting", title=said("Drifting"), style="integer"),
            Column(key="no_steady_state", title=said("No steady state"), style="integer"),
        ),
        rows=tuple(_row(material, cell) for cell in cells),
    )


def _row(material: Material, cell: CellSummary) -> tuple[TableCell, ...]:
    counts = Counter(
        trial.steadiness.verdict
        for trial in trials_of(material.analysis, cell.cell_id)
        if trial.steadiness is not None
    )
    return (
        model(cell),
        TASKS[cell.cell.task],
        strategy(cell.cell, material.analysis.cells),
        count(cell.cell.devices),
        VERDICTS[cell.steadiness or "not_shown"],
        *(count(counts[verdict]) for verdict in ("steady", "not_shown", "drifting", "no_steady_state")),
    )
