"""Scaling efficiency as dots with intervals: speed-up divided by the number of devices, one row a count."""

from collections.abc import Sequence
from typing import NamedTuple

from study.article.labels import series_columns, series_entries, series_labels
from study.article.material import relevant_finding, trials_of
from study.article.panels import REFERENCE, grouped, look, panel_title, shown_series
from study.article.words import TASKS, UNTITLED, alone, count, entry, estimate, series_model
from study.domain.figure import Axis, Column, Figure, Mark, Panel, Points, Rule, Table, Whisker
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, SeriesPoint, SeriesSummary
from study.domain.text import Listing, Name, Num, Slot, Text, said

FACTS = {"summary": "scaling efficiency by number of devices", "section": "more", "rank": 20}

MISSING = said(
    "There is no figure of efficiency: no series has a measured base and a measured cell on more devices."
)

ROW_HEIGHT = 34
"""Pixels for one row of dots, so that labels never touch."""


class Row(NamedTuple):
    """One dot: a series at one device count; `position` is the series' place in its panel."""

    position: int
    label: Text
    one: SeriesSummary
    point: SeriesPoint


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:  # noqa: ARG001 - contract
    """Efficiency at every device count above one; None without a base or without several devices."""
    series = tuple(one for one in shown_series(analysis) if one.base_rate and _points(one))
    if not series:
        return None
    finding = relevant_finding(analysis, "fig-efficiency")
    panels = [(panel, _rows(panel, analysis)) for panel in grouped(series, lambda one: one.series.scaling)]
    tallest = max(len(rows) for _, rows in panels)
    total = sum(len(rows) for _, rows in panels)
    return Figure(
        key="fig-efficiency",
        title=finding.short if finding else said("Share of the ideal speed-up that was reached"),
        subtitle=said(
            "Speed-up divided by the number of devices. The base is the plain single-device version."
        ),
        caption=_caption(series),
        alt=_alt(series),
        panels=tuple(_panel(panel, rows, analysis) for panel, rows in panels),
        table=_table(series, analysis),
        height=110 + ROW_HEIGHT * tallest,
        narrow_height=110 * len(panels) + ROW_HEIGHT * total,
    )


def _points(one: SeriesSummary) -> list[SeriesPoint]:
    return sorted(
        (p for p in one.points if p.efficiency is not None and p.devices > 1), key=lambda p: p.devices
    )


def _rows(panel: Sequence[SeriesSummary], analysis: Analysis) -> list[Row]:
    return [
        Row(position, label, one, point)
        for position, (one, label) in enumerate(zip(panel, series_labels(panel, analysis), strict=True))
        for point in _points(one)
    ]


def _panel(panel: Sequence[SeriesSummary], rows: Sequence[Row], analysis: Analysis) -> Panel:
    marks: list[Mark] = [Rule(at=1.0, along="x", token=REFERENCE, label=said("ideal"))]
    for at, row in enumerate(rows):
        token, marker = look(row.position)
        shares = tuple(
            trial.rate / (row.one.base_rate.value * row.point.devices)
            for trial in trials_of(analysis, row.point.cell_id)
            if trial.rate is not None and row.one.base_rate
        )
        if shares:
            marks.append(Points(x=shares, y=(float(at),) * len(shares), token=token, hollow=True, small=True))
        if row.point.efficiency:
            marks.append(
                Whisker(
                    at=float(at),
                    estimate=row.point.efficiency,
                    token=token,
                    along="x",
                    marker=marker,
                    hollow=row.point.oversubscribed,
                    value_label=alone(Num(value=row.point.efficiency.value, style="percent")),
                )
            )
    return Panel(
        title=panel_title(panel),
        x=Axis(title=said("Efficiency"), style="percent", start=0.0),
        y=Axis(
            title=UNTITLED,
            categories=tuple(
                said("{series} × {devices}", series=row.label, devices=count(row.point.devices))
                for row in rows
            ),
        ),
        marks=tuple(marks),
    )


def _caption(series: Sequence[SeriesSummary]) -> Text:
    if any(point.oversubscribed for one in series for point in _points(one)):
        return said(
            "The dashed line is ideal. Small rings are trials; whiskers are confidence intervals. At hollow"
            " marks more threads ran than the machine has cores."
        )
    return said("The dashed line is ideal. Small rings are trials; whiskers are confidence intervals.")


def _alt(series: Sequence[SeriesSummary]) -> Text:
    reached: tuple[Slot, ...] = tuple(
        said(
            "{model} ({task}) {efficiency} on {devices}",
            model=Name(text=series_model(one).text[:20]),
            task=TASKS[one.task],
            efficiency=Num(value=point.efficiency.value, style="percent"),
            devices=count(point.devices),
        )
        for one in series
        for point in _points(one)[-1:]
        if point.efficiency
    )[:3]
    return said(
        "Dot plot of scaling efficiency by series and number of devices: {reached}. All numbers are in the"
        " table below.",
        reached=Listing(items=reached),
    )


def _table(series: Sequence[SeriesSummary], analysis: Analysis) -> Table:
    return Table(
        key="t-fig-efficiency",
        caption=said("Efficiency by number of devices, with its confidence interval."),
        columns=(
            *series_columns(),
            Column(key="devices", title=said("Devices"), style="integer"),
            Column(key="efficiency_share", title=said("Efficiency"), style="percent"),
        ),
        rows=tuple(
            (
                *series_entries(one, analysis),
                count(point.devices),
                entry(estimate(point.efficiency, "percent"), point.unknown.get("efficiency", "")),
            )
            for one in series
            for point in one.points
        ),
    )
