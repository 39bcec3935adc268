"""What failed: every trial that gave no rate, with its reason. A failure is a result."""

from collections.abc import Mapping, Sequence

from study.article.material import Material
from study.article.words import OUTCOMES, count, entry
from study.domain.article import Block, Paragraph, SectionOfArticle, TableBlock
from study.domain.figure import Column, Table
from study.domain.summary import TrialSummary
from study.domain.text import Name, Slot, Term, Text, counted, said


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
    """None when no attempt failed: there is nothing to leave out and nothing to name."""
    sentinel = material.analysis.sentinel
    watching = sentinel.trials if sentinel else ()
    failed = tuple(t for t in (*material.analysis.trials, *watching) if t.outcome != "measured")
    earlier = material.analysis.earlier
    if not failed and not earlier:
        return None
    labels: dict[str, Slot] = {cell.cell_id: Name(text=cell.label) for cell in material.analysis.cells}
    labels |= {t.id: Term(text="sentinel") for t in material.run.plan.trials if t.role == "sentinel"}
    return SectionOfArticle(
        key="failures",
        title=said("What failed"),
        blocks=(*(_failed(material, failed, labels) if failed else ()), *_earlier(earlier, labels)),
    )


def _cell(trial: TrialSummary, labels: Mapping[str, Slot]) -> Slot:
    """What was to be measured: the sentinel goes by its trial, since a cell may have the same id."""
    return labels.get(trial.trial) or labels.get(trial.cell_id) or Name(text=trial.cell_id)


def _failed(
    material: Material, failed: Sequence[TrialSummary], labels: Mapping[str, Slot]
) -> tuple[Block, ...]:
    return (
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
                        _cell(trial, labels),
                        count(trial.block),
                        OUTCOMES[trial.outcome],
                        entry(Name(text=trial.fault) if trial.fault else None, ""),
                    )
                    for trial in failed
                ),
            )
        ),
    )


def _earlier(earlier: Sequence[TrialSummary], labels: Mapping[str, Slot]) -> tuple[Block, ...]:
    """The attempts that another followed: they enter no number, and they are not hidden."""
    if not earlier:
        return ()
    return (
        Paragraph(
            sentences=(
                counted(
                    "{n} attempt was followed by another of the same trial, which counts.",
                    "{n} attempts were followed by another of the same trial, which counts.",
                    len(earlier),
                ),
            )
        ),
        TableBlock(
            table=Table(
                key="t-attempts",
                caption=said("Attempts that count for nothing, since another followed."),
                columns=(
                    Column(key="trial", title=said("Trial"), numeric=False),
                    Column(key="attempt", title=said("Attempt"), style="integer"),
                    Column(key="cell", title=said("Cell"), numeric=False),
                    Column(key="outcome", title=said("Outcome"), numeric=False),
                    Column(key="reason", title=said("Reason"), numeric=False),
                ),
                rows=tuple(
                    (
                        Name(text=trial.trial, code=True),
                        count(trial.attempt),
                        _cell(trial, labels),
                        OUTCOMES[trial.outcome],
                        entry(Name(text=trial.fault) if trial.fault else None, ""),
                    )
                    for trial in earlier
                ),
            )
        ),
    )
