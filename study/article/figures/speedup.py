"""Speed-up over devices against the ideal line: lines with their intervals, and every trial as a point."""

from collections.abc import Sequence

from study.article.material import relevant_finding, trials_of
from study.article.panels import REFERENCE, look, panel_title, series_labels, series_panels, shown_series
from study.article.regimes import joined
from study.article.words import NOT_MEASURED, SCALINGS, count, entry, estimate
from study.domain.figure import (
    Axis,
    Band,
    Column,
    Figure,
    Line,
    Mark,
    Marker,
    Panel,
    Points,
    Table,
    Token,
    Whisker,
)
from study.domain.machine import Machine
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, SeriesPoint, SeriesSummary
from study.domain.text import Listing, Name, Num, Slot, Text, said

FACTS = {"summary": "speed-up over devices, against the ideal line", "section": "more", "rank": 10}

MISSING = said(
    "There is no figure of speed-up: no series has both a measured base and a measured cell on more devices."
)

IDEAL = said("ideal")


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:
    """Speed-up against the best single-device version; None without a base or without several devices."""
    series = tuple(one for one in shown_series(analysis) if _several(one))
    if not series:
        return None
    finding = relevant_finding(analysis, "fig-speedup")
    most = max(point.devices for one in series for point in _points(one))
    return Figure(
        key="fig-speedup",
        title=finding.short if finding else _neutral_title(len(series)),
        subtitle=_subtitle(series),
        caption=_caption(series),
        alt=_alt(series, most),
        panels=tuple(_panel(panel, run.machine, analysis) for panel in series_panels(series)),
        table=_table(series),
        height=430,
        narrow_height=420,
    )


def _points(one: SeriesSummary) -> list[SeriesPoint]:
    return sorted((p for p in one.points if p.speedup is not None), key=lambda p: p.devices)


def _several(one: SeriesSummary) -> bool:
    return one.base_rate is not None and any(point.devices > 1 for point in _points(one))


def _panel(panel: Sequence[SeriesSummary], machine: Machine, analysis: Analysis) -> Panel:
    counts = sorted({1} | {point.devices for one in panel for point in _points(one)})
    ideal = Line(
        x=(1.0, float(counts[-1])),
        y=(1.0, float(counts[-1])),
        token=REFERENCE,
        marker="none",
        dashed=True,
        label=IDEAL,
    )
    marks: list[Mark] = [ideal]
    for position, (one, label) in enumerate(zip(panel, series_labels(panel, analysis), strict=True)):
        marks.extend(_series_marks(one, label, look(position), len(panel) > 1, machine, analysis))
    return Panel(
        title=panel_title(panel),
        x=Axis(title=said("Devices"), style="integer", ticks=tuple(float(n) for n in counts)),
        y=Axis(title=said("Speed-up"), style="times", start=0.0),
        marks=tuple(marks),
    )


def _series_marks(
    one: SeriesSummary,
    label: Text,
    style: tuple[Token, Marker],
    crowded: bool,
    machine: Machine,
    analysis: Analysis,
) -> list[Mark]:
    """One series: bands where several series share a panel, whiskers where it stands alone."""
    token, marker = style
    points = _points(one)
    marks: list[Mark] = _trial_points(one, points, token, analysis)
    stretches = _stretches(points, machine)
    for stretch in stretches:
        xs = tuple(float(p.devices) for p in stretch)
        ys = tuple(p.speedup.value for p in stretch if p.speedup)
        banded = [p for p in stretch if p.speedup and p.speedup.low is not None]
        last = stretch is stretches[-1]
        if crowded and len(banded) > 1:
            marks.append(_band(banded, token))
        marks.append(
            Line(
                x=xs,
                y=ys,
                token=token,
                marker="none",
                label=label if last else None,
                end_label=_end_label(stretch[-1], label) if last else None,
            )
        )
        whiskered = () if crowded and len(banded) > 1 else stretch
        marks.extend(
            Whisker(
                at=float(p.devices),
                estimate=p.speedup,
                token=token,
                marker=marker,
                hollow=p.oversubscribed,
            )
            for p in whiskered
            if p.speedup
        )
        if not whiskered:
            marks.extend(
                Points(
                    x=(float(p.devices),),
                    y=(p.speedup.value,),
                    token=token,
                    marker=marker,
                    hollow=p.oversubscribed,
                )
                for p in stretch
                if p.speedup
            )
    return marks


def _stretches(points: Sequence[SeriesPoint], machine: Machine) -> list[list[SeriesPoint]]:
    """The points in runs that a line may join: neighbours in one topology regime."""
    stretches: list[list[SeriesPoint]] = []
    for point in points:
        if stretches and joined(machine, stretches[-1][-1].devices, point.devices):
            stretches[-1].append(point)
        else:
            stretches.append([point])
    return stretches


def _band(points: Sequence[SeriesPoint], token: Token) -> Band:
    intervals = [(p.devices, p.speedup.low, p.speedup.high) for p in points if p.speedup]
    return Band(
        x=tuple(float(n) for n, _, _ in intervals),
        low=tuple(low for _, low, _ in intervals if low is not None),
        high=tuple(high for _, _, high in intervals if high is not None),
        token=token,
    )


def _trial_points(
    one: SeriesSummary, points: Sequence[SeriesPoint], token: Token, analysis: Analysis
) -> list[Mark]:
    """Every trial's rate over the base's rate: what the interval summarises, drawn beside it."""
    base = one.base_rate.value if one.base_rate else 1.0
    pairs = [
        (float(point.devices), trial.rate / base)
        for point in points
        for trial in trials_of(analysis, point.cell_id)
        if trial.rate is not None
    ]
    if not pairs:
        return []
    xs, ys = zip(*pairs, strict=True)
    return [Points(x=xs, y=ys, token=token, hollow=True, small=True)]


def _end_label(point: SeriesPoint, label: Text) -> Text:
    value = point.speedup.value if point.speedup else 0.0
    return said("{speedup} {series}", speedup=Num(value=value, style="times"), series=label)


def _neutral_title(n: int) -> Text:
    if n == 1:
        return said("Speed-up of one series over the number of devices")
    return said("Speed-up of {n} series over the number of devices", n=count(n))


def _subtitle(series: Sequence[SeriesSummary]) -> Text:
    """The measure, its base and the base's absolute rate, once for every distinct base."""
    bases = {(one.label, one.series.base): one for one in series}
    rates: tuple[Slot, ...] = tuple(
        said("{series}: {rate}", series=Name(text=one.label), rate=rate)
        for one in bases.values()
        if (rate := estimate(one.base_rate, "rate", one.unit, "value")) is not None
    )
    return said(
        "Rate relative to the plain single-device version, which is the base. Rates of the bases: {rates}.",
        rates=Listing(items=rates),
    )


def _caption(series: Sequence[SeriesSummary]) -> Text:
    if any(point.oversubscribed for one in series for point in _points(one)):
        return said(
            "The dashed line is ideal: every device counts in full. Small rings are trials; whiskers and bands"
            " are confidence intervals. At hollow marks more processes ran than the machine has processors."
        )
    return said(
        "The dashed line is ideal: every device counts in full. Small rings are trials, whiskers and bands"
        " are confidence intervals."
    )


def _alt(series: Sequence[SeriesSummary], most: int) -> Text:
    """Chart kind and the two or three numbers that matter; the table has the rest."""
    reached: tuple[Slot, ...] = tuple(
        said(
            "{series} {speedup}",
            series=Name(text=one.label[:30]),
            speedup=Num(value=point.speedup.value, style="times"),
        )
        for one in series
        for point in _points(one)[-1:]
        if point.speedup
    )[:3]
    return said(
        "Line chart of speed-up on up to {devices} devices beside the ideal line: {reached}. All numbers are"
        " in the table below.",
        devices=count(most),
        reached=Listing(items=reached),
    )


def _table(series: Sequence[SeriesSummary]) -> Table:
    return Table(
        key="t-fig-speedup",
        caption=said("Speed-up by number of devices, with its confidence interval and the ideal."),
        columns=(
            Column(key="series", title=said("Series"), numeric=False),
            Column(key="strategy", title=said("Strategy"), numeric=False),
            Column(key="scaling", title=said("Scaling"), numeric=False),
            Column(key="devices", title=said("Devices"), style="integer"),
            Column(key="speedup", title=said("Speed-up"), style="times"),
            Column(key="ideal", title=said("Ideal"), style="times"),
        ),
        rows=tuple(
            (
                Name(text=one.label),
                Name(text=one.series.strategy, code=True),
                SCALINGS[one.series.scaling],
                count(point.devices),
                entry(estimate(point.speedup, "times"), point.unknown.get("speedup", ""), NOT_MEASURED),
                Num(value=float(point.devices), style="times"),
            )
            for one in series
            for point in one.points
        ),
    )
