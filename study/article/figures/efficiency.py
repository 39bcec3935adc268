"""Scaling efficiency as dots with intervals: speed-up divided by the number of devices, one row a count."""

from collections.abc import Sequence
from typing import NamedTuple

from study.article.captions import caption
from study.article.labels import series_labels
from study.article.material import relevant_finding, trials_of
from study.article.panels import REFERENCE, Look, grouped, looks, panel_title, shown_series
from study.article.reached import reached, table_by_devices
from study.article.words import UNTITLED, alone, count, entry, estimate
from study.domain.figure import Axis, Column, Figure, Mark, Panel, Points, Rule, Table, Whisker
from study.domain.finding import Finding
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, SeriesPoint, SeriesSummary
from study.domain.text import Text, said

FACTS = {"summary": "scaling efficiency by number of devices", "section": "more", "rank": 20}

MISSING = said(
    "There is no figure of efficiency: no series has a measured base and a measured cell on more devices."
)

ROW_HEIGHT = 34
"""Pixels for one row of dots, so that labels never touch."""


class Row(NamedTuple):
    """One dot: a series at one device count, under its label and with its look."""

    look: Look
    label: Text
    one: SeriesSummary
    point: SeriesPoint


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:  # noqa: ARG001 - contract
    """Efficiency at every device count above one; None without a base or without several devices."""
    series = tuple(one for one in shown_series(analysis) if one.base_rate and _points(one))
    if not series:
        return None
    finding = relevant_finding(analysis, "fig-efficiency")
    look_of = looks(series)
    rows = [
        (panel, _rows(panel, look_of, analysis)) for panel in grouped(series, lambda one: one.series.scaling)
    ]
    panels = tuple(_panel(panel, of_panel, analysis) for panel, of_panel in rows)
    tallest = max(len(of_panel) for _, of_panel in rows)
    total = sum(len(of_panel) for _, of_panel in rows)
    return Figure(
        key="fig-efficiency",
        title=finding.short if finding else said("Share of the ideal speed-up that was reached"),
        subtitle=said(
            "Speed-up divided by the number of devices. The base is the plain single-device version."
        ),
        caption=caption(panels, said("The dashed line is ideal.")),
        alt=_alt(series, analysis, finding),
        panels=panels,
        table=_table(series, analysis),
        height=110 + ROW_HEIGHT * tallest,
        narrow_height=110 * len(panels) + ROW_HEIGHT * total,
    )


def _points(one: SeriesSummary) -> list[SeriesPoint]:
    return sorted(
        (p for p in one.points if p.efficiency is not None and p.devices > 1), key=lambda p: p.devices
    )


def _rows(panel: Sequence[SeriesSummary], look_of: dict[str, Look], analysis: Analysis) -> list[Row]:
    return [
        Row(look_of[one.series.key], label, one, point)
        for one, label in zip(panel, series_labels(panel, analysis), strict=True)
        for point in _points(one)
    ]


def _panel(panel: Sequence[SeriesSummary], rows: Sequence[Row], analysis: Analysis) -> Panel:
    marks: list[Mark] = [Rule(at=1.0, along="x", token=REFERENCE, label=said("ideal"))]
    for at, row in enumerate(rows):
        token, marker = row.look
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
                    value_label=_value(row.point),
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


def _value(point: SeriesPoint) -> Text | None:
    held = estimate(point.efficiency, "percent", show="value")
    return None if held is None else alone(held)


def _alt(series: Sequence[SeriesSummary], analysis: Analysis, finding: Finding | None) -> Text:
    return said(
        "Dot plot of scaling efficiency by series and number of devices: {reached}. All numbers are in the"
        " table below.",
        reached=reached(
            series,
            analysis,
            finding,
            _points,
            lambda point: estimate(point.efficiency, "percent", show="value"),
        ),
    )


def _table(series: Sequence[SeriesSummary], analysis: Analysis) -> Table:
    return table_by_devices(
        "t-fig-efficiency",
        said("Efficiency by number of devices, with its pointwise confidence interval."),
        [(one, point) for one in series for point in _points(one)],
        analysis,
        (
            (
                Column(key="efficiency_share", title=said("Efficiency"), style="percent"),
                lambda _, point: entry(
                    estimate(point.efficiency, "percent"), point.unknown.get("efficiency", "")
                ),
            ),
        ),
    )
