"""Step times in order, warm-up included: what drift, stalls and a short warm-up would look like."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, median, quantiles

from study.article.material import are_replicas, cells_in_order, relevant_finding, trials_of
from study.article.panels import grouped
from study.article.words import TASKS, count, model, strategy
from study.domain.figure import Axis, Column, Figure, Line, Mark, Panel, Span, Table, Token
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, CellSummary, TrialSummary
from study.domain.text import Name, Num, Text, said

FACTS = {"summary": "step times in order, warm-up included", "section": "steady", "rank": 10}

MISSING = said("There is no figure of step times: no trial was measured.")

MOST_POINTS = 300
"""Points a line: more make the file large and the picture no clearer."""

MOST_PANELS = 3
"""More panels side by side are too narrow to read."""

NS = 1e9

TOKENS: tuple[Token, ...] = ("s1", "s2", "s3", "s4", "n1")
"""Trials of a cell are alike; colours only let the eye follow a line."""


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:  # noqa: ARG001 - contract
    """The cells whose step times spread most, one a model and task; None if no trial has step times."""
    chosen = _selection(analysis)
    if not chosen:
        return None
    trials = {cell.cell_id: _trials(analysis, cell) for cell in chosen}
    longest = max(len(t.warmup_step_ns) + len(t.step_ns) for ts in trials.values() for t in ts)
    finding = relevant_finding(analysis, "fig-steps")
    return Figure(
        key="fig-steps",
        title=finding.short if finding else said("Step times in the order in which they were measured"),
        subtitle=_subtitle(chosen),
        caption=_caption(decimated=longest > MOST_POINTS),
        alt=_alt(chosen[0], trials[chosen[0].cell_id], len(chosen)),
        panels=tuple(_panel(cell, trials[cell.cell_id], analysis.cells) for cell in chosen),
        table=_table(chosen, trials),
        height=320,
        narrow_height=260 * len(chosen),
    )


def _subtitle(cells: Sequence[CellSummary]) -> Text:
    """Whose step it is: of copies that wait for no one, the first process stands for all."""
    if any(are_replicas(cell) for cell in cells):
        return said(
            "Time of each step, that of the slowest process, or of the first where processes answer requests"
            " independently; cells chosen for the widest spread of their step times."
        )
    return said(
        "Time of each step, that of the slowest process, in cells chosen for the widest spread of their"
        " step times."
    )


def _trials(analysis: Analysis, cell: CellSummary) -> list[TrialSummary]:
    return sorted((t for t in trials_of(analysis, cell.cell_id) if t.step_ns), key=lambda t: t.order)


def _selection(analysis: Analysis) -> list[CellSummary]:
    """Of each model and task the cell of widest spread, and of these the widest.

    The checks of the instrument are shown only if there is nothing else.
    """
    cells = [cell for cell in cells_in_order(analysis) if _trials(analysis, cell)]
    cells = [cell for cell in cells if cell.cell.task != "check"] or cells
    spread = {cell.cell_id: _spread(analysis, cell) for cell in cells}
    groups = grouped(cells, lambda cell: (cell.cell.workload, cell.cell.size, cell.cell.task))
    widest = [max(group, key=lambda cell: (spread[cell.cell_id], cell.cell_id)) for group in groups]
    return sorted(widest, key=lambda cell: (-spread[cell.cell_id], cell.cell_id))[:MOST_PANELS]


def _spread(analysis: Analysis, cell: CellSummary) -> float:
    """Interquartile range over median of a trial's step times, averaged over trials."""
    return fmean(_relative_range(trial.step_ns) for trial in _trials(analysis, cell))


def _relative_range(step_ns: Sequence[int]) -> float:
    if len(step_ns) < 2:
        return 0.0
    low, middle, high = quantiles(step_ns, n=4, method="inclusive")
    return (high - low) / middle if middle else 0.0


def _panel(cell: CellSummary, trials: Sequence[TrialSummary], among: Sequence[CellSummary]) -> Panel:
    warmup = max(len(trial.warmup_step_ns) for trial in trials)
    marks: list[Mark] = []
    if warmup:
        marks.append(Span(low=-float(warmup), high=0.0, label=said("warm-up")))
    for position, trial in enumerate(trials):
        xs, ys = envelope(_numbered(trial))
        marks.append(Line(x=xs, y=ys, token=TOKENS[position % len(TOKENS)], marker="none"))
    return Panel(
        title=said(
            "{model}, {task}: {cell}", model=model(cell), task=TASKS[cell.cell.task], cell=_cell(cell, among)
        ),
        x=Axis(title=said("Step"), style="integer"),
        y=Axis(title=said("Step time"), style="milliseconds", unit="ms", start=0.0),
        marks=tuple(marks),
    )


def _cell(cell: CellSummary, among: Sequence[CellSummary]) -> Text:
    return said(
        "{strategy} × {devices}",
        strategy=strategy(cell.cell, among, code=False),
        devices=count(cell.cell.devices),
    )


def _numbered(trial: TrialSummary) -> list[tuple[float, float]]:
    """Step number and seconds; warm-up steps have negative numbers, so that windows are aligned."""
    start = -len(trial.warmup_step_ns)
    return [(float(start + i), ns / NS) for i, ns in enumerate((*trial.warmup_step_ns, *trial.step_ns))]


def envelope(
    points: Sequence[tuple[float, float]], most: int = MOST_POINTS
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """At most `most` points, every bucket's lowest and highest: no stall is averaged away."""
    if len(points) > most:
        buckets = most // 2
        edges = [len(points) * i // buckets for i in range(buckets + 1)]
        kept: list[tuple[float, float]] = []
        for low, high in pairwise(edges):
            bucket = points[low:high]
            ends = {min(bucket, key=lambda p: p[1]), max(bucket, key=lambda p: p[1])}
            kept.extend(sorted(ends))
        points = kept
    return tuple(x for x, _ in points), tuple(y for _, y in points)


def _caption(*, decimated: bool) -> Text:
    if decimated:
        return said(
            "Each line is a trial, its steps counted from the start of the window; the shaded stretch is"
            " warm-up. Long lines are drawn through the lowest and highest step of each stretch, so that no"
            " stall is lost."
        )
    return said(
        "Each line is a trial, its steps counted from the start of the window; the shaded stretch is warm-up."
    )


def _alt(cell: CellSummary, trials: Sequence[TrialSummary], panels: int) -> Text:
    steps = [ns for trial in trials for ns in trial.step_ns]
    return said(
        "Line chart of step times in order, panels: {panels}. The first shows {model} with a median step of"
        " {middle} and a longest of {longest}. All numbers are in the table below.",
        panels=count(panels),
        model=model(cell),
        middle=Num(value=median(steps) / NS, style="milliseconds"),
        longest=Num(value=max(steps) / NS, style="milliseconds"),
    )


def _table(cells: Sequence[CellSummary], trials: dict[str, list[TrialSummary]]) -> Table:
    return Table(
        key="t-fig-steps",
        caption=said("Steps of every trial that is drawn."),
        columns=(
            Column(key="cell", title=said("Cell"), numeric=False),
            Column(key="block", title=said("Block"), style="integer"),
            Column(key="warmup_steps", title=said("Warm-up steps"), style="integer"),
            Column(key="steps", title=said("Steps"), style="integer"),
            Column(key="step_median_ms", title=said("Median step"), style="milliseconds", unit="ms"),
            Column(key="step_mean_ms", title=said("Mean step"), style="milliseconds", unit="ms"),
            Column(key="step_longest_ms", title=said("Longest step"), style="milliseconds", unit="ms"),
        ),
        rows=tuple(
            (
                Name(text=cell.label),
                count(trial.block),
                count(len(trial.warmup_step_ns)),
                count(len(trial.step_ns)),
                Num(value=median(trial.step_ns) / NS, style="milliseconds"),
                Num(value=fmean(trial.step_ns) / NS, style="milliseconds"),
                Num(value=max(trial.step_ns) / NS, style="milliseconds"),
            )
            for cell in cells
            for trial in trials[cell.cell_id]
        ),
    )
