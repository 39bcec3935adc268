"""Decoding latency as dots with intervals: first token, later tokens, quantiles of the whole request."""

from collections.abc import Callable, Sequence
from itertools import chain
from statistics import median
from typing import NamedTuple

from study.article.box import cells_of
from study.article.captions import caption
from study.article.labels import cell_labels
from study.article.material import are_replicas, cells_in_order, relevant_finding
from study.article.panels import LOOKS
from study.article.words import UNTITLED, count, distinct, entry, estimate, model
from study.domain.estimate import Estimate
from study.domain.figure import Axis, Column, Figure, Mark, Panel, Points, Table, TableCell, Whisker
from study.domain.record import Measured, Reading, Record
from study.domain.run import Run
from study.domain.summary import Analysis, CellSummary, Latency
from study.domain.text import Est, Listing, Name, Num, Text, said

FACTS = {"summary": "latency of decoding", "section": "one", "rank": 20}

MISSING = said("There is no figure of latency: no decoding was measured.")

ROW_HEIGHT = 54
"""Pixels for one row with three marks."""

NS = 1e9

Trials = dict[str, list[tuple[Reading, ...]]]


class Measure(NamedTuple):
    """One latency: its label, its estimate, and what of a reading its medians are of, if it is a median."""

    label: Text
    estimate: Callable[[Latency], Estimate | None]
    reading: Callable[[Reading], tuple[int, ...]] | None = None


def quantile(share: float) -> Num:
    """The share of requests that a quantile is about."""
    return Num(value=share, style="percent")


MEASURES: tuple[tuple[Text, tuple[Measure, ...]], ...] = (
    (
        said("Time to a token"),
        (
            Measure(said("first token"), lambda held: held.first_token_s, lambda of: of.first_token_ns),
            Measure(said("each later token"), lambda held: held.token_s, lambda of: of.token_ns),
        ),
    ),
    (
        said("Time to a whole batch of requests"),
        (
            Measure(said("median"), lambda held: held.request_p50_s, lambda of: of.step_ns),
            Measure(said("{share} quantile", share=quantile(0.9)), lambda held: held.request_p90_s),
            Measure(said("{share} quantile", share=quantile(0.99)), lambda held: held.request_p99_s),
        ),
    ),
)

SPREAD = 0.25
"""Distance of a row's marks, in rows, so that intervals do not lie on one another."""


def decoding_cells(analysis: Analysis) -> tuple[CellSummary, ...]:
    """The cells whose latency was measured."""
    return tuple(cell for cell in cells_in_order(analysis) if cell.latency is not None)


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:  # noqa: ARG001 - contract
    """Latency of every decoding cell; None if nothing was decoded."""
    cells = decoding_cells(analysis)
    if not cells:
        return None
    finding = relevant_finding(analysis, "fig-latency")
    trials = _measured_trials(records, analysis)
    panels = tuple(_panel(title, measures, cells, trials) for title, measures in MEASURES)
    return Figure(
        key="fig-latency",
        title=finding.short if finding else said("Time to a token and to a whole request"),
        subtitle=said(
            "Decoding with {models}. The load is closed: a batch of requests starts when the one before it"
            " has ended.",
            models=Listing(items=distinct(model(cell) for cell in cells)),
        ),
        caption=_caption(cells, panels),
        alt=_alt(cells, cells_of(finding, analysis) if finding else frozenset()),
        panels=panels,
        table=_table(cells),
        height=130 + ROW_HEIGHT * len(cells),
        narrow_height=len(panels) * (130 + ROW_HEIGHT * len(cells)),
    )


def _panel(title: Text, measures: Sequence[Measure], cells: Sequence[CellSummary], trials: Trials) -> Panel:
    marks: list[Mark] = []
    for position, measure in enumerate(measures):
        token, marker = LOOKS[position]
        shift = (position - (len(measures) - 1) / 2) * SPREAD
        values = [
            (at + shift, value)
            for at, cell in enumerate(cells)
            if cell.latency and (value := measure.estimate(cell.latency)) is not None
        ]
        if not values:
            continue
        rings = [
            (at + shift, median_s(readings, measure.reading, apart=are_replicas(cell)))
            for at, cell in enumerate(cells)
            for readings in trials.get(cell.cell_id, ())
            if measure.reading
        ]
        if rings:
            at, seconds = zip(*rings, strict=True)
            marks.append(Points(x=seconds, y=at, token=token, hollow=True, small=True))
        marks.append(
            Points(
                x=tuple(value.value for _, value in values),
                y=tuple(row for row, _ in values),
                token=token,
                marker=marker,
                label=measure.label,
            )
        )
        marks.extend(
            Whisker(at=row, estimate=value, token=token, along="x", marker=marker) for row, value in values
        )
    return Panel(
        title=title,
        x=Axis(title=said("Time"), style="milliseconds", start=0.0),
        y=Axis(title=UNTITLED, categories=cell_labels(cells)),
        marks=tuple(marks),
        legend=True,
    )


def _measured_trials(records: Sequence[Record], analysis: Analysis) -> Trials:
    """The readings of every trial that counts, by cell."""
    counting = {(trial.trial, trial.attempt) for trial in analysis.trials if trial.rate is not None}
    found: Trials = {}
    for record in records:
        if isinstance(record.outcome, Measured) and (record.trial, record.attempt) in counting:
            found.setdefault(record.cell_id, []).append(record.outcome.readings)
    return found


def median_s(
    readings: Sequence[Reading], read: Callable[[Reading], tuple[int, ...]], *, apart: bool
) -> float:
    """The median over a trial's steps in seconds: those of all ranks if they work `apart`.

    Otherwise a step is as long as on its slowest rank.
    """
    ranks = [read(reading) for reading in readings]
    steps: list[int] = (
        [*chain.from_iterable(ranks)] if apart else [max(step) for step in zip(*ranks, strict=True)]
    )
    return median(steps) / NS


def _caption(cells: Sequence[CellSummary], panels: Sequence[Panel]) -> Text:
    first = [
        said(
            "Marks are medians and quantiles of a trial's batches of requests, summarised over trials; rings"
            " are the medians of single trials."
        )
    ]
    if any(are_replicas(cell) for cell in cells):
        first.append(
            said("Where each process answers batches of its own, those of all processes are pooled.")
        )
    return caption(panels, *first, rings=False)


def _alt(cells: Sequence[CellSummary], titled: frozenset[str]) -> Text:
    """The cell of which the title speaks, else the first."""
    cell = min(cells, key=lambda one: one.cell_id not in titled)
    held = cell.latency
    if held is None:
        return said("Dot plot of decoding latency. All numbers are in the table below.")
    return said(
        "Dot plot of decoding latency, cells: {n}. In {label}, the first token takes {first} and the median"
        " batch of requests takes {middle}. All numbers are in the table below.",
        n=count(len(cells)),
        label=Name(text=cell.label[:50]),
        first=Est(estimate=held.first_token_s, style="milliseconds", show="value"),
        middle=Est(estimate=held.request_p50_s, style="milliseconds", show="value"),
    )


def _table(cells: Sequence[CellSummary]) -> Table:
    def column(name: str, title: Text) -> Column:
        return Column(key=name, title=title, style="milliseconds", unit="ms")

    return Table(
        key="t-latency",
        caption=said(
            "Latency of decoding: medians and quantiles of a trial's batches of requests, with pointwise"
            " intervals over trials."
        ),
        columns=(
            Column(key="cell", title=said("Cell"), numeric=False),
            column("first_token_ms", said("To the first token")),
            column("later_token_ms", said("Each later token")),
            column("request_p50_ms", said("Batch, median")),
            column("request_p90_ms", said("Batch, {share} quantile", share=quantile(0.9))),
            column("request_p99_ms", said("Batch, {share} quantile", share=quantile(0.99))),
            Column(key="requests", title=said("Batches of requests"), style="integer"),
        ),
        rows=tuple(_row(cell, cell.latency) for cell in cells if cell.latency),
    )


def _row(cell: CellSummary, latency: Latency) -> tuple[TableCell, ...]:
    def time(value: Estimate | None, field: str) -> TableCell:
        return entry(estimate(value, "milliseconds"), latency.unknown.get(field, ""))

    return (
        Name(text=cell.label),
        time(latency.first_token_s, "first_token_s"),
        time(latency.token_s, "token_s"),
        time(latency.request_p50_s, "request_p50_s"),
        time(latency.request_p90_s, "request_p90_s"),
        time(latency.request_p99_s, "request_p99_s"),
        count(latency.requests),
    )
