"""The claims about one series: each device count against one device, for training and for inference."""

from study.analysis import caveats, claims, evidence, reasons
from study.analysis.intervals import mapped
from study.analysis.labels import held_batch
from study.analysis.parts import Parts
from study.analysis.terms import OPENINGS, THROUGHPUTS
from study.domain.finding import Finding
from study.domain.study import Task
from study.domain.summary import CellSummary, SeriesPoint, SeriesSummary
from study.domain.text import Slot

SENTENCES = ("clear", "small", "within", "same", "open", "too_few", "no_base", "implausible")
"""The verdicts that need a sentence of their own, for `strong_<name>` and `weak_<name>`."""

FRAMES = {
    "strong_clear": (
        "{opening} of {workload} on {devices} devices is {speedup} times that of one device ({base}), with "
        "the global batch held at {batch} (strong scaling, {strategy})."
    ),
    "strong_small": (
        "{opening} of {workload} on {devices} devices is {speedup} times that of one device ({base}), with "
        "the global batch held at {batch} (strong scaling, {strategy}); this difference is measurable, but "
        "not shown to exceed the margin of {margin} set in the plan."
    ),
    "strong_within": (
        "{opening} of {workload} on {devices} devices is {speedup} times that of one device ({base}), with "
        "the global batch held at {batch} (strong scaling, {strategy}); this difference is measurable and "
        "within the margin of {margin} set in the plan."
    ),
    "strong_same": (
        "{opening} of {workload} on {devices} devices and on one device ({base}) shows no difference of "
        "practical size, with the global batch held at {batch} (strong scaling, {strategy}): the ratio is "
        "{speedup}, within the margin of {margin} set in the plan."
    ),
    "strong_open": (
        "Whether {throughput} of {workload} on {devices} devices differs from that of one device ({base}) "
        "is not settled, with the global batch held at {batch} (strong scaling, {strategy}): the ratio is "
        "{speedup}."
    ),
    "strong_too_few": (
        "{opening} of {workload} on {devices} devices was {rate}, with the global batch held at {batch} "
        "(strong scaling, {strategy}); fewer than three trials do not allow a comparison with one device."
    ),
    "strong_no_base": (
        "{opening} of {workload} on {devices} devices was {rate}, with the global batch held at {batch} "
        "(strong scaling, {strategy}); there is no measurement on one device to compare it with."
    ),
    "strong_implausible": (
        "{opening} of {workload} on {devices} devices was {rate}, with the global batch held at {batch} "
        "(strong scaling, {strategy}); no speed-up is stated, as it would lie more than half above the "
        "number of devices."
    ),
    "weak_clear": (
        "{opening} of {workload} on {devices} devices is {speedup} times that of one device ({base}), with "
        "the batch per device held at {batch} (weak scaling, {strategy})."
    ),
    "weak_small": (
        "{opening} of {workload} on {devices} devices is {speedup} times that of one device ({base}), with "
        "the batch per device held at {batch} (weak scaling, {strategy}); this difference is measurable, "
        "but not shown to exceed the margin of {margin} set in the plan."
    ),
    "weak_within": (
        "{opening} of {workload} on {devices} devices is {speedup} times that of one device ({base}), with "
        "the batch per device held at {batch} (weak scaling, {strategy}); this difference is measurable "
        "and within the margin of {margin} set in the plan."
    ),
    "weak_same": (
        "{opening} of {workload} on {devices} devices and on one device ({base}) shows no difference of "
        "practical size, with the batch per device held at {batch} (weak scaling, {strategy}): the ratio "
        "is {speedup}, within the margin of {margin} set in the plan."
    ),
    "weak_open": (
        "Whether {throughput} of {workload} on {devices} devices differs from that of one device ({base}) "
        "is not settled, with the batch per device held at {batch} (weak scaling, {strategy}): the ratio "
        "is {speedup}."
    ),
    "weak_too_few": (
        "{opening} of {workload} on {devices} devices was {rate}, with the batch per device held at "
        "{batch} (weak scaling, {strategy}); fewer than three trials do not allow a comparison with one "
        "device."
    ),
    "weak_no_base": (
        "{opening} of {workload} on {devices} devices was {rate}, with the batch per device held at "
        "{batch} (weak scaling, {strategy}); there is no measurement on one device to compare it with."
    ),
    "weak_implausible": (
        "{opening} of {workload} on {devices} devices was {rate}, with the batch per device held at "
        "{batch} (weak scaling, {strategy}); no speed-up is stated, as it would lie more than half above "
        "the number of devices."
    ),
    "short_strong": "{opening} of {workload} on {devices} devices is {ratio} times that of one.",
    "short_weak": (
        "{opening} of {workload} on {devices} devices has a weak-scaling efficiency of {efficiency}."
    ),
    "short_small": (
        "{opening} of {workload} on {devices} devices is {ratio} times that of one; this is not shown to "
        "exceed the margin of {margin}."
    ),
    "short_within": (
        "{opening} of {workload} on {devices} devices is {ratio} times that of one; this is within the "
        "margin of {margin}."
    ),
    "short_same": (
        "{opening} of {workload} on {devices} devices and on one shows no difference of practical size."
    ),
    "short_open": (
        "Whether {throughput} of {workload} on {devices} devices differs from that on one is not settled."
    ),
    "short_not_compared": (
        "{opening} of {workload} on {devices} devices was {rate}; it is not compared with that of one."
    ),
}


def scaling_claims(parts: Parts, *, shelf: str, task: Task) -> list[Finding]:
    """One finding for each series of `task` and each count above one that is not oversubscribed.

    The largest count of a series asks for a place in the findings box.
    """
    found: list[Finding] = []
    for series in parts.series:
        if series.task != task:
            continue
        points = [p for p in series.points if p.devices > 1 and not p.oversubscribed and p.rate]
        found += [_claim(parts, shelf, series, point, headline=point is points[-1]) for point in points]
    return found


def wording(point: SeriesPoint) -> str:
    """Which sentence a point gets: its verdict, with the reason where nothing was compared."""
    verdict = point.verdict
    if verdict is None or verdict.kind == "not_compared":
        if verdict is not None and verdict.reason == reasons.TOO_FEW:
            return "too_few"
        return "implausible" if verdict and verdict.reason == reasons.IMPLAUSIBLE else "no_base"
    return "within" if verdict.also_same else verdict.kind


def is_compared(kind: str) -> bool:
    """Whether the sentence of this name states a comparison."""
    return kind not in ("too_few", "no_base", "implausible")


def _claim(parts: Parts, shelf: str, series: SeriesSummary, point: SeriesPoint, *, headline: bool) -> Finding:
    cell, base = parts.cell(point.cell_id), series.series.base
    involved = [point.cell_id, *([base] if base else [])]
    disturbed = (
        *caveats.disturbances(parts, *involved),
        *caveats.of_states(parts, point.verdict, *involved),
    )
    flagged = bool(disturbed) or caveats.is_superlinear(point)
    kind = wording(point)
    strong = series.series.scaling == "strong"
    compared, ratio = is_compared(kind), claims.judged(point.verdict)
    short = f"short_{kind if compared else 'not_compared'}"
    if kind == "clear":
        short = "short_strong" if strong else "short_weak"
    slots = _slots(parts, series, point, cell)
    shown = ratio if compared else point.rate
    n = shown.n if shown else 0
    return claims.claim(
        key=f"{shelf}.{series.series.key}.x{point.devices}",
        shelf=shelf,
        section="more_devices",
        sentence=claims.worded(FRAMES[f"{series.series.scaling}_{kind}"], slots),
        short=claims.worded(FRAMES[short], slots),
        evidence=evidence.of_comparison(point.verdict, n, flagged=flagged),
        note=evidence.trials_each(n),
        estimate=shown,
        style="times" if compared else "rate",
        unit="" if compared else cell.unit,
        verdict=point.verdict,
        table="t-scaling",
        figure="fig-speedup" if strong else "fig-efficiency",
        headline=headline,
        # a superlinear speed-up is a symptom: it is told, and does not lead (method page, "superlinear")
        weight=claims.size(ratio)
        if compared and not caveats.is_superlinear(point)
        else claims.fewer_first(point.devices),
        trials=[trial.trial for trial in parts.measured_of(*involved)],
        caveats=[
            *caveats.of_verdict(point.verdict),
            *caveats.of_scaling(series, point),
            *disturbed,
            *(caveats.of_margin(parts, *involved) if compared else ()),
        ],
    )


def _slots(parts: Parts, series: SeriesSummary, point: SeriesPoint, cell: CellSummary) -> dict[str, Slot]:
    slots: dict[str, Slot] = {
        "opening": OPENINGS[cell.cell.task],
        "throughput": THROUGHPUTS[cell.cell.task],
        "workload": claims.workload(cell.cell),
        "devices": claims.whole(point.devices),
        "strategy": claims.strategy(parts, cell.cell),
        "batch": claims.whole(held_batch(series.series.scaling, cell.cell)),
        "margin": claims.percent(parts.margin),
    }
    if point.rate is not None:
        slots["rate"] = claims.bare_rate(cell, point.rate)
    if series.base_rate is not None:
        slots["base"] = claims.bare_rate(cell, series.base_rate)
    ratio = claims.judged(point.verdict)
    if ratio is not None:
        slots["speedup"] = claims.ratio(ratio)
        slots["ratio"] = claims.bare_ratio(ratio)
        slots["efficiency"] = claims.share(mapped(ratio, lambda s: s / point.devices))
    return slots
