"""Drift: every trial's distance from its cell's mean in the order of the run shows a changing machine.

The sentinel, the same work first and last in each block, is drawn as a trace of its own.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from study.article.begun import begun_s
from study.article.material import relevant_finding
from study.article.words import count
from study.domain.figure import Axis, Column, Figure, Line, Mark, Panel, Points, Rule, Span, Table, Token
from study.domain.finding import Finding
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, TrialSummary
from study.domain.text import Name, Num, Term, Text, said

FACTS = {"summary": "rates over the run, each against its cell's mean", "section": "checks", "rank": 10}

MISSING = said("There is no figure of drift: no cell was measured twice.")

TRIAL: Token = "s1"
SENTINEL: Token = "s2"
OF_CELLS = said("a cell's trial")
OF_SENTINEL = said("the sentinel")


class Residual(NamedTuple):
    """One trial: when it began, in seconds from the first, and its rate's share above its cell's mean.

    `label` is its cell's; null of the sentinel, whose mean is that of its own trials. `session` is the
    sentinel's.
    """

    start_s: float
    share: float
    trial: TrialSummary
    label: str | None
    session: int = 0


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:  # noqa: ARG001 - contract
    """Every trial that counts of cells measured at least twice, and of the sentinel; None without one.

    Checks of the instrument are left out: a sleeping process does not feel what the machine does.
    """
    found = _residuals(analysis, records)
    if not found:
        return None
    watched = any(residual.label is None for residual in found)
    finding = relevant_finding(analysis, "fig-drift") or _of_drift(analysis)
    panel = _panel(found)
    return Figure(
        key="fig-drift",
        title=finding.short if finding else said("Rates over the run, each against its cell's mean"),
        subtitle=said(
            "Rate of each trial divided by the geometric mean of its cell's trials, less one, over the time"
            " at which the trial began."
        ),
        caption=_caption(watched),
        alt=_alt(found),
        panels=(panel,),
        table=_table(found),
        height=320,
        narrow_height=320,
    )


def _caption(watched: bool) -> Text:
    if not watched:
        return said(
            "A mark is a trial; shaded and plain stretches are blocks, each of which measures every cell"
            " once. Checks of the instrument are left out."
        )
    return said(
        "A mark is a trial; shaded and plain stretches are blocks, each of which measures every cell once,"
        " and the sentinel first and last. The line joins the sentinel's trials of a session. Checks of the"
        " instrument are left out."
    )


def _of_drift(analysis: Analysis) -> Finding | None:
    return next((finding for finding in analysis.findings if finding.shelf == "drift"), None)


def _residuals(analysis: Analysis, records: Sequence[Record]) -> list[Residual]:
    cells = {
        cell.cell_id: cell
        for cell in analysis.cells
        if cell.cell.task != "check" and cell.measured > 1 and cell.geometric_mean
    }
    counting = [trial for trial in analysis.trials if trial.rate is not None and trial.cell_id in cells]
    points = {point.trial: point for point in analysis.sentinel.points} if analysis.sentinel else {}
    watching = [t for t in analysis.sentinel.trials if t.trial in points] if analysis.sentinel else []
    if len(watching) == 1:
        watching = []  # one trial has no mean to differ from
    if not counting and not watching:
        return []
    begun = begun_s([*counting, *watching], records)
    found = [
        Residual(
            start_s=begun[trial.trial],
            share=trial.rate / mean - 1,
            trial=trial,
            label=cells[trial.cell_id].label,
        )
        for trial in counting
        if trial.rate is not None and (mean := cells[trial.cell_id].geometric_mean)
    ]
    found += [
        Residual(
            start_s=begun[trial.trial],
            share=math.expm1(points[trial.trial].residual),
            trial=trial,
            label=None,
            session=points[trial.trial].session,
        )
        for trial in watching
    ]
    return sorted(found, key=lambda residual: residual.trial.order)


def _panel(found: Sequence[Residual]) -> Panel:
    cells = [residual for residual in found if residual.label is not None]
    trace = _trace(found)
    marks: list[Mark] = [
        *_blocks(found),
        Rule(at=0.0, along="y", label=said("the cell's mean")),
        *(
            [
                Points(
                    x=tuple(r.start_s for r in cells),
                    y=tuple(r.share for r in cells),
                    token=TRIAL,
                    label=OF_CELLS if trace else None,
                )
            ]
            if cells
            else []
        ),
        *trace,
    ]
    return Panel(
        title=said("All trials in the order of the run"),
        x=Axis(title=said("Start"), style="duration"),
        y=Axis(title=said("Rate against the cell's mean"), style="percent"),
        marks=tuple(marks),
        legend=bool(trace),
    )


def _trace(found: Sequence[Residual]) -> list[Mark]:
    """The sentinel's trials, joined within each session: nothing was there in between two of them."""
    sessions: dict[int, list[Residual]] = {}
    for residual in found:
        if residual.label is None:
            sessions.setdefault(residual.session, []).append(residual)
    return [
        Line(
            x=tuple(r.start_s for r in members),
            y=tuple(r.share for r in members),
            token=SENTINEL,
            marker="diamond",
            label=None if position else OF_SENTINEL,
        )
        for position, members in enumerate(sessions.values())
    ]


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
    watching = [residual for residual in found if residual.label is None]
    if watching:
        low, high = (pick(watching, key=lambda r: r.share) for pick in (min, max))
        return said(
            "Scatter chart of {n} trials over the time at which they began: their rates lie between {low} and"
            " {high} of their cells' means. A line joins the {watching} of the sentinel, which lie between"
            " {least} and {most}. All numbers are in the table below.",
            n=count(len(found)),
            low=Num(value=lowest.share, style="percent"),
            high=Num(value=highest.share, style="percent"),
            watching=count(len(watching)),
            least=Num(value=low.share, style="percent"),
            most=Num(value=high.share, style="percent"),
        )
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
                Name(text=residual.label) if residual.label is not None else Term(text="sentinel"),
                Num(value=residual.share, style="percent"),
            )
            for residual in found
        ),
    )
