"""More devices: what was found when devices were added, with figures and the table of all series."""

from collections.abc import Sequence
from typing import NamedTuple

from study.article.labels import series_columns, series_entries
from study.article.material import Material
from study.article.panels import shown_series
from study.article.words import (
    ONE_DEVICE,
    STRONG_ONLY,
    WEAK_ONLY,
    a_second,
    count,
    entry,
    estimate,
    shared_unit,
    unit_column,
)
from study.domain.article import SectionOfArticle, TableBlock
from study.domain.estimate import Estimate
from study.domain.figure import Column, Missing, Table, TableCell
from study.domain.study import Scaling
from study.domain.summary import Analysis, SeriesPoint, SeriesSummary
from study.domain.text import Text, said


def section(material: Material) -> SectionOfArticle | Text:
    """Left out when no series has a measured cell on more than one device."""
    series = shown_series(material.analysis)
    if not _on_more_devices(series):
        if _on_more_devices(material.analysis.series):
            return said(
                "There is no section on more devices: only the check of the instrument ran on more than one."
            )
        return said("There is no section on more devices: no cell on more than one device was measured.")
    return SectionOfArticle(
        key="more",
        title=said("More devices"),
        blocks=(
            *material.findings_as_prose("more"),
            *material.figure_blocks("more"),
            TableBlock(table=_table(series, material.analysis)),
        ),
    )


def _on_more_devices(series: Sequence[SeriesSummary]) -> bool:
    return any(point.devices > 1 and point.rate for one in series for point in one.points)


class Ratio(NamedTuple):
    """A column that stands only if some point has a value in it; `scaling` is the one that defines it."""

    field: str
    column: Column
    scaling: Scaling | None = None

    def of(self, point: SeriesPoint) -> Estimate | None:
        value: Estimate | None = getattr(point, self.field)
        return value

    def entry(self, point: SeriesPoint, scaling: Scaling) -> TableCell:
        """The ratio, or the reason why there is none; a loss without an interval says nothing."""
        held = self.of(point)
        if held is not None and held.low is None and self.scaling is not None:
            return Missing(reason=NO_INTERVAL)
        defined = self.scaling in {None, scaling}
        otherwise = ONE_DEVICE if defined else STRONG_ONLY if self.scaling == "strong" else WEAK_ONLY
        return entry(estimate(held, self.column.style), point.unknown.get(self.field, ""), otherwise)


NO_INTERVAL = said("Left out: without an interval it cannot be told from zero.")

RATIOS = (
    Ratio("speedup", Column(key="speedup", title=said("Speed-up"), style="times")),
    Ratio("own_speedup", Column(key="own_speedup", title=said("Speed-up over own code"), style="times")),
    Ratio("efficiency", Column(key="efficiency_share", title=said("Efficiency"), style="percent")),
    Ratio(
        "karp_flatt",
        Column(key="serial_share", title=said("Serial fraction (Karp-Flatt)"), style="percent"),
        "strong",
    ),
    Ratio("overhead", Column(key="overhead_share", title=said("Overhead"), style="percent"), "weak"),
)


def _table(series: tuple[SeriesSummary, ...], analysis: Analysis) -> Table:
    """All series, one row a device count; the base, which is no result, stands beside its results."""
    unit = shared_unit({one.unit for one in series})
    rows = [(one, point) for one in series for point in one.points if not _is_base(one, point)]
    ratios = tuple(ratio for ratio in RATIOS if any(ratio.of(point) for _, point in rows))
    return Table(
        key="t-scaling",
        caption=said(
            "Every series with its absolute rates, the base, and what was lost on the way; intervals are"
            " pointwise."
        ),
        columns=(
            *series_columns(),
            Column(key="devices", title=said("Devices"), style="integer"),
            Column(key="rate_per_s", title=said("Rate"), style="rate", unit=unit),
            Column(key="base_per_s", title=said("Base"), style="rate", unit=unit),
            unit_column(),
            *(ratio.column for ratio in ratios),
        ),
        rows=tuple(_row(one, point, analysis, ratios) for one, point in rows),
    )


def _is_base(one: SeriesSummary, point: SeriesPoint) -> bool:
    """Whether a point is the one that all others of its series are compared with."""
    return point.cell_id == one.series.base and len(one.points) > 1


def _row(
    one: SeriesSummary, point: SeriesPoint, analysis: Analysis, ratios: tuple[Ratio, ...]
) -> tuple[TableCell, ...]:
    return (
        *series_entries(one, analysis),
        count(point.devices),
        entry(estimate(point.rate, "rate", one.unit), point.unknown.get("rate", "")),
        entry(estimate(one.base_rate, "rate", one.unit, "value"), one.unknown.get("base_rate", "")),
        a_second(one.unit),
        *(ratio.entry(point, one.series.scaling) for ratio in ratios),
    )
