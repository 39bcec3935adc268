"""Speed-up over devices against the ideal line: lines with their intervals, and every trial as a point."""

from collections.abc import Iterator, Sequence

from study.article.labels import series_columns, series_entries, series_labels
from study.article.material import relevant_finding, trials_of
from study.article.panels import REFERENCE, look, panel_title, series_panels, shown_series
from study.article.regimes import joined
from study.article.words import TASKS, count, entry, estimate, series_model, shared_unit
from study.domain.estimate import Estimate
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
    "There is no figure of speed-up: no series has a measured base and a measured cell on more devices."
)

MOST_BASES = 4

IDEAL = said("ideal")


def draw(run: Run, records: Sequence[Record], analysis: Analysis) -> Figure | None:  # noqa: ARG001 - contract
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
        table=_table(series, analysis),
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
        style, points = look(position), _points(one)
        marks.extend(_trial_points(one, points, style[0], analysis))
        stretches = _stretches(points, machine)
        for stretch in stretches:
            end = label if stretch is stretches[-1] else None
            marks.extend(_stretch_marks(stretch, style, end, crowded=len(panel) > 1))
    return Panel(
        title=panel_title(panel),
        x=Axis(title=said("Devices"), style="integer", ticks=tuple(float(n) for n in counts)),
        y=Axis(title=said("Speed-up"), style="times", start=0.0),
        marks=tuple(marks),
    )


def _stretch_marks(
    points: Sequence[SeriesPoint], style: tuple[Token, Marker], label: Text | None, *, crowded: bool
) -> Iterator[Mark]:
    """A line and its marks: intervals as a band where series share a panel, else as whiskers."""
    token, marker = style
    measured = [(point, point.speedup) for point in points if point.speedup is not None]
    xs = tuple(float(point.devices) for point, _ in measured)
    ys = tuple(speedup.value for _, speedup in measured)
    bounds = [_bounds(speedup) for _, speedup in measured]
    banded = [(x, *bound) for x, bound in zip(xs, bounds, strict=True) if bound is not None]
    as_band = crowded and len(banded) == len(measured) > 1
    if as_band:
        at, low, high = zip(*banded, strict=True)
        yield Band(x=at, low=low, high=high, token=token)
    end_label = (
        said("{speedup} {series}", speedup=Num(value=ys[-1], style="times"), series=label) if label else None
    )
    yield Line(x=xs, y=ys, token=token, marker="none", label=label, end_label=end_label)
    for (point, speedup), x, y in zip(measured, xs, ys, strict=True):
        hollow = point.oversubscribed
        if as_band:
            yield Points(x=(x,), y=(y,), token=token, marker=marker, hollow=hollow)
        else:
            yield Whisker(at=x, estimate=speedup, token=token, marker=marker, hollow=hollow)


def _bounds(speedup: Estimate) -> tuple[float, float] | None:
    """The interval; an exact value, such as the base's own, is its own interval."""
    if speedup.low is not None and speedup.high is not None:
        return speedup.low, speedup.high
    return (speedup.value, speedup.value) if speedup.method == "exact" else None


def _stretches(points: Sequence[SeriesPoint], machine: Machine) -> list[list[SeriesPoint]]:
    """The points in runs that a line may join: neighbours in one topology regime."""
    stretches: list[list[SeriesPoint]] = []
    for point in points:
        if stretches and joined(machine, stretches[-1][-1].devices, point.devices):
            stretches[-1].append(point)
        else:
            stretches.append([point])
    return stretches


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


def _neutral_title(n: int) -> Text:
    if n == 1:
        return said("Speed-up of one series over the number of devices")
    return said("Speed-up of {n} series over the number of devices", n=count(n))


def _subtitle(series: Sequence[SeriesSummary]) -> Text:
    """The measure and its base; the bases' absolute rates too, if they are few enough for a line."""
    bases = {one.series.base: one for one in series}
    if len(bases) > MOST_BASES:
        return said(
            "Rate relative to the plain single-device version, which is the base. The table gives each base's"
            " rate."
        )
    rates: tuple[Slot, ...] = tuple(
        said("{model} ({task}) {rate}", model=series_model(one), task=TASKS[one.task], rate=rate)
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
            "The dashed line is ideal: every device counts in full. Rings are trials; whiskers and bands"
            " are confidence intervals. At hollow marks more threads ran than the machine has cores."
        )
    return said(
        "The dashed line is ideal: every device counts in full. Small rings are trials; whiskers and bands"
        " are confidence intervals."
    )


def _alt(series: Sequence[SeriesSummary], most: int) -> Text:
    """Chart kind and the two or three numbers that matter; the table has the rest."""
    reached: tuple[Slot, ...] = tuple(
        said(
            "{model} ({task}) {speedup}",
            model=Name(text=series_model(one).text[:24]),
            task=TASKS[one.task],
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


def _table(series: Sequence[SeriesSummary], analysis: Analysis) -> Table:
    return Table(
        key="t-fig-speedup",
        caption=said("Speed-up by number of devices, with its confidence interval and the ideal."),
        columns=(
            *series_columns(),
            Column(key="devices", title=said("Devices"), style="integer"),
            Column(
                key="base_per_s",
                title=said("Base"),
                style="rate",
                unit=shared_unit({one.unit for one in series}),
            ),
            Column(key="speedup", title=said("Speed-up"), style="times"),
            Column(key="ideal", title=said("Ideal"), style="times"),
        ),
        rows=tuple(
            (
                *series_entries(one, analysis),
                count(point.devices),
                entry(estimate(one.base_rate, "rate", one.unit, "value"), one.unknown.get("base_rate", "")),
                entry(estimate(point.speedup, "times"), point.unknown.get("speedup", "")),
                Num(value=float(point.devices), style="times"),
            )
            for one in series
            for point in one.points
        ),
    )
