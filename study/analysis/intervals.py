"""Means and ratios over trials with Student t intervals on the log scale.

The trial is the sample: steps inside a process are correlated, so they never count in n. Rates and
their ratios are positive and vary in proportion, so intervals are computed on logs. With fewer than
three trials no interval is given.

Sources: Kalibera & Jones, ISMM 2013 (intervals from the highest level that is repeated); Welch,
Biometrika 34, 1947 (unequal variances); Hoefler & Belli, SC 2015, rule 3 (rates as total over total).
"""

import math
from collections.abc import Callable, Sequence

from study.analysis import reasons
from study.domain.estimate import Estimate, Method
from study.domain.fact import Fact
from study.domain.summary import TrialSummary

MIN_TRIALS = 3
NO_SPREAD = 1e-12
"""A relative spread below this is rounding: clocks count nanoseconds, so no measured spread is smaller."""


class Repeats(Fact, frozen=True, kw_only=True):
    """The measured trials of one cell, one entry each: its id, block, work and wall time."""

    trials: tuple[str, ...]
    blocks: tuple[int, ...]
    work: tuple[int, ...]
    wall_s: tuple[float, ...]

    @property
    def rate(self) -> float:
        """Total work over total time. Source: Hoefler & Belli, SC 2015, rule 3."""
        return math.fsum(self.work) / math.fsum(self.wall_s)

    @property
    def logs(self) -> tuple[float, ...]:
        return tuple(math.log(w / t) for w, t in zip(self.work, self.wall_s, strict=True))

    def of_blocks(self, blocks: Sequence[int]) -> "Repeats":
        """The same cell with the trials of these blocks alone, in order of blocks."""
        kept = sorted((b, i) for i, b in enumerate(self.blocks) if b in blocks)
        return Repeats(
            trials=tuple(self.trials[i] for _, i in kept),
            blocks=tuple(b for b, _ in kept),
            work=tuple(self.work[i] for _, i in kept),
            wall_s=tuple(self.wall_s[i] for _, i in kept),
        )


class LogMean(Fact, frozen=True, kw_only=True):
    """A mean on the log scale with its standard error and degrees of freedom.

    `value` is the point estimate on the plain scale. `error` and `df` are null when there are too
    few trials; `refusal` then says so.
    """

    value: float
    mean: float
    error: float | None
    df: float | None
    n: int
    method: Method
    refusal: str = ""


def repeats(trials: Sequence[TrialSummary]) -> Repeats:
    """The trials that have a rate, in order of blocks."""
    usable = [
        (t.block, t.trial, t.work, t.wall_s) for t in trials if t.work is not None and t.wall_s is not None
    ]
    usable.sort()
    return Repeats(
        trials=tuple(trial for _, trial, _, _ in usable),
        blocks=tuple(block for block, _, _, _ in usable),
        work=tuple(work for _, _, work, _ in usable),
        wall_s=tuple(wall for _, _, _, wall in usable),
    )


def of_cell(cell: Repeats) -> LogMean:
    """The rate of one cell: total work over total time, its spread from the logs of the trials."""
    return of_logs(cell.logs, value=cell.rate)


def of_values(values: Sequence[float]) -> LogMean:
    """The geometric mean of one positive value a trial."""
    logs = [math.log(value) for value in values]
    return of_logs(logs, value=math.exp(math.fsum(logs) / len(logs)))


def of_logs(logs: Sequence[float], *, value: float) -> LogMean:
    """The mean of logs of independent trials, with standard error s / sqrt(R) and R - 1 df."""
    n = len(logs)
    mean = math.fsum(logs) / n
    if n < MIN_TRIALS:
        return LogMean(
            value=value, mean=mean, error=None, df=None, n=n, method="none", refusal=reasons.TOO_FEW
        )
    return LogMean(
        value=value, mean=mean, error=math.sqrt(_variance(logs) / n), df=n - 1, n=n, method="t_log"
    )


def welch(a: Repeats, b: Repeats) -> LogMean:
    """The ratio of the rates of two cells, A over B, their variances taken apart.

    Degrees of freedom after Welch (1947); n is the smaller number of trials.
    """
    n = min(len(a.trials), len(b.trials))
    value, mean = a.rate / b.rate, _mean(a.logs) - _mean(b.logs)
    if n < MIN_TRIALS:
        return LogMean(
            value=value, mean=mean, error=None, df=None, n=n, method="none", refusal=reasons.TOO_FEW
        )
    share_a = _variance(a.logs) / len(a.logs)
    share_b = _variance(b.logs) / len(b.logs)
    total = share_a + share_b
    df = (
        total**2 / (share_a**2 / (len(a.logs) - 1) + share_b**2 / (len(b.logs) - 1))
        if share_a**2 + share_b**2 > 0
        else float(len(a.logs) + len(b.logs) - 2)
    )
    return LogMean(value=value, mean=mean, error=math.sqrt(total), df=df, n=n, method="welch_log")


def paired(a: Repeats, b: Repeats) -> LogMean | None:
    """The ratio of the rates of two cells, A over B, from the blocks that hold both.

    Drift over a session moves both members of a pair alike, so it cancels. Null without a pair.
    """
    common = sorted(set(a.blocks) & set(b.blocks))
    if not common:
        return None
    left, right = a.of_blocks(common), b.of_blocks(common)
    differences = [x - y for x, y in zip(left.logs, right.logs, strict=True)]
    mean = of_logs(differences, value=left.rate / right.rate)
    if mean.error is None:
        return LogMean(
            value=mean.value,
            mean=mean.mean,
            error=None,
            df=None,
            n=mean.n,
            method="none",
            refusal=reasons.TOO_FEW_PAIRS,
        )
    return LogMean(
        value=mean.value, mean=mean.mean, error=mean.error, df=mean.df, n=mean.n, method="paired_t_log"
    )


def estimate(mean: LogMean, *, unit: str = "", level: float = 0.95) -> Estimate:
    """The estimate with its interval exp(m ± t·se) at `level`; without spread both ends are the value."""
    low = high = None
    if mean.error is not None and mean.df is not None:
        if mean.error < NO_SPREAD:
            low = high = mean.value
        else:
            half = quantile(0.5 + level / 2, mean.df) * mean.error
            low, high = math.exp(mean.mean - half), math.exp(mean.mean + half)
    return Estimate(
        value=mean.value,
        low=low,
        high=high,
        n=mean.n,
        unit=unit,
        method=mean.method,
        level=level,
        refusal=mean.refusal,
    )


def exact(value: float, n: int, unit: str = "") -> Estimate:
    """A value that has no doubt: a count, a truth, a cell over itself."""
    return Estimate(value=value, low=None, high=None, n=n, unit=unit, method="exact")


def p_value(mean: LogMean) -> float | None:
    """Two-sided p of "the ratio is one"; null without an interval."""
    if mean.error is None or mean.df is None:
        return None
    if mean.error < NO_SPREAD:
        return 1.0 if abs(mean.mean) < NO_SPREAD else 0.0
    from scipy.special import stdtr

    return float(2 * stdtr(mean.df, -abs(mean.mean) / mean.error))


def quantile(probability: float, df: float) -> float:
    """The quantile of Student's t with `df` degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def mapped(source: Estimate, function: Callable[[float], float], unit: str = "") -> Estimate:
    """A monotone function of an estimate: the function of its value and of both ends, in order."""
    ends = (
        sorted((function(source.low), function(source.high)))
        if source.low is not None and source.high is not None
        else [None, None]
    )
    return Estimate(
        value=function(source.value),
        low=ends[0],
        high=ends[1],
        n=source.n,
        unit=unit,
        method=source.method,
        level=source.level,
        refusal=source.refusal,
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    """Unbiased variance."""
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
