"""What the figures of scaling have in common: which points lead, and the table of a ratio by device count."""

from collections.abc import Callable, Sequence

from study.article.box import cells_of
from study.article.labels import series_columns, series_entries
from study.article.words import TASKS, count, series_model
from study.domain.figure import Column, Table, TableCell
from study.domain.finding import Finding
from study.domain.summary import Analysis, SeriesPoint, SeriesSummary
from study.domain.text import Est, Listing, Name, Text, said

LONGEST_MODEL = 24
MOST_NAMED = 3
"""A chart's spoken description names a model in so many letters, and so many numbers."""


def undisturbed(points: Sequence[SeriesPoint]) -> SeriesPoint | None:
    """The point on most devices on which every thread had a core of its own, if it is more than the base."""
    free = [point for point in points if not point.oversubscribed and point.devices > 1]
    return max(free, key=lambda point: point.devices, default=None)


def reached(
    series: Sequence[SeriesSummary],
    analysis: Analysis,
    finding: Finding | None,
    points_of: Callable[[SeriesSummary], Sequence[SeriesPoint]],
    ratio: Callable[[SeriesPoint], Est | None],
) -> Listing:
    """Up to three numbers for those who hear a chart: first that of the finding which is its title."""
    about = cells_of(finding, analysis) if finding else frozenset()
    named: list[tuple[bool, Text]] = []
    for one in series:
        points = points_of(one)
        titled = [p for p in points if p.cell_id in about and p.cell_id != one.series.base]
        point = titled[-1] if titled else undisturbed(points) or points[-1]
        value = ratio(point)
        if value is not None:
            sentence = said(
                "{model} ({task}) {ratio} on {devices}",
                model=Name(text=series_model(one).text[:LONGEST_MODEL]),
                task=TASKS[one.task],
                ratio=value,
                devices=count(point.devices),
            )
            named.append((not titled, sentence))
    ordered = sorted(named, key=lambda entry: entry[0])
    return Listing(items=tuple(sentence for _, sentence in ordered[:MOST_NAMED]))


def table_by_devices(
    key: str,
    caption: Text,
    rows: Sequence[tuple[SeriesSummary, SeriesPoint]],
    analysis: Analysis,
    values: Sequence[tuple[Column, Callable[[SeriesSummary, SeriesPoint], TableCell]]],
) -> Table:
    """One row a series and device count, with a column for each value."""
    return Table(
        key=key,
        caption=caption,
        columns=(
            *series_columns(),
            Column(key="devices", title=said("Devices"), style="integer"),
            *(column for column, _ in values),
        ),
        rows=tuple(
            (
                *series_entries(one, analysis),
                count(point.devices),
                *(value(one, point) for _, value in values),
            )
            for one, point in rows
        ),
    )
