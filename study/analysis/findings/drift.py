"""Whether the machine drifted over the session, and how far absolute rates can then be trusted.

There are two witnesses: all cells together, and the sentinel. Either of them raises the doubt. Where one
shows a drift and the other shows none, both are stated and the evidence is weak, whatever the interval.
"""

import math

from study.analysis import claims, evidence
from study.analysis.drift import LIMIT, SessionDrift, is_shown, is_within
from study.analysis.parts import Parts
from study.domain.estimate import Estimate
from study.domain.finding import Evidence, Finding
from study.domain.summary import SentinelSummary
from study.domain.text import Est, Slot, Term, Text, counted, said

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
    "sentinel": (
        "The sentinel's rate drifted over the session, by {sentinel} from its first trial to its last, while "
        "for all cells together no drift above {limit} was shown: {drift}. The random order within blocks "
        "keeps comparisons; absolute rates are those of this session."
    ),
    "sentinel_alone": (
        "The sentinel's rate drifted over the session, by {sentinel} from its first trial to its last; "
        "whether other rates did was not tested. The random order within blocks keeps comparisons; absolute "
        "rates are those of this session."
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
    "agrees": "The sentinel, one fixed cell measured first and last in each block, agrees: {sentinel}.",
    "disagrees": (
        "The sentinel, one fixed cell measured first and last in each block, disagrees: {sentinel}. The "
        "drift is then one of some kinds of work."
    ),
    "undecided": (
        "The sentinel, one fixed cell measured first and last in each block, does not decide it: {sentinel}."
    ),
    "silent": "The sentinel gave too few rates to be a second witness.",
    "short_drifted": "Over the session, the same work changed its rate by {value}.",
    "short_sentinel": "Over the session, the sentinel changed its rate by {value}.",
    "short_sentinel_alone": "Over the session, the sentinel changed its rate by {value}.",
    "short_within": "The drift over the session is shown to be within {limit}.",
    "short_open": "No drift above {limit} was shown over the session.",
    "short_not_tested": "Drift over the session was not tested.",
}

EVIDENCE: dict[str, Evidence] = {
    "within": "moderate",
    "open": "not_shown",
    "not_tested": "none",
    "sentinel": "weak",
    "sentinel_alone": "weak",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for the run, if any work but that of a check was measured."""
    drift, working = parts.drift, [cell for cell in parts.cells if cell.cell.task != "check"]
    measured = [trial.trial for trial in parts.measured_of(*(cell.cell_id for cell in working))]
    if not measured:
        return []
    sentinel = parts.sentinel
    kind = _kind(drift, sentinel.drift if sentinel else None)
    by_sentinel = kind.startswith("sentinel")
    estimate = sentinel.drift if sentinel and by_sentinel else drift.estimate
    trials = [p.trial for p in sentinel.points] if sentinel and by_sentinel else drift.trials or measured
    slots: dict[str, Slot] = {"limit": claims.percent(LIMIT), "reason": Term(text=drift.reason)}
    if drift.estimate is not None:
        slots["drift"] = Est(estimate=drift.estimate, style="percent")
    if estimate is not None:
        slots["value"] = Est(estimate=estimate, style="percent", show="value")
        slots["sentinel"] = Est(estimate=estimate, style="percent")
    return [
        claims.claim(
            key="drift",
            shelf="drift",
            section="checks",
            sentence=claims.worded(FRAMES[kind], slots),
            short=claims.worded(FRAMES[f"short_{kind}"], slots),
            evidence=_evidence(drift, sentinel) if kind == "drifted" else EVIDENCE[kind],
            note=evidence.trials(len(trials)),
            estimate=estimate,
            style="percent",
            table="t-fig-drift",
            figure="fig-drift",
            weight=abs(math.log1p(estimate.value)) if estimate is not None else 0.0,
            trials=trials,
            caveats=[
                *([] if by_sentinel else _second_witness(drift, sentinel)),
                *(
                    [counted(FRAMES["sessions"], FRAMES["sessions_many"], drift.sessions)]
                    if drift.sessions > 1 and estimate is not None
                    else []
                ),
            ],
        )
    ]


def _kind(drift: SessionDrift, seen: Estimate | None) -> str:
    """What both witnesses come to; `seen` is the sentinel's."""
    if drift.is_shown:
        return "drifted"
    if is_shown(seen):
        return "sentinel_alone" if drift.estimate is None else "sentinel"
    if drift.estimate is None:
        return "not_tested"
    return "within" if drift.is_within else "open"


def _second_witness(drift: SessionDrift, sentinel: SentinelSummary | None) -> list[Text]:
    """What the sentinel adds to what all cells together say."""
    if sentinel is None:
        return []
    if sentinel.drift is None:
        return [said(FRAMES["silent"])]
    return [
        said(FRAMES[_stance(drift, sentinel.drift)], sentinel=Est(estimate=sentinel.drift, style="percent"))
    ]


def _stance(drift: SessionDrift, seen: Estimate) -> str:
    """Whether the sentinel agrees with the cells: the same sign of a drift, or a like absence of one."""
    found = drift.estimate
    if drift.is_shown and found is not None:
        if is_shown(seen):
            return "agrees" if (seen.value > 0) == (found.value > 0) else "disagrees"
        return "disagrees" if is_within(seen) else "undecided"
    return "agrees" if is_within(seen) and drift.is_within else "undecided"


def _evidence(drift: SessionDrift, sentinel: SentinelSummary | None) -> Evidence:
    """Strong if the whole interval lies beyond the limit; weak if not, or if the other witness disagrees."""
    if sentinel is not None and sentinel.drift is not None and _stance(drift, sentinel.drift) == "disagrees":
        return "weak"
    found = drift.estimate
    beyond = found is not None and ((found.low or 0.0) > LIMIT or (found.high or 0.0) < -LIMIT)
    return "strong" if beyond else "weak"
