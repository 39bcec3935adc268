"""What went wrong: cells with trials that failed, ran out of memory or time, or were excluded."""

from collections import defaultdict

from study.analysis import claims, evidence
from study.analysis.parts import Parts
from study.domain.finding import Finding
from study.domain.summary import TrialSummary
from study.domain.text import Text, counted, name

FACTS = {
    "summary": "Trials that failed, timed out, ran out of memory or were excluded, with the reason.",
    "section": "limits",
    "rank": 41,
}

FRAMES = {
    "out_of_memory": "{n} trial of {cell} ran out of memory, of {planned} planned: {reason}",
    "out_of_memory_many": (
        "{n} trials of {cell} ran out of memory, of {planned} planned; the first of them: {reason}"
    ),
    "failed": "{n} trial of {cell} failed, of {planned} planned: {reason}",
    "failed_many": "{n} trials of {cell} failed, of {planned} planned; the first of them: {reason}",
    "timed_out": "{n} trial of {cell} ran out of time, of {planned} planned: {reason}",
    "timed_out_many": (
        "{n} trials of {cell} ran out of time, of {planned} planned; the first of them: {reason}"
    ),
    "skipped": "{n} trial of {cell} was skipped, of {planned} planned: {reason}",
    "skipped_many": "{n} trials of {cell} were skipped, of {planned} planned; the first of them: {reason}",
    "excluded": (
        "{n} trial of {cell} was excluded without a look at its rate, of {planned} planned: {reason}"
    ),
    "excluded_many": (
        "{n} trials of {cell} were excluded without a look at their rates, of {planned} planned; the "
        "first of them: {reason}"
    ),
    "short": "{n} trial of {cell} gave no result.",
    "short_many": "{n} trials of {cell} gave no result.",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each cell and each way in which its trials came to no result."""
    groups: dict[tuple[str, str], list[TrialSummary]] = defaultdict(list)
    for trial in parts.trials:
        if trial.outcome not in ("measured", "interrupted"):
            groups[trial.cell_id, trial.outcome].append(trial)
    known = {cell.cell_id for cell in parts.cells}
    return [
        _claim(parts, cell_id, outcome, trials)
        for (cell_id, outcome), trials in sorted(groups.items())
        if cell_id in known
    ]


def _claim(parts: Parts, cell_id: str, outcome: str, trials: list[TrialSummary]) -> Finding:
    return claims.claim(
        key=f"failures.{outcome}.{cell_id}",
        shelf="failures",
        section="limits",
        sentence=counted(
            FRAMES[outcome],
            FRAMES[f"{outcome}_many"],
            len(trials),
            cell=claims.code(cell_id),
            planned=claims.whole(parts.cell(cell_id).planned),
            reason=name(trials[0].fault),
        ),
        short=_short(cell_id, len(trials)),
        evidence="none",
        note=evidence.trials(len(trials)),
        trials=[trial.trial for trial in trials],
        table="t-failures",
    )


def _short(cell_id: str, n: int) -> Text:
    return counted(FRAMES["short"], FRAMES["short_many"], n, cell=claims.code(cell_id))
