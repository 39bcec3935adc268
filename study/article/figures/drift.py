"""Drift: every trial's distance from its cell's mean in the order of the run shows a changing machine."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from study.article.material import relevant_finding
from study.article.words import count
from study.domain.figure import Axis, Column, Figure, Mark, Panel, Points, Rule, Span, Table, Token
from study.domain.finding import Finding
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, CellSummary, TrialSummary
from study.domain.text import Name, Num, Text, said

FACTS = {"summary": "rates over the run, each against its cell's mean", "section": "checks", "rank": 10}

MISSING = said("There is no figure of drift: no cell was measured twice.")

TRIAL: Token = "s1"


class Residual(NamedTuple):
    """One trial: when it began, in seconds from the first, and its rate's share above its cell's mean."""

    start_s: float
    share: float
    trial: TrialSummary
    cell: CellSummary


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:  # noqa: ARG001 - contract
    """Every trial that counts of cells measured at least twice; None without one.

    Checks of the instrument are left out: a sleeping process does not feel what the machine does.
    """
    found = _residuals(analysis)
    if not found:
        return None
    finding = relevant_finding(analysis, "fig-drift") or _of_drift(analysis)
    panel = _panel(found)
    return Figure(
        key="fig-drift",
        title=finding.short if finding else said("Rates over the run, each against its cell's mean"),
        subtitle=said(
            "Rate of each trial divided by the geometric mean of its cell's trials, less one, over the time"
            " at which the trial began."
        ),
        caption=said(
            "A mark is a trial; shaded and plain stretches are blocks, each of which measures every cell"
            " once. Checks of the instrument are left out."
        ),
        alt=_alt(found),
        panels=(panel,),
        table=_table(found),
        height=320,
        narrow_height=320,
    )


def _of_drift(analysis: Analysis) -> Finding | None:
    return next((finding for finding in analysis.findings if finding.shelf == "drift"), None)


def _residuals(analysis: Analysis) -> list[Residual]:
    cells = {
        cell.cell_id: cell
        for cell in analysis.cells
        if cell.cell.task != "check" and cell.measured > 1 and cell.geometric_mean
    }
    counting = [trial for trial in analysis.trials if trial.rate is not None and trial.cell_id in cells]
    begun = {trial.trial: datetime.fromisoformat(trial.started_utc) for trial in counting}
    first = min(begun.values(), default=None)
    return [
        Residual(
            start_s=(begun[trial.trial] - first).total_seconds(),
            share=trial.rate / mean - 1,
            trial=trial,
            cell=cells[trial.cell_id],
        )
        for trial in sorted(counting, key=lambda trial: trial.order)
        if first is not None and trial.rate is not None and (mean := cells[trial.cell_id].geometric_mean)
    ]


def _panel(found: Sequence[Residual]) -> Panel:
    marks: list[Mark] = [
        *_blocks(found),
        Rule(at=0.0, along="y", label=said("the cell's mean")),
        Points(
            x=tuple(r.start_s for r in found),
            y=tuple(r.share for r in found),
            token=TRIAL,
        ),
    ]
    return Panel(
        title=said("All trials in the order of the run"),
        x=Axis(title=said("Start"), style="duration"),
        y=Axis(title=said("Rate against the cell's mean"), style="percent"),
        marks=tuple(marks),
    )


def _blocks(found: Sequence[Residual]) -> list[Mark]:
    """Every other block as a shaded stretch, from the middle of the gap before it to that behind it."""
    blocks: dict[int, list[float]] = {}
    for residual in found:
        blocks.setdefault(residual.trial.block, []).append(residual.start_s)
    ordered = sorted(blocks.items(), key=lambda block: min(block[1]))
    edges = [(max(a[1]) + min(b[1])) / 2 for a, b in pairwise(ordered)]
    lows = [found[0].start_s, *edges]
    highs = [*edges, max(residual.start_s for residual in found)]
    return [
        Span(low=low, high=high, label=said("block {n}", n=count(block)))
        for position, ((block, _), low, high) in enumerate(zip(ordered, lows, highs, strict=True))
        if position % 2 == 0 and low < high
    ]


def _alt(found: Sequence[Residual]) -> Text:
    lowest, highest = (pick(found, key=lambda r: r.share) for pick in (min, max))
    return said(
        "Scatter chart of {n} trials over the time at which they began: their rates lie between {low} and"
        " {high} of their cells' means. All numbers are in the table below.",
        n=count(len(found)),
        low=Num(value=lowest.share, style="percent"),
        high=Num(value=highest.share, style="percent"),
    )


def _table(found: Sequence[Residual]) -> Table:
    return Table(
        key="t-fig-drift",
        caption=said("Every trial's rate against the geometric mean of its cell, in the order of the run."),
        columns=(
            Column(key="order", title=said("Order"), style="integer"),
            Column(key="start_s", title=said("Start"), style="duration"),
            Column(key="block", title=said("Block"), style="integer"),
            Column(key="cell", title=said("Cell"), numeric=False),
            Column(key="residual_share", title=said("Against the mean"), style="percent"),
        ),
        rows=tuple(
            (
                count(residual.trial.order),
                Num(value=residual.start_s, style="duration"),
                count(residual.trial.block),
                Name(text=residual.cell.label),
                Num(value=residual.share, style="percent"),
            )
            for residual in found
        ),
    )
