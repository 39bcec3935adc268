"""Whether the step times of the trials had become steady: how many were shown to be, and how many not."""

from collections import Counter

from study.analysis import claims, evidence
from study.analysis.parts import Parts
from study.analysis.steady import TOLERANCE
from study.domain.finding import Finding
from study.domain.text import Num, said

FACTS = {
    "summary": "How many trials were shown to be steady, drifting, or without a steady state.",
    "section": "limits",
    "rank": 40,
}

FRAMES = {
    "sentence": (
        "Trials whose step times were shown to be steady within {tolerance}: {steady} of {measured}; still "
        "drifting: {drifting}; without a steady state: {none}. For the rest ({open}) neither could be shown."
    ),
    "short": "Trials shown to be steady: {steady} of {measured}.",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for the whole run, if anything was measured."""
    found = [trial for trial in parts.trials if trial.steadiness is not None]
    if not found:
        return []
    counts = Counter(trial.steadiness.verdict for trial in found if trial.steadiness is not None)
    slots = {
        "tolerance": Num(value=TOLERANCE, style="percent"),
        "steady": claims.whole(counts["steady"]),
        "measured": claims.whole(len(found)),
        "drifting": claims.whole(counts["drifting"]),
        "none": claims.whole(counts["no_steady_state"]),
        "open": claims.whole(counts["not_shown"]),
    }
    return [
        claims.claim(
            key="steadiness",
            shelf="steadiness",
            section="limits",
            sentence=said(FRAMES["sentence"], **slots),
            short=said(FRAMES["short"], steady=slots["steady"], measured=slots["measured"]),
            evidence="none",
            note=evidence.trials(len(found)),
            trials=[trial.trial for trial in found],
            table="t-steady",
            figure="fig-steps",
        )
    ]
