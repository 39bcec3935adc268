"""The claims about one series: each device count against one device, worded by the frames of a task."""

from collections.abc import Mapping

from study.analysis import caveats, claims, evidence, reasons
from study.analysis.parts import Parts
from study.domain.finding import Finding
from study.domain.summary import CellSummary, SeriesPoint, SeriesSummary
from study.domain.text import Slot

SENTENCES = ("clear", "small", "within", "same", "open", "too_few", "no_base", "implausible")
"""The verdicts that need a sentence of their own, for `strong_<name>` and `weak_<name>`."""

SHORTS = ("short_strong", "short_weak", "short_same", "short_open", "short_rate")


def scaling_claims(parts: Parts, *, shelf: str, task: str, frames: Mapping[str, str]) -> list[Finding]:
    """One finding for each series of `task` and each count above one that is not oversubscribed.

    The largest count of a series asks for a place in the findings box.
    """
    found: list[Finding] = []
    for series in parts.series:
        if series.task != task:
            continue
        points = [p for p in series.points if p.devices > 1 and not p.oversubscribed and p.rate]
        found += [
            _claim(parts, shelf, frames, series, point, headline=point is points[-1]) for point in points
        ]
    return found


def wording(point: SeriesPoint) -> str:
    """Which sentence a point gets: its verdict, with the reason where nothing was compared."""
    verdict = point.verdict
    if verdict is None or verdict.kind == "not_compared":
        if verdict is not None and verdict.reason == reasons.TOO_FEW:
            return "too_few"
        return "implausible" if verdict and verdict.reason == reasons.IMPLAUSIBLE else "no_base"
    return "within" if verdict.also_same else verdict.kind


def held_batch(series: SeriesSummary, cell: CellSummary) -> int:
    """The batch that the series holds: the global one under strong scaling, else that of a device."""
    return cell.cell.batch if series.series.scaling == "strong" else cell.cell.batch // cell.cell.devices


def _claim(
    parts: Parts,
    shelf: str,
    frames: Mapping[str, str],
    series: SeriesSummary,
    point: SeriesPoint,
    *,
    headline: bool,
) -> Finding:
    cell, base = parts.cell(point.cell_id), series.series.base
    involved = [point.cell_id, *([base] if base else [])]
    disturbed = caveats.disturbances(parts, *involved)
    flagged = bool(disturbed) or caveats.is_superlinear(point)
    kind = wording(point)
    strong = series.series.scaling == "strong"
    short = {"same": "short_same", "open": "short_open"}.get(kind, "short_strong" if strong else "short_weak")
    if point.speedup is None or kind == "too_few":
        short = "short_rate"
    slots = _slots(parts, series, point, cell)
    compared = kind not in ("too_few", "no_base", "implausible")
    return claims.claim(
        key=f"{shelf}.{series.series.key}.x{point.devices}",
        shelf=shelf,
        section="more_devices",
        sentence=claims.worded(frames[f"{series.series.scaling}_{kind}"], slots),
        short=claims.worded(frames[short], slots),
        evidence=evidence.of_comparison(point.verdict, _n(point), flagged=flagged),
        note=evidence.trials_each(_n(point)),
        estimate=point.speedup if compared else point.rate,
        style="times" if compared else "rate",
        unit="" if compared else cell.unit,
        verdict=point.verdict,
        table="t-scaling",
        figure="fig-speedup" if strong else "fig-efficiency",
        headline=headline and compared,
        weight=claims.size(point.speedup) if compared else 0.0,
        trials=[trial.trial for trial in parts.measured_of(*involved)],
        caveats=[
            *caveats.of_verdict(point.verdict),
            *caveats.of_scaling(series, point),
            *disturbed,
            *(caveats.of_margin(parts, *involved) if compared else ()),
        ],
    )


def _n(point: SeriesPoint) -> int:
    shown = point.speedup or point.rate
    return shown.n if shown else 0


def _slots(parts: Parts, series: SeriesSummary, point: SeriesPoint, cell: CellSummary) -> dict[str, Slot]:
    slots: dict[str, Slot] = {
        "workload": claims.workload(cell.cell),
        "devices": claims.whole(point.devices),
        "strategy": claims.code(series.series.strategy),
        "batch": claims.whole(held_batch(series, cell)),
        "margin": claims.percent(parts.margin),
    }
    if point.rate is not None:
        slots["rate"] = claims.bare_rate(cell, point.rate)
    if series.base_rate is not None:
        slots["base"] = claims.bare_rate(cell, series.base_rate)
    if point.speedup is not None:
        slots["speedup"] = claims.ratio(point.speedup)
        slots["ratio"] = claims.bare_ratio(point.speedup)
    if point.efficiency is not None:
        slots["efficiency"] = claims.share(point.efficiency)
    return slots
