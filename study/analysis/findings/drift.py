"""Whether the machine drifted over the session, and how far absolute rates can then be trusted."""

import math

from study.analysis import claims, evidence
from study.analysis.drift import LIMIT, SessionDrift
from study.analysis.parts import Parts
from study.domain.finding import Evidence, Finding
from study.domain.text import Est, Slot, Term, counted

FACTS = {
    "summary": "The drift of all rates over the session, at equal work.",
    "section": "checks",
    "rank": 33,
}

FRAMES = {
    "drifted": (
        "Rates drifted over the session: from its first trial to its last, the same work changed its rate "
        "by {drift}. The random order within blocks keeps comparisons; absolute rates are those of this "
        "session."
    ),
    "within": (
        "No drift above {limit} over the session: from its first trial to its last, the same work changed "
        "its rate by {drift}, shown to be within {limit}."
    ),
    "open": (
        "No drift above {limit} was shown over the session, and none was excluded: from its first trial to "
        "its last, the same work changed its rate by {drift}."
    ),
    "not_tested": "Whether rates drifted over the session was not tested. {reason}",
    "sessions": "It is the drift of the session with the most trials; the run was made in {n} session.",
    "sessions_many": "It is the drift of the session with the most trials; the run was made in {n} sessions.",
    "short_drifted": "Over the session, the same work changed its rate by {value}.",
    "short_within": "The drift over the session is shown to be within {limit}.",
    "short_open": "No drift above {limit} was shown over the session.",
    "short_not_tested": "Drift over the session was not tested.",
}

EVIDENCE: dict[str, Evidence] = {
    "within": "moderate",
    "open": "not_shown",
    "not_tested": "none",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for the run, if any work but that of a check was measured."""
    drift, working = parts.drift, [cell for cell in parts.cells if cell.cell.task != "check"]
    measured = [trial.trial for trial in parts.measured_of(*(cell.cell_id for cell in working))]
    if not measured:
        return []
    kind, estimate = _kind(drift), drift.estimate
    slots: dict[str, Slot] = {"limit": claims.percent(LIMIT), "reason": Term(text=drift.reason)}
    if estimate is not None:
        slots["drift"] = Est(estimate=estimate, style="percent")
        slots["value"] = Est(estimate=estimate, style="percent", show="value")
    n = len(drift.trials) or len(measured)
    return [
        claims.claim(
            key="drift",
            shelf="drift",
            section="checks",
            sentence=claims.worded(FRAMES[kind], slots),
            short=claims.worded(FRAMES[f"short_{kind}"], slots),
            evidence=_evidence(drift) if kind == "drifted" else EVIDENCE[kind],
            note=evidence.trials(n),
            estimate=estimate,
            style="percent",
            table="t-fig-drift",
            figure="fig-drift",
            weight=abs(math.log1p(estimate.value)) if estimate is not None else 0.0,
            trials=drift.trials or measured,
            caveats=(
                [counted(FRAMES["sessions"], FRAMES["sessions_many"], drift.sessions)]
                if drift.sessions > 1 and estimate is not None
                else []
            ),
        )
    ]


def _kind(drift: SessionDrift) -> str:
    if drift.estimate is None:
        return "not_tested"
    return "drifted" if drift.is_shown else "within" if drift.is_within else "open"


def _evidence(drift: SessionDrift) -> Evidence:
    """Strong if the whole interval lies beyond the limit, weak if it reaches within."""
    found = drift.estimate
    beyond = found is not None and ((found.low or 0.0) > LIMIT or (found.high or 0.0) < -LIMIT)
    return "strong" if beyond else "weak"
