"""What every section and figure may speak of: the run, its records, the analysis, the figures drawn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from study.article.box import cells_of, importance
from study.article.words import distinct
from study.domain.article import FigureBlock, Paragraph
from study.domain.figure import Figure
from study.domain.finding import Finding
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, CellSummary, TrialSummary


@dataclass(frozen=True, kw_only=True)
class Material:
    """One run and all that is known of it. `figures` maps a section's key to its figures, in order."""

    run: Run
    records: tuple[Record, ...]
    analysis: Analysis
    figures: Mapping[str, tuple[Figure, ...]] = field(default_factory=dict)

    def figure_blocks(self, section: str) -> tuple[FigureBlock, ...]:
        return tuple(FigureBlock(figure=figure) for figure in self.figures.get(section, ()))

    def findings_as_prose(self, section: str) -> tuple[Paragraph, ...]:
        """One paragraph a finding of that section, in the desk's order, its caveats behind it.

        A caveat that many of them share is about the whole run: it follows once, behind them all.
        """
        found = [finding for finding in self.analysis.findings if _place(finding) == section]
        caveats = [caveat for finding in found for caveat in finding.caveats]
        shared = tuple(c for c in distinct(caveats) if caveats.count(c) >= SHARED)
        return (
            *(
                Paragraph(
                    sentences=(finding.sentence, *(c for c in finding.caveats if c not in shared)),
                    finding=finding.key,
                )
                for finding in found
            ),
            *(Paragraph(sentences=(caveat,)) for caveat in shared),
        )


SHARED = 3
"""So many findings of a section with one caveat make it a caveat of the run."""

PLACES = {"one_device": "one", "more_devices": "more", "checks": "checks", "limits": "limits"}


def _place(finding: Finding) -> str:
    """The article's section in which a finding stands; some tables bring a section of their own."""
    if finding.section == "limits" and finding.table == "t-failures":
        return "failures"
    if finding.section == "limits" and finding.figure == "fig-steps":
        return "steady"
    if finding.table == "t-parallel":
        return "parallel"
    return PLACES[finding.section]


def measured_cells(analysis: Analysis) -> tuple[CellSummary, ...]:
    """The cells that have a rate, in the order in which the article shows cells."""
    return tuple(cell for cell in cells_in_order(analysis) if cell.rate is not None)


def cells_in_order(analysis: Analysis) -> tuple[CellSummary, ...]:
    """All cells: by workload, task and number of devices, so that a table reads from top to bottom."""
    return tuple(
        sorted(
            analysis.cells,
            key=lambda summary: (
                summary.cell.workload,
                summary.cell.size,
                summary.cell.task,
                summary.cell.devices,
                summary.cell.batch,
                summary.cell.strategy,
                summary.cell_id,
            ),
        )
    )


def are_replicas(summary: CellSummary) -> bool:
    """Whether the processes of a cell answer requests of their own and wait for no other."""
    cell = summary.cell
    return cell.task == "infer" and cell.strategy == "ddp" and cell.devices > 1


def trials_planned(run: Run) -> int:
    """How many trials of cells the plan has; those of the sentinel are samples of nothing."""
    return sum(trial.role == "cell" for trial in run.plan.trials)


def trials_of(analysis: Analysis, cell_id: str) -> Iterator[TrialSummary]:
    """The trials of a cell that have a rate."""
    return (trial for trial in analysis.trials if trial.cell_id == cell_id and trial.rate is not None)


def relevant_finding(analysis: Analysis, figure: str, *, absolute: bool = False) -> Finding | None:
    """The finding that a figure shows: of those that name it, a headline, then the most important.

    Equals give way to the one on fewer devices. A chart of `absolute` numbers takes no comparison.
    """
    devices = {cell.cell_id: cell.cell.devices for cell in analysis.cells}

    def most_devices(finding: Finding) -> int:
        return max((devices.get(cell_id, 0) for cell_id in cells_of(finding, analysis)), default=0)

    return min(
        (f for f in analysis.findings if f.figure == figure and not (absolute and f.verdict)),
        key=lambda f: (not f.headline, *importance(f)[:2], most_devices(f), f.key),
        default=None,
    )
