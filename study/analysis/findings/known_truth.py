"""The instrument on trial: does the interval contain a speed-up that is known in advance?"""

import msgspec

from study.analysis import caveats, claims, evidence
from study.analysis.parts import Parts
from study.analysis.truths import KnownTruth, known_truths
from study.domain.finding import Finding
from study.domain.text import Num, Slot, said
from study.domain.trial import Cell

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
    "jitter": "The check adds a noise of its own between trials: a spread of {jitter}, known and intended.",
    "short": (
        "The measured speed-up of {workload} on {devices} devices is {value}, and the true one is {truth}."
    ),
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each point above one device whose true speed-up is known and that was measured.

    It is about the instrument and not about the machine, so it carries no level of evidence.
    """
    return [_claim(parts, known) for known in known_truths(parts)]


def _claim(parts: Parts, known: KnownTruth) -> Finding:
    cell, base = parts.cell(known.point.cell_id), known.series.series.base
    involved = [known.point.cell_id, *([base] if base else [])]
    shown = msgspec.structs.replace(claims.ratio(known.speedup), neutral=known.truth)
    bare = msgspec.structs.replace(shown, show="value")
    slots: dict[str, Slot] = {
        "workload": claims.workload(cell.cell),
        "devices": claims.whole(known.point.devices),
        "truth": Num(value=known.truth, style="ratio", like=shown),
        "speedup": shown,
        "value": bare,
        "margin": claims.percent(parts.margin),
    }
    return claims.claim(
        key=f"known-truth.{known.series.series.key}.x{known.point.devices}",
        shelf="known-truth",
        section="checks",
        sentence=claims.worded(FRAMES[known.outcome], slots),
        short=claims.worded(FRAMES["short"], slots),
        evidence="none",
        note=evidence.trials_each(known.speedup.n),
        estimate=known.speedup,
        style="times",
        table="t-truth",
        trials=[trial.trial for trial in parts.measured_of(*involved)],
        caveats=[
            # Ranks that sleep hardly need a core, so oversubscription disturbs nothing here.
            *caveats.disturbances(parts, *involved, cores=False),
            *caveats.of_states(parts, known.point.verdict, *involved),
            *([said(FRAMES["chance"])] if known.outcome == "within" else []),
            *(
                [said(FRAMES["jitter"], jitter=claims.percent(noise))]
                if (noise := _jitter(cell.cell))
                else []
            ),
        ],
    )


def _jitter(cell: Cell) -> float:
    """The noise that the sleeping workload adds to its trials: a standard deviation of logs."""
    value = cell.options.get("jitter", 0.0)
    return float(value) if isinstance(value, float | int) else 0.0
