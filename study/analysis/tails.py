"""Percentiles of latency: computed in every trial, then averaged over trials on the log scale.

Requests of one process are not independent, so an interval from their order statistics would be too
narrow; the trial is the sample here too. p50 and p90 are Hyndman-Fan type 8 (American Statistician
50(4), 1996), p99 is an order statistic: the smallest value that 99 % of the requests do not exceed.
"""

from collections.abc import Sequence

from study.analysis import intervals, reasons
from study.analysis.trials import awaited
from study.domain.estimate import Estimate
from study.domain.record import Reading
from study.domain.summary import Latency
from study.domain.trial import Cell

P90_REQUESTS = 36
P99_REQUESTS = 368
"""Fewest independent values for which a two-sided 95 % interval of the percentile by order statistics
exists: the least n with 1 - 0.9^n >= 0.975, and with 1 - 0.99^n >= 0.975."""


def latency(cell: Cell, trials: Sequence[Sequence[Reading]]) -> Latency | None:
    """Latency over the readings of each measured trial; null if the workload does not decode. Seconds.

    A request is one step: a whole batch. Where the ranks answer together, it is there when the slowest
    has answered; independent replicas answer requests of their own, and those of all ranks are pooled.
    """
    if not trials or not all(reading.first_token_ns for readings in trials for reading in readings):
        return None
    first = [awaited(cell, [r.first_token_ns for r in readings]) for readings in trials]
    later = [awaited(cell, [r.token_ns for r in readings]) for readings in trials]
    whole = [awaited(cell, [r.step_ns for r in readings]) for readings in trials]
    fewest = min(len(values) for values in whole)
    p90 = over_trials([percentile(values, 0.9) for values in whole]) if fewest >= P90_REQUESTS else None
    p99 = over_trials([order_statistic(values, 0.99) for values in whole]) if fewest >= P99_REQUESTS else None
    refused = {"request_p90_s": p90, "request_p99_s": p99}
    return Latency(
        first_token_s=over_trials([percentile(values, 0.5) for values in first]),
        token_s=over_trials([percentile(values, 0.5) for values in later]),
        request_p50_s=over_trials([percentile(values, 0.5) for values in whole]),
        request_p90_s=p90,
        request_p99_s=p99,
        requests=sum(len(values) for values in whole),
        unknown={name: reasons.FEW_REQUESTS for name, value in refused.items() if value is None},
    )


def over_trials(values_ns: Sequence[float]) -> Estimate:
    """One value a trial, in nanoseconds, as an estimate in seconds."""
    return intervals.estimate(intervals.of_values([value / 1e9 for value in values_ns]), unit="s")


def percentile(values: Sequence[float], share: float) -> float:
    """The median-unbiased percentile, Hyndman-Fan type 8."""
    import numpy as np

    return float(np.quantile(np.asarray(values, dtype=float), share, method="median_unbiased"))


def order_statistic(values: Sequence[float], share: float) -> float:
    """The smallest of the values that at least `share` of them do not exceed."""
    import numpy as np

    return float(np.quantile(np.asarray(values, dtype=float), share, method="inverted_cdf"))
