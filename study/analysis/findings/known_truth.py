"""The instrument on trial: does the interval contain a speed-up that is known in advance?"""

from study.analysis import caveats, claims, evidence
from study.analysis.parts import Parts
from study.domain.estimate import Estimate
from study.domain.finding import Evidence, Finding
from study.domain.summary import SeriesPoint, SeriesSummary
from study.domain.text import Num, Slot, said

FACTS = {
    "summary": "Measured speed-ups of the sleeping workload against the true ones.",
    "section": "checks",
    "rank": 30,
}

FRAMES = {
    "contained": (
        "The true speed-up of {workload} on {devices} devices is {truth}; the measured one is {speedup}, "
        "and its interval contains the truth."
    ),
    "within": (
        "The true speed-up of {workload} on {devices} devices is {truth}; the measured one is {speedup}, "
        "and its interval does not contain the truth, but lies within the margin of {margin} around it."
    ),
    "missed": (
        "The true speed-up of {workload} on {devices} devices is {truth}; the measured one is {speedup}, "
        "and its interval does not contain the truth and reaches beyond the margin of {margin} around it."
    ),
    "too_few": (
        "The true speed-up of {workload} on {devices} devices is {truth}; the measured one was {value}, "
        "and fewer than three trials do not allow an interval."
    ),
    "chance": "One interval in twenty misses the truth by chance.",
    "short": (
        "The measured speed-up of {workload} on {devices} devices is {value}, and the true one is {truth}."
    ),
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each point above one device whose true speed-up is known and that was measured."""
    return [
        _claim(parts, series, point, point.speedup, point.truth)
        for series in parts.series
        for point in series.points
        if point.devices > 1 and point.truth is not None and point.speedup is not None
    ]


def outcome(speedup: Estimate, truth: float, margin: float) -> str:
    """Whether the interval contains the truth, or at least lies within the margin around it."""
    if speedup.low is None or speedup.high is None:
        return "too_few"
    if speedup.low <= truth <= speedup.high:
        return "contained"
    near = truth / (1 + margin) <= speedup.low and speedup.high <= truth * (1 + margin)
    return "within" if near else "missed"


def _claim(
    parts: Parts, series: SeriesSummary, point: SeriesPoint, speedup: Estimate, truth: float
) -> Finding:
    cell, base = parts.cell(point.cell_id), series.series.base
    involved = [point.cell_id, *([base] if base else [])]
    # Ranks that sleep hardly need a core, so oversubscription disturbs nothing here.
    disturbed = caveats.disturbances(parts, *involved, cores=False)
    slots: dict[str, Slot] = {
        "workload": claims.workload(cell.cell),
        "devices": claims.whole(point.devices),
        "truth": Num(value=truth, style="ratio"),
        "speedup": claims.ratio(speedup),
        "value": claims.bare_ratio(speedup),
        "margin": claims.percent(parts.margin),
    }
    found = outcome(speedup, truth, parts.margin)
    missed = [said(FRAMES["chance"])] if found in ("within", "missed") else []
    level: Evidence = evidence.of_value(speedup, parts.margin, flagged=bool(disturbed))
    return claims.claim(
        key=f"known-truth.{series.series.key}.x{point.devices}",
        shelf="known-truth",
        section="checks",
        sentence=claims.worded(FRAMES[found], slots),
        short=claims.worded(FRAMES["short"], slots),
        evidence=level,
        note=evidence.trials_each(speedup.n),
        estimate=speedup,
        style="times",
        verdict=point.verdict,
        table="t-truth",
        trials=[trial.trial for trial in parts.measured_of(*involved)],
        caveats=[*disturbed, *missed],
    )
