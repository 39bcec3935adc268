"""What went wrong: how many trials gave no rate, and in which ways. The table has each with its reason."""

from collections import Counter

from study.analysis import claims, evidence
from study.analysis.parts import Parts
from study.analysis.trials import Kind
from study.domain.finding import Finding
from study.domain.text import Name, Text, counted

FACTS = {
    "summary": "Trials that failed, timed out, ran out of memory or were excluded, counted.",
    "section": "limits",
    "rank": 41,
}

FRAMES = {
    "one_cell": "Of {planned} planned trials, {n} gave no rate ({cell}).",
    "one_cell_many": "Of {planned} planned trials, {n} gave no rate, all of one cell ({cell}).",
    "cells": "Of {planned} planned trials, {n} gave no rate, in {cells} cells.",
    "cells_many": "Of {planned} planned trials, {n} gave no rate, in {cells} cells.",
    "failed": "{n} trial failed.",
    "failed_many": "{n} trials failed.",
    "out_of_memory": "{n} trial ran out of memory.",
    "out_of_memory_many": "{n} trials ran out of memory.",
    "timed_out": "{n} trial ran out of time.",
    "timed_out_many": "{n} trials ran out of time.",
    "skipped": "{n} trial was skipped.",
    "skipped_many": "{n} trials were skipped.",
    "interrupted": "{n} trial was interrupted.",
    "interrupted_many": "{n} trials were interrupted.",
    "excluded": "{n} trial was excluded without a look at its rate.",
    "excluded_many": "{n} trials were excluded without a look at their rates.",
    "short": "Of {planned} planned trials, {n} gave no rate.",
    "short_many": "Of {planned} planned trials, {n} gave no rate.",
}

WAYS: tuple[Kind, ...] = ("failed", "out_of_memory", "timed_out", "skipped", "interrupted", "excluded")


def find(parts: Parts) -> list[Finding]:
    """One finding for all of them, with a sentence for each way; none if every trial gave a rate."""
    lost = [trial for trial in parts.trials if trial.outcome != "measured"]
    if not lost:
        return []
    labels = {cell.cell_id: cell.label for cell in parts.cells}
    cells = sorted({labels.get(trial.cell_id, trial.cell_id) for trial in lost})
    planned = claims.whole(sum(trial.role == "cell" for trial in parts.run.plan.trials))
    ways = Counter(trial.outcome for trial in lost)
    if len(cells) == 1:
        sentence = counted(
            FRAMES["one_cell"], FRAMES["one_cell_many"], len(lost), planned=planned, cell=Name(text=cells[0])
        )
    else:
        sentence = counted(
            FRAMES["cells"], FRAMES["cells_many"], len(lost), planned=planned, cells=claims.whole(len(cells))
        )
    return [
        claims.claim(
            key="failures",
            shelf="failures",
            section="limits",
            sentence=sentence,
            short=counted(FRAMES["short"], FRAMES["short_many"], len(lost), planned=planned),
            evidence="none",
            note=evidence.trials(len(lost)),
            trials=[trial.trial for trial in lost],
            table="t-failures",
            caveats=[_way(way, ways[way]) for way in WAYS if way in ways],
        )
    ]


def _way(way: str, n: int) -> Text:
    return counted(FRAMES[way], FRAMES[f"{way}_many"], n)
