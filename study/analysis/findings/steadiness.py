"""What was not tested: whether the step times of a trial had become steady before the window opened."""

from study.analysis import claims, evidence
from study.analysis.parts import Parts
from study.domain.finding import Finding
from study.domain.text import said

FACTS = {
    "summary": "Steadiness of the step times was not tested.",
    "section": "limits",
    "rank": 40,
}

FRAMES = {
    "sentence": (
        "Whether the step times had become steady was not tested; the warm-up before each window was of "
        "fixed length, and rates are those of the window."
    ),
    "short": "Steadiness of the step times was not tested.",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for the whole run, if anything was measured."""
    measured = [trial.trial for trial in parts.trials if trial.rate is not None]
    if not measured:
        return []
    return [
        claims.claim(
            key="steadiness",
            shelf="steadiness",
            section="limits",
            sentence=said(FRAMES["sentence"]),
            short=said(FRAMES["short"]),
            evidence="none",
            note=evidence.trials(len(measured)),
            trials=measured,
            table="",
            figure="fig-steps",
        )
    ]
