"""Checks on the instrument: known truths, rules checked on this run's data, who else used the machine."""

from collections.abc import Iterator

from study.article.labels import series_columns, series_entries
from study.article.material import Material
from study.article.words import a_second, count, entry, estimate, shared_unit, unit_column
from study.domain.article import Block, Bullets, Paragraph, SectionOfArticle, TableBlock
from study.domain.figure import Column, Missing, Table, TableCell
from study.domain.summary import Analysis, RuleOutcome, SeriesPoint, SeriesSummary
from study.domain.text import Est, Name, Num, Term, Text, counted, said


def section(material: Material) -> SectionOfArticle | Text:
    """Left out when there is no truth, no rule and no reading of the surroundings to speak of."""
    blocks = (
        *material.findings_as_prose("checks"),
        *_truths(material),
        *_rules(material),
        *_sentinel(material),
        *_surroundings(material),
        *material.figure_blocks("checks"),
    )
    if not blocks:
        return said("There is no section on checks: the run holds nothing to check the instrument with.")
    return SectionOfArticle(key="checks", title=said("Checks on the instrument"), blocks=blocks)


def _truths(material: Material) -> Iterator[Block]:
    known = [
        (one, point)
        for one in material.analysis.series
        for point in one.points
        if point.truth is not None and point.devices > 1
    ]
    if known:
        unit = shared_unit({one.unit for one, _ in known})
        yield TableBlock(
            table=Table(
                key="t-truth",
                caption=said("Speed-ups whose true value is known by construction; intervals are pointwise."),
                columns=(
                    *series_columns(),
                    Column(key="devices", title=said("Devices"), style="integer"),
                    Column(key="rate_per_s", title=said("Rate"), style="rate", unit=unit),
                    Column(key="base_per_s", title=said("Base"), style="rate", unit=unit),
                    unit_column(),
                    Column(key="speedup", title=said("Measured"), style="times"),
                    Column(key="truth", title=said("True"), style="times"),
                    Column(key="contained", title=said("Interval holds the truth"), numeric=False),
                ),
                rows=tuple(_truth_row(one, point, material.analysis) for one, point in known),
            )
        )


def _truth_row(one: SeriesSummary, point: SeriesPoint, analysis: Analysis) -> tuple[TableCell, ...]:
    truth = point.truth or 0.0
    measured = None if point.speedup is None else Est(estimate=point.speedup, style="times", neutral=truth)
    return (
        *series_entries(one, analysis),
        count(point.devices),
        entry(estimate(point.rate, "rate", one.unit), point.unknown.get("rate", "")),
        entry(estimate(one.base_rate, "rate", one.unit, "value"), one.unknown.get("base_rate", "")),
        a_second(one.unit),
        entry(measured, point.unknown.get("speedup", "")),
        Num(value=truth, style="times", like=measured),
        _contained(point),
    )


def _contained(point: SeriesPoint) -> TableCell:
    measured = point.speedup
    if measured is None or measured.low is None or measured.high is None or point.truth is None:
        return Missing(reason=said("There is no interval to compare with."))
    return Term(text="yes" if measured.low <= point.truth <= measured.high else "no")


def _rules(material: Material) -> Iterator[Block]:
    rules = material.analysis.rules
    if not rules:
        return
    passed = sum(rule.passed for rule in rules)
    yield Paragraph(
        sentences=(
            counted(
                "Of the rules of good reporting, {n} was checked on this run's own data; {passed} passed.",
                "Of the rules of good reporting, {n} were checked on this run's own data; {passed} passed.",
                len(rules),
                passed=count(passed),
            ),
        )
    )
    failed = tuple(_failed(rule) for rule in rules if not rule.passed)
    if failed:
        yield Bullets(items=failed)


def _failed(rule: RuleOutcome) -> Text:
    number, detail = Name(text=rule.id, code=True), Name(text=rule.detail)
    if rule.effect == "block":
        return said("Rule {rule} is broken: {detail}", rule=number, detail=detail)
    if rule.effect == "warn":
        return said("Rule {rule} warns: {detail}", rule=number, detail=detail)
    return said("Rule {rule} notes: {detail}", rule=number, detail=detail)


def _sentinel(material: Material) -> Iterator[Block]:
    """The sentinel's rate in each session, by which the machine is known again, and how steady it was."""
    seen = material.analysis.sentinel
    if seen is None or not seen.points:
        return
    several = len(seen.sessions) > 1
    sentences = []
    for one in seen.sessions:
        rate = Est(estimate=one.rate, style="rate", unit=seen.unit, show="value_interval_n")
        if several:
            sentences.append(
                said("In session {number} the sentinel ran at {rate}.", number=count(one.session), rate=rate)
            )
        else:
            sentences.append(said("The sentinel ran at {rate}.", rate=rate))
    if seen.spread is not None:
        sentences.append(
            said(
                "Its trials spread by {spread} (the standard deviation of their logarithms).",
                spread=Num(value=seen.spread, style="percent"),
            )
        )
    if seen.within_blocks is not None:
        sentences.append(
            said(
                "From the first trial of a block to the last it changed by {change}.",
                change=Est(estimate=seen.within_blocks, style="percent"),
            )
        )
    yield Paragraph(sentences=tuple(sentences))


def _surroundings(material: Material) -> Iterator[Block]:
    trials = material.analysis.trials
    shares = [t.foreign_cpu_share for t in trials if t.foreign_cpu_share is not None]
    if shares:
        yield Paragraph(
            sentences=(
                said(
                    "While a trial ran, other programs used at most {share} of the machine's processor time;"
                    " the table of all trials gives each trial's share and its place in the order.",
                    share=Num(value=max(shares), style="percent"),
                ),
            )
        )
    elif trials:
        yield Paragraph(
            sentences=(said("How much of the processors other programs used was not recorded in any trial."),)
        )
