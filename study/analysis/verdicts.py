"""From ratios to verdicts: what a family of comparisons allows to say.

A ratio is judged against 1 with the margin δ of the plan, on the log scale: the band of no practical
size is 1/(1+δ) to 1+δ, so that swapping the two sides swaps nothing but the direction. With m
comparisons in the family, intervals are simultaneous at 1 - 0.05/m (Bonferroni), p is Holm's.

    clear         the interval lies beyond the band
    small         it excludes 1 and reaches into the band, or lies in it
    same          the interval at 1 - 0.10/m lies inside the band (two one-sided tests)
    open          anything else
    not_compared  too few trials, or nothing to compare with

Sources: Holm, Scandinavian Journal of Statistics 6, 1979; Schuirmann, Journal of Pharmacokinetics and
Biopharmaceutics 15, 1987 (two one-sided tests).
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal

import msgspec

from study.analysis import reasons
from study.analysis.intervals import LogMean, estimate, p_value, quantile
from study.domain.fact import Fact
from study.domain.verdict import Verdict

MOST_BLOCKS = 1000
POWER = 0.8
"""The chance with which `repeats_needed` blocks settle a comparison, if the ratio is what was measured."""


class Refused(Fact, frozen=True, kw_only=True):
    """A comparison of the family that could not be made, with the sentence that says why."""

    reason: str


def judge(family: str, ratios: Sequence[LogMean | Refused], margin: float) -> tuple[Verdict, ...]:
    """The verdicts of one family, in order. Refused comparisons count in the family's size."""
    size = len(ratios)
    verdicts = [_verdict(ratio, margin, family, size) for ratio in ratios]
    adjusted = holm([verdict.p for verdict in verdicts])
    return tuple(
        verdict if p is None else msgspec.structs.replace(verdict, p_adjusted=p)
        for verdict, p in zip(verdicts, adjusted, strict=True)
    )


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values, in the order given. A missing p counts in the family as the largest."""
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        adjusted[index] = largest
    return adjusted


def blocks_needed(ratio: LogMean, margin: float, size: int) -> int | None:
    """About how many blocks would settle an open comparison, if the ratio is what was measured.

    The least number of blocks at which, with a chance of 80 %, the interval shows the ratio to differ
    from one, or to lie within the margin. The standard error shrinks with the root of the blocks, and
    the degrees of freedom grow with them. Null when not even a thousand would do.
    """
    if ratio.error is None or ratio.df is None:
        return None
    measured, error, freedom = ratio.n, ratio.error, ratio.df
    distance, band = abs(ratio.mean), math.log1p(margin)

    def settled(blocks: int) -> bool:
        df = freedom * (blocks - 1) / (measured - 1)
        se = error * math.sqrt(measured / blocks)
        differs = distance > (quantile(1 - 0.025 / size, df) + quantile(POWER, df)) * se
        # Two one-sided tests must both succeed, hence half the remaining risk for each.
        within = distance + (quantile(1 - 0.05 / size, df) + quantile((1 + POWER) / 2, df)) * se < band
        return differs or within

    # More blocks never unsettle, since error and quantiles fall: so the first is found by halving.
    more = range(ratio.n + 1, MOST_BLOCKS + 1)
    first = bisect_left(more, True, key=settled)
    return more[first] if first < len(more) else None


def _verdict(ratio: LogMean | Refused, margin: float, family: str, size: int) -> Verdict:
    if isinstance(ratio, Refused):
        return not_compared(ratio.reason, margin, family, size)
    shown = estimate(ratio, level=1 - 0.05 / size)
    narrower = estimate(ratio, level=1 - 0.10 / size)
    if shown.low is None or shown.high is None or narrower.low is None or narrower.high is None:
        refused = not_compared(ratio.refusal, margin, family, size)
        unknown = {name: reason for name, reason in refused.unknown.items() if name != "ratio"}
        return msgspec.structs.replace(refused, ratio=shown, unknown=unknown)
    upper, lower = 1 + margin, 1 / (1 + margin)
    direction: Literal["faster", "slower", "neither"] = (
        "faster" if shown.low > 1 else "slower" if shown.high < 1 else "neither"
    )
    within = lower < narrower.low and narrower.high < upper
    beyond = shown.low > upper or shown.high < lower
    kind: Literal["clear", "small", "same", "open"] = (
        "clear" if beyond else "small" if direction != "neither" else "same" if within else "open"
    )
    needed = blocks_needed(ratio, margin, size) if kind == "open" else None
    unknown = {}
    if needed is None:
        unknown["repeats_needed"] = reasons.NEVER_SETTLED if kind == "open" else reasons.NOTHING_TO_SETTLE
    return Verdict(
        kind=kind,
        direction=direction,
        ratio=shown,
        margin=margin,
        p=p_value(ratio),
        p_adjusted=None,
        family=family,
        family_size=size,
        repeats_needed=needed,
        also_same=kind == "small" and lower < shown.low and shown.high < upper,
        equivalence=narrower,
        unknown=unknown,
    )


def not_compared(reason: str, margin: float, family: str, size: int) -> Verdict:
    """The verdict of a comparison that was not made."""
    return Verdict(
        kind="not_compared",
        direction="neither",
        ratio=None,
        margin=margin,
        p=None,
        p_adjusted=None,
        family=family,
        family_size=size,
        repeats_needed=None,
        reason=reason,
        unknown={
            "ratio": reasons.NOT_COMPARED,
            "equivalence": reasons.NOT_COMPARED,
            "p": reasons.NO_INTERVAL,
            "p_adjusted": reasons.NO_INTERVAL,
            "repeats_needed": reasons.NO_INTERVAL,
        },
    )
