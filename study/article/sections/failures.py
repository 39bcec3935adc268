"""What failed: every trial that gave no rate, with its reason. A failure is a result."""

from study.article.material import Material
from study.article.words import OUTCOMES, count, entry
from study.domain.article import Paragraph, SectionOfArticle, TableBlock
from study.domain.figure import Column, Table
from study.domain.text import Name, Text, counted, said


def _summary(n: int) -> Paragraph:
    """What is said where the desk found nothing to say."""
    return Paragraph(
        sentences=(
            counted(
                "{n} trial gave no rate and enters no number; it is listed with its reason.",
                "{n} trials gave no rate and enter no number; each is listed with its reason.",
                n,
            ),
        )
    )


def section(material: Material) -> SectionOfArticle | Text | None:
    """None when nothing failed: there is nothing to leave out and nothing to name."""
    failed = tuple(t for t in material.analysis.trials if t.outcome != "measured")
    if not failed:
        return None
    labels = {cell.cell_id: cell.label for cell in material.analysis.cells}
    return SectionOfArticle(
        key="failures",
        title=said("What failed"),
        blocks=(
            *(material.findings_as_prose("failures") or (_summary(len(failed)),)),
            TableBlock(
                table=Table(
                    key="t-failures",
                    caption=said("Trials without a rate."),
                    columns=(
                        Column(key="trial", title=said("Trial"), numeric=False),
                        Column(key="cell", title=said("Cell"), numeric=False),
                        Column(key="block", title=said("Block"), style="integer"),
                        Column(key="outcome", title=said("Outcome"), numeric=False),
                        Column(key="reason", title=said("Reason"), numeric=False),
                    ),
                    rows=tuple(
                        (
                            Name(text=trial.trial, code=True),
                            Name(text=labels.get(trial.cell_id, trial.cell_id)),
                            count(trial.block),
                            OUTCOMES[trial.outcome],
                            entry(Name(text=trial.fault) if trial.fault else None, ""),
                        )
                        for trial in failed
                    ),
                )
            ),
        ),
    )
