"""What was not tested: whether the step times of a trial had become steady before the window opened."""

from study.analysis import claims, evidence
from study.analysis.parts import Parts
from study.domain.finding import Finding
from study.domain.text import Num, said

FACTS = {
    "summary": "Steadiness of the step times was not tested.",
    "section": "limits",
    "rank": 40,
}

FRAMES = {
    "sentence": (
        "Whether the step times had become steady was not tested; the warm-up before each window had a "
        "least time ({time}) and a least number of steps ({steps}), and rates are those of the window."
    ),
    "short": "Steadiness of the step times was not tested.",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for the whole run, if anything was measured."""
    measured = [trial.trial for trial in parts.trials if trial.rate is not None]
    if not measured:
        return []
    protocol = parts.run.plan.protocol
    return [
        claims.claim(
            key="steadiness",
            shelf="steadiness",
            section="limits",
            sentence=said(
                FRAMES["sentence"],
                time=Num(value=protocol.warmup_s, style="seconds"),
                steps=claims.whole(protocol.warmup_steps),
            ),
            short=said(FRAMES["short"]),
            evidence="none",
            note=evidence.trials(len(measured)),
            trials=measured,
            table="",
            figure="fig-steps",
        )
    ]
