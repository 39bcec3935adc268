"""How sure a claim may sound: the evidence level of a comparison and of a described value.

strong     five trials or more, the interval beyond the margin, nothing disturbed, on this machine
moderate   three trials or more and the interval excludes "no difference", or lies within the margin
weak       the interval reaches over the margin, or fewer than three trials
not_shown  the interval includes "no difference"
none       nothing was compared, or what is said is about the instrument or the run and not the machine
"""

from study.domain.estimate import Estimate
from study.domain.finding import Evidence
from study.domain.text import Text, counted
from study.domain.verdict import Verdict

FRAMES = {
    "each": "{n} trial each, on this machine",
    "each_many": "{n} trials each, on this machine",
    "trials": "{n} trial, on this machine",
    "trials_many": "{n} trials, on this machine",
}

STRONG_TRIALS = 5


def of_comparison(verdict: Verdict | None, n: int, *, flagged: bool) -> Evidence:
    """The level of a claim that rests on a verdict over `n` trials a side.

    Equivalence within the margin is moderate at best: it says that a difference, if any, is small.
    """
    if verdict is None:
        return "none"
    match verdict.kind:
        case "clear":
            return "strong" if n >= STRONG_TRIALS and not flagged else "moderate"
        case "small":
            return "moderate" if verdict.also_same else "weak"
        case "same":
            return "moderate"
        case "open":
            return "not_shown"
        case "not_compared":
            return "none"


def of_value(value: Estimate, margin: float, *, flagged: bool) -> Evidence:
    """The level of a described value: strong if its interval stays within the margin of the value."""
    if value.low is None or value.high is None:
        return "weak"
    precise = value.low * (1 + margin) >= value.value and value.high <= value.value * (1 + margin)
    return "strong" if value.n >= STRONG_TRIALS and precise and not flagged else "moderate"


def trials_each(n: int) -> Text:
    """The note beside a comparison."""
    return counted(FRAMES["each"], FRAMES["each_many"], n)


def trials(n: int) -> Text:
    """The note beside a value."""
    return counted(FRAMES["trials"], FRAMES["trials_many"], n)
