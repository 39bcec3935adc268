"""The skeleton: which sections an article has and in which order, and what stands above them."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from study import __version__
from study.article.box import all_findings, headlines
from study.article.drawing import draw_all
from study.article.material import Material, trials_planned
from study.article.notices import notices, trials_measured
from study.article.sections import (
    checks,
    data,
    disclosure,
    failures,
    limits,
    machine,
    method,
    more,
    one,
    parallel,
    rates,
    software,
    steady,
    utilisation,
)
from study.article.trials_table import all_trials
from study.article.words import alone, count, in_a_row, results_digest
from study.domain.article import Article, Block, FigureBlock, SectionOfArticle, TableBlock, path_of
from study.domain.finding import Finding
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis
from study.domain.text import Name, Text, said


def compose(run: Run, records: Sequence[Record], analysis: Analysis) -> Article:
    """The article about one run. Equal arguments give an equal article.

    Raises:
        BadShelfFile: a figure on the shelf does not keep the shelf's contract.
    """
    figures, left_out = draw_all(run, records, analysis)
    material = Material(run=run, records=tuple(records), analysis=analysis, figures=figures)
    published = _published(run)
    sections = _sections(material, left_out, published)
    anchors = frozenset(_anchors(sections))
    return Article(
        path=path_of(run.study.name, run.id),
        study=run.study.name,
        run_id=run.id,
        kicker=_kicker(run),
        title=run.study.title,
        standfirst=_standfirst(material),
        authors=tuple(run.study.authors),
        published=published,
        trials_measured=trials_measured(material),
        trials_planned=trials_planned(run),
        measured_s=analysis.measured_s,
        notices=notices(material),
        findings=tuple(_linked(finding, anchors) for finding in all_findings(analysis)),
        sections=sections,
        all_trials=all_trials(material),
        machine=run.machine.slug,
        digest=results_digest(records),
        tool_version=__version__,
        disclosure=run.study.disclosure,
    )


def _sections(
    material: Material, left_out: Mapping[str, tuple[Text, ...]], published: str
) -> tuple[SectionOfArticle, ...]:
    """The sections in order; what has no data is named under "What we cannot say"."""
    before = [
        section(material)
        for section in (
            machine.section,
            method.section,
            one.section,
            more.section,
            parallel.section,
            rates.section,
            utilisation.section,
            steady.section,
            checks.section,
            failures.section,
        )
    ]
    present = tuple(found for found in before if isinstance(found, SectionOfArticle))
    absent = tuple(found for found in before if isinstance(found, Text))
    # A section that is named as left out speaks for its figures.
    figures = tuple(text for section in present for text in left_out.get(section.key, ()))
    return (
        *present,
        limits.section(material, absent + figures),
        software.section(material, published),
        data.section(material),
        disclosure.section(material, published),
    )


def _published(run: Run) -> str:
    """The ISO date on which the last session ended, or began if it has no end; empty without a session."""
    if not run.sessions:
        return ""
    last = run.sessions[-1]
    return (last.ended_utc or last.started_utc)[:10]


def _kicker(run: Run) -> Text:
    tasks = {planned.cell.task for planned in run.plan.cells}
    if {"train", "infer"} <= tasks:
        return said("Scaling over devices · training and inference")
    if "train" in tasks:
        return said("Scaling over devices · training")
    if "infer" in tasks:
        return said("Scaling over devices · inference")
    return said("Scaling over devices · a check of the instrument")


def _standfirst(material: Material) -> Text:
    """The question, whose answers stand beneath; else the first finding, else what was done."""
    question = material.run.study.question.strip()
    box = headlines(material.analysis)
    if question:
        return alone(Name(text=question))
    if box:
        return in_a_row(box[0].sentence, *box[0].caveats)
    return said(
        "{measured} of {planned} planned trials were measured; no finding rests on them.",
        measured=count(trials_measured(material)),
        planned=count(trials_planned(material.run)),
    )


def _linked(finding: Finding, anchors: frozenset[str]) -> Finding:
    """The finding without links to tables and figures that this article does not have."""
    return msgspec.structs.replace(
        finding,
        table=finding.table if finding.table in anchors else "",
        figure=finding.figure if finding.figure in anchors else "",
    )


def _anchors(sections: Sequence[SectionOfArticle]) -> Iterator[str]:
    blocks: list[Block] = [block for section in sections for block in section.blocks]
    for block in blocks:
        if isinstance(block, FigureBlock):
            yield from (block.figure.key, block.figure.table.key)
        elif isinstance(block, TableBlock):
            yield block.table.key
