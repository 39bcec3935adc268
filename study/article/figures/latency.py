"""Decoding latency as dots with intervals: first token, each later token, and the whole request's quantiles."""

from collections.abc import Callable, Sequence

from study.article.material import cells_in_order, relevant_finding
from study.article.panels import LOOKS, in_chunks
from study.article.words import count, entry, estimate, model
from study.domain.estimate import Estimate
from study.domain.figure import Axis, Column, Figure, Mark, Panel, Table, TableCell, Whisker
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, CellSummary, Latency
from study.domain.text import Name, Num, Text, said

FACTS = {"summary": "latency of decoding", "section": "one", "rank": 20}

MISSING = said("There is no figure of latency: no decoding was measured.")

ROW_HEIGHT = 40
MOST_ROWS = 10

Read = Callable[[Latency], Estimate | None]


def quantile(share: float) -> Num:
    """The share of requests that a quantile is about."""
    return Num(value=share, style="percent")


MEASURES: tuple[tuple[Text, tuple[tuple[Text, Read], ...]], ...] = (
    (said("To the first token"), ((said("median"), lambda latency: latency.first_token_s),)),
    (said("Each later token"), ((said("median"), lambda latency: latency.token_s),)),
    (
        said("Whole request"),
        (
            (said("median"), lambda latency: latency.request_p50_s),
            (said("{share} quantile", share=quantile(0.9)), lambda latency: latency.request_p90_s),
            (said("{share} quantile", share=quantile(0.99)), lambda latency: latency.request_p99_s),
        ),
    ),
)


def decoding_cells(analysis: Analysis) -> tuple[CellSummary, ...]:
    """The cells whose latency was measured."""
    return tuple(cell for cell in cells_in_order(analysis) if cell.latency is not None)


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:
    """Latency of every decoding cell; None if nothing was decoded."""
    cells = decoding_cells(analysis)
    if not cells:
        return None
    finding = relevant_finding(analysis, "fig-latency")
    panels = tuple(
        panel
        for chunk in in_chunks(cells, MOST_ROWS)
        for title, marks in MEASURES
        if (panel := _panel(title, marks, chunk)) is not None
    )
    return Figure(
        key="fig-latency",
        title=finding.short if finding else said("Time to a token and to a whole request"),
        subtitle=said("The load is closed: a batch of requests starts when the one before it has ended."),
        caption=said(
            "Filled marks are medians of a trial, hollow ones higher quantiles; whiskers are confidence"
            " intervals over trials. Panels have axes of their own."
        ),
        alt=_alt(cells[0], len(cells)),
        panels=panels,
        table=_table(cells),
        height=120 + ROW_HEIGHT * min(len(cells), MOST_ROWS),
        narrow_height=len(panels) * (110 + ROW_HEIGHT * min(len(cells), MOST_ROWS)),
    )


def _panel(title: Text, measures: Sequence[tuple[Text, Read]], cells: Sequence[CellSummary]) -> Panel | None:
    marks: list[Mark] = []
    for at, cell in enumerate(cells):
        for position, (_, read) in enumerate(measures):
            value = read(cell.latency) if cell.latency else None
            if value is not None:
                token, marker = LOOKS[position]
                marks.append(
                    Whisker(
                        at=float(at),
                        estimate=value,
                        token=token,
                        along="x",
                        marker=marker,
                        hollow=position > 0,
                    )
                )
    if not marks:
        return None
    return Panel(
        title=title,
        x=Axis(title=said("Time"), style="milliseconds", unit="ms", start=0.0),
        y=Axis(title=said("Cell"), categories=tuple(_category(cell) for cell in cells)),
        marks=tuple(marks),
    )


def _category(cell: CellSummary) -> Text:
    return said(
        "{model}, {strategy} × {devices}, batch {batch}",
        model=model(cell),
        strategy=Name(text=cell.cell.strategy),
        devices=count(cell.cell.devices),
        batch=count(cell.cell.batch),
    )


def _alt(cell: CellSummary, n: int) -> Text:
    middle = cell.latency.request_p50_s.value if cell.latency else 0.0
    first = cell.latency.first_token_s.value if cell.latency else 0.0
    return said(
        "Dot plot of decoding latency of {n} cells. In the first, {label}, the first token comes after {first}"
        " and the median request takes {middle}. All numbers are in the table below.",
        n=count(n),
        label=Name(text=cell.label[:50]),
        first=Num(value=first, style="milliseconds"),
        middle=Num(value=middle, style="milliseconds"),
    )


def _table(cells: Sequence[CellSummary]) -> Table:
    def column(name: str, title: Text) -> Column:
        return Column(key=name, title=title, style="milliseconds", unit="ms")

    return Table(
        key="t-latency",
        caption=said("Latency of decoding: medians and quantiles of a trial, with intervals over trials."),
        columns=(
            Column(key="cell", title=said("Cell"), numeric=False),
            column("first_token_ms", said("To the first token")),
            column("later_token_ms", said("Each later token")),
            column("request_p50_ms", said("Request, median")),
            column("request_p90_ms", said("Request, {share} quantile", share=quantile(0.9))),
            column("request_p99_ms", said("Request, {share} quantile", share=quantile(0.99))),
            Column(key="requests", title=said("Requests"), style="integer"),
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
