"""The instrument against what is known in advance: speed-ups that are true by construction."""

from typing import Literal, NamedTuple

from study.analysis.parts import Parts
from study.domain.estimate import Estimate
from study.domain.summary import SeriesPoint, SeriesSummary

Outcome = Literal["contained", "within", "missed", "too_few"]


class KnownTruth(NamedTuple):
    """A point above one device that was measured, and whose true speed-up is known."""

    series: SeriesSummary
    point: SeriesPoint
    speedup: Estimate
    truth: float
    outcome: Outcome


def known_truths(parts: Parts) -> tuple[KnownTruth, ...]:
    """Every known truth that was put to the test, in the order of the series."""
    return tuple(
        KnownTruth(
            series, point, point.speedup, point.truth, outcome(point.speedup, point.truth, parts.margin)
        )
        for series in parts.series
        for point in series.points
        if point.devices > 1 and point.truth is not None and point.speedup is not None
    )


def outcome(speedup: Estimate, truth: float, margin: float) -> Outcome:
    """Whether the interval contains the truth, or at least lies within the margin around it."""
    if speedup.low is None or speedup.high is None:
        return "too_few"
    if speedup.low <= truth <= speedup.high:
        return "contained"
    near = truth / (1 + margin) <= speedup.low and speedup.high <= truth * (1 + margin)
    return "within" if near else "missed"


def instrument_missed(parts: Parts) -> bool:
    """Whether any known truth was missed by more than the margin, which chance does not excuse."""
    return any(known.outcome == "missed" for known in known_truths(parts))
