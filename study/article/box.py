"""The findings box: which findings stand in it, and in which order."""

from collections.abc import Iterable

import msgspec

from study.domain.finding import Finding
from study.domain.summary import Analysis

MOST = 6
"""More than six claims are a list and no longer a summary."""

LEADING = ("train", "infer")
"""The tasks whose first findings open the box, in this order."""

FALLBACK = ("checks", "one_device")
"""Sections whose findings fill a box that would otherwise be empty."""

DOTS = {"strong": 3, "moderate": 2, "weak": 1, "not_shown": 0, "none": 0}
"""The evidence marks that the press prints; an unsettled claim comes after every settled one."""


def importance(finding: Finding) -> tuple[float, float, str]:
    """Sorts findings by practical size times evidence, largest first; equals by weight, then by key."""
    return (-abs(finding.weight) * DOTS[finding.evidence], -abs(finding.weight), finding.key)


def headlines(analysis: Analysis) -> tuple[Finding, ...]:
    """The findings of the box: at most six, and at most one about a subject in a section.

    The first about training and the first about inference lead, for these are what a reader comes for.
    """
    taken: set[tuple[str, ...]] = set()
    eligible: list[Finding] = []
    for finding in sorted(analysis.findings, key=importance):
        place = (finding.section, *subject(finding, analysis))
        if finding.headline and place not in taken:
            taken.add(place)
            eligible.append(finding)
    if not eligible:
        # A study of the instrument alone, or with too few trials to compare, opens with what it found.
        return tuple(f for f in sorted(analysis.findings, key=importance) if f.section in FALLBACK)[:MOST]
    scaling = [finding for finding in eligible if finding.section == "more_devices"]
    first = [next((f for f in scaling if subject(f, analysis)[1] == task), None) for task in LEADING]
    lead = [finding for finding in first if finding is not None]
    return (*lead, *(finding for finding in eligible if finding not in lead))[:MOST]


def all_findings(analysis: Analysis) -> tuple[Finding, ...]:
    """Every finding: the box first and as headlines, then the rest, which the prose still refers to."""
    box = headlines(analysis)
    keys = {finding.key for finding in box}
    rest = (finding for finding in analysis.findings if finding.key not in keys)
    marked = tuple(msgspec.structs.replace(finding, headline=True) for finding in box)
    return (*marked, *(msgspec.structs.replace(finding, headline=False) for finding in rest))


def subject(finding: Finding, analysis: Analysis) -> tuple[str, ...]:
    """What a finding is about: model, task, scaling, strategies and precisions of its trials' cells.

    Scaling is that of the series to which its cells belong, empty when they belong to none. A
    finding without trials is its own subject.
    """
    ids = cells_of(finding, analysis)
    cells = [summary.cell for summary in analysis.cells if summary.cell_id in ids]
    if not cells:
        return (finding.key, "", "", "", "")
    return (
        _joined(f"{cell.workload} {cell.size}" for cell in cells),
        _joined(cell.task for cell in cells),
        _joined(
            series.series.scaling
            for series in analysis.series
            if ids & {m for m in series.series.members if m != series.series.base}
        ),
        _joined(cell.strategy for cell in cells),
        _joined(cell.precision for cell in cells),
    )


def cells_of(finding: Finding, analysis: Analysis) -> frozenset[str]:
    """The ids of the cells whose trials a finding rests on."""
    rests_on = set(finding.trials)
    return frozenset(trial.cell_id for trial in analysis.trials if trial.trial in rests_on)


def _joined(words: Iterable[str]) -> str:
    return " ".join(sorted(set(words)))
