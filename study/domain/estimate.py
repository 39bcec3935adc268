"""A number with its interval and n, or the reason why it has no interval."""

from typing import Literal

from study.domain.fact import Fact

Method = Literal["t_log", "welch_log", "paired_t_log", "slope_t", "exact", "none"]


class Estimate(Fact, frozen=True, kw_only=True):
    """A value and its confidence interval at `level`.

    `n` counts trials, never steps. With fewer than three trials the interval is refused: `low` and
    `high` are null and `refusal` says why. `exact` is for counts and truths, which have none.
    `slope_t` is of a straight line through the logs of trials.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str
    method: Method
    level: float = 0.95
    refusal: str = ""
