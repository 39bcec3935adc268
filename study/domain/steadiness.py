"""Whether the steps of a trial had settled: from which step on, and how much they still drifted."""

from typing import Literal

from study.domain.fact import Fact

SteadinessVerdict = Literal["steady", "not_shown", "drifting", "no_steady_state"]
"""Of one trial. `not_shown`: the data neither show a drift nor exclude one."""

CellSteadiness = Literal["steady", "not_shown", "drifting", "no_steady_state", "inconsistent"]
"""Of all trials of a cell. `inconsistent`: they differ in class."""


class Drift(Fact, frozen=True, kw_only=True):
    """How much the step time changes over a run of the whole length: shares, so 0.01 is 1 % slower.

    It is the slope within the window, carried on over all steps that were taken. The interval is for
    one trial, from batch means of its steps: it says how level they are, never how well trials repeat.
    """

    share: float
    low: float
    high: float
    level: float = 0.95


class Steadiness(Fact, frozen=True, kw_only=True):
    """What the step times of one trial say about warm-up and drift.

    Indices count from 0 in the steps that were given. The window is `start` to the end; `start` is null
    when there is none. `levels` counts the stretches between changes of level. `alternating_ns` holds
    the two step times, the faster one first, between which a run goes back and forth; it is empty for
    any other. `stalls` are the steps of more than three times their neighbourhood's median.
    `mser_start` is a second opinion about the end of the warm-up, by another method (MSER-5).
    """

    verdict: SteadinessVerdict
    reason: str
    steps: int
    start: int | None
    drift: Drift | None
    levels: int
    alternating_ns: tuple[float, ...]
    stalls: tuple[int, ...]
    mser_start: int | None
    unknown: dict[str, str] = {}

    @property
    def mser_agrees(self) -> bool | None:
        """Whether both methods end the warm-up within a tenth of the run; null if one names no end."""
        if self.start is None or self.mser_start is None:
            return None
        return abs(self.start - self.mser_start) <= self.steps / 10
