"""More ranks than cores: what happens when devices share processor cores. It is not called scaling."""

from study.analysis import caveats, claims, evidence
from study.analysis.labels import held_batch
from study.analysis.parts import Parts
from study.analysis.scaling_claims import is_compared, wording
from study.analysis.terms import SCALINGS, TASKS
from study.domain.finding import Finding
from study.domain.summary import SeriesPoint, SeriesSummary
from study.domain.text import Slot

FACTS = {
    "summary": "Throughput with more ranks than processor cores, against one device.",
    "section": "checks",
    "rank": 31,
}

FRAMES = {
    "clear": (
        "With {threads} threads on {cores} cores (oversubscribed), throughput of {workload} on {devices} "
        "devices is {speedup} times that of one device ({base}; {task}, {scaling}, {strategy}, batch: "
        "{batch})."
    ),
    "small": (
        "With {threads} threads on {cores} cores (oversubscribed), throughput of {workload} on {devices} "
        "devices is {speedup} times that of one device ({base}; {task}, {scaling}, {strategy}, batch: "
        "{batch}); this difference is measurable, but not shown to exceed the margin of {margin} set in "
        "the plan."
    ),
    "within": (
        "With {threads} threads on {cores} cores (oversubscribed), throughput of {workload} on {devices} "
        "devices is {speedup} times that of one device ({base}; {task}, {scaling}, {strategy}, batch: "
        "{batch}); this difference is measurable and within the margin of {margin} set in the plan."
    ),
    "same": (
        "With {threads} threads on {cores} cores (oversubscribed), throughput of {workload} on {devices} "
        "devices shows no difference of practical size from that of one device ({base}; {task}, "
        "{scaling}, {strategy}, batch: {batch}): the ratio is {speedup}, within the margin of {margin} "
        "set in the plan."
    ),
    "open": (
        "Whether throughput of {workload} on {devices} devices with {threads} threads on {cores} cores "
        "(oversubscribed) differs from that of one device ({base}; {task}, {scaling}, {strategy}, batch: "
        "{batch}) is not settled: the ratio is {speedup}."
    ),
    "not_compared": (
        "With {threads} threads on {cores} cores (oversubscribed), throughput of {workload} on {devices} "
        "devices was {rate} ({task}, {scaling}, {strategy}, batch: {batch}); it is not compared with one "
        "device."
    ),
    "short": "With {threads} threads on {cores} cores, throughput of {workload} ({task}) is {value}.",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each oversubscribed point of a series whose work needs cores."""
    return [
        _claim(parts, series, point)
        for series in parts.series
        for point in series.points
        if point.devices > 1 and point.oversubscribed and point.rate is not None and point.truth is None
    ]


def _claim(parts: Parts, series: SeriesSummary, point: SeriesPoint) -> Finding:
    cell, base = parts.cell(point.cell_id), series.series.base
    involved = [point.cell_id, *([base] if base else [])]
    kind = wording(point)
    compared, ratio = is_compared(kind), claims.judged(point.verdict)
    shown = ratio if compared else point.rate
    slots: dict[str, Slot] = {
        "workload": claims.workload(cell.cell),
        "devices": claims.whole(point.devices),
        "threads": claims.whole(point.devices * cell.cell.threads_per_device),
        "cores": claims.whole(parts.run.plan.cores_present),
        "task": TASKS[cell.cell.task],
        "scaling": SCALINGS[series.series.scaling],
        "strategy": claims.strategy(parts, cell.cell),
        "batch": claims.whole(held_batch(series.series.scaling, cell.cell)),
        "margin": claims.percent(parts.margin),
    }
    if point.rate is not None:
        slots |= {"rate": claims.rate(cell, point.rate), "value": claims.bare_rate(cell, point.rate)}
    if ratio is not None:
        slots["speedup"] = claims.ratio(ratio)
    if series.base_rate is not None:
        slots["base"] = claims.bare_rate(cell, series.base_rate)
    n = shown.n if shown else 0
    return claims.claim(
        key=f"oversubscription.{series.series.key}.x{point.devices}",
        shelf="oversubscription",
        section="checks",
        sentence=claims.worded(FRAMES[kind if compared else "not_compared"], slots),
        short=claims.worded(FRAMES["short"], slots),
        evidence=evidence.of_comparison(point.verdict, n, flagged=True),
        note=evidence.trials_each(n),
        estimate=shown,
        style="times" if compared else "rate",
        unit="" if compared else cell.unit,
        verdict=point.verdict,
        table="t-scaling",
        weight=claims.size(ratio) if compared else claims.fewer_first(point.devices),
        trials=[trial.trial for trial in parts.measured_of(*involved)],
        caveats=[
            *caveats.of_verdict(point.verdict),
            *caveats.disturbances(parts, *involved, cores=False),
            *caveats.of_states(parts, point.verdict, *involved),
        ],
    )
