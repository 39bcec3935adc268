"""Speed-up over devices against the ideal line: lines and intervals, and every trial as a point."""

from collections.abc import Iterator, Sequence

from study.article.captions import caption
from study.article.labels import series_labels
from study.article.material import relevant_finding, trials_of
from study.article.panels import REFERENCE, Look, looks, panel_title, series_panels, shown_series
from study.article.reached import reached, table_by_devices, undisturbed
from study.article.regimes import joined
from study.article.words import (
    TASKS,
    a_second,
    count,
    entry,
    estimate,
    series_model,
    shared_unit,
    unit_column,
)
from study.domain.figure import Axis, Column, Figure, Line, Mark, Panel, Points, Table, Token, Whisker
from study.domain.finding import Finding
from study.domain.machine import Machine
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis, SeriesPoint, SeriesSummary
from study.domain.text import Listing, Num, Slot, Text, said

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
    panels = tuple(_panel(panel, looks(series), run.machine, analysis) for panel in series_panels(series))
    return Figure(
        key="fig-speedup",
        title=finding.short if finding else _neutral_title(len(series)),
        subtitle=_subtitle(series),
        caption=caption(panels, said("The dashed line is ideal: every device counts in full.")),
        alt=_alt(series, analysis, finding),
        panels=panels,
        table=_table(series, analysis),
        height=430,
        narrow_height=420,
    )


def _points(one: SeriesSummary) -> list[SeriesPoint]:
    return sorted((p for p in one.points if p.speedup is not None), key=lambda p: p.devices)


def _several(one: SeriesSummary) -> bool:
    return one.base_rate is not None and any(point.devices > 1 for point in _points(one))


def _panel(
    panel: Sequence[SeriesSummary], look_of: dict[str, Look], machine: Machine, analysis: Analysis
) -> Panel:
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
    for one, label in zip(panel, series_labels(panel, analysis), strict=True):
        style, points = look_of[one.series.key], _points(one)
        marks.extend(_trial_points(one, points, style[0], analysis))
        for stretch in _stretches(points, machine):
            marks.extend(_stretch_marks(stretch, style, _end(stretch, points, label)))
    return Panel(
        title=panel_title(panel),
        x=Axis(title=said("Devices"), style="integer", ticks=tuple(float(n) for n in counts)),
        y=Axis(title=said("Speed-up"), style="times", start=0.0),
        marks=tuple(marks),
    )


def _end(stretch: Sequence[SeriesPoint], points: Sequence[SeriesPoint], label: Text) -> Text | None:
    """What stands at the end of a stretch: the last speed-up that devices account for, and the series.

    A series that has none is named at its last point, without a number.
    """
    best = undisturbed(points)
    if best is None:
        return label if stretch[-1] is points[-1] else None
    if stretch[-1] is not best or best.speedup is None:
        return None
    return said("{speedup} {series}", speedup=Num(value=best.speedup.value, style="times"), series=label)


def _stretch_marks(points: Sequence[SeriesPoint], style: Look, end: Text | None) -> Iterator[Mark]:
    """A line and its marks, each with its interval: there is none between two device counts."""
    token, marker = style
    measured = [(float(point.devices), point, point.speedup) for point in points if point.speedup is not None]
    yield Line(
        x=tuple(x for x, _, _ in measured),
        y=tuple(speedup.value for _, _, speedup in measured),
        token=token,
        marker="none",
        end_label=end,
    )
    for x, point, speedup in measured:
        yield Whisker(at=x, estimate=speedup, token=token, marker=marker, hollow=point.oversubscribed)


def _stretches(points: Sequence[SeriesPoint], machine: Machine) -> list[list[SeriesPoint]]:
    """The points in runs that a line may join: neighbours in one topology regime, all with cores or none."""
    stretches: list[list[SeriesPoint]] = []
    for point in points:
        last = stretches[-1][-1] if stretches else None
        alike = last is not None and last.oversubscribed == point.oversubscribed
        if last is not None and alike and joined(machine, last.devices, point.devices):
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


def _alt(series: Sequence[SeriesSummary], analysis: Analysis, finding: Finding | None) -> Text:
    """Chart kind and the two or three numbers that matter; the table has the rest."""
    return said(
        "Line chart of speed-up over devices beside the ideal line: {reached}. All numbers are in the table"
        " below.",
        reached=reached(
            series, analysis, finding, _points, lambda point: estimate(point.speedup, "times", show="value")
        ),
    )


def _table(series: Sequence[SeriesSummary], analysis: Analysis) -> Table:
    unit = shared_unit({one.unit for one in series})
    return table_by_devices(
        "t-fig-speedup",
        said("Speed-up by number of devices, with its pointwise confidence interval, and the ideal."),
        [(one, point) for one in series for point in one.points],
        analysis,
        (
            (
                Column(key="base_per_s", title=said("Base"), style="rate", unit=unit),
                lambda one, _: entry(
                    estimate(one.base_rate, "rate", one.unit, "value"), one.unknown.get("base_rate", "")
                ),
            ),
            (unit_column(), lambda one, _: a_second(one.unit)),
            (
                Column(key="speedup", title=said("Speed-up"), style="times"),
                lambda _, point: entry(estimate(point.speedup, "times"), point.unknown.get("speedup", "")),
            ),
            (
                Column(key="ideal", title=said("Ideal"), style="times"),
                lambda _, point: Num(value=float(point.devices), style="times"),
            ),
        ),
    )
