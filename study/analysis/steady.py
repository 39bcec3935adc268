"""Whether the steps of a trial settled on one level, from which step on, and how much they still drift.

Steadiness is tested and never assumed, and having none is a result (Barrett et al., OOPSLA 2017). All
is done on logs, on which a step of twenty times the usual cannot swallow the rest:

1. Single spikes are cut off, changes of level are found at a least cost (Killick, Fearnhead & Eckley,
   JASA 107(500), 2012), and the window begins where the levels have come within 1 % of the last.
2. The window has to be long enough, and one-off stalls in the first half come before it. If the last
   level is too short, its cut has to hold once more, at the price of the correlation within levels:
   among steps with a correlation of 0.8 and 1 % of noise, every seventh flat run would fail otherwise.
3. The slope in the window is carried on over the length of the whole run, and its interval has to lie
   within 1 %. Without that, any slow drift has a tail that is short enough to look level.

The coefficient of variation over some steps (Georges et al., OOPSLA 2007) asks whether it is quiet; this
asks whether it is level. MSER-5 (White, Simulation 69(6), 1997; White, Cobb & Spratt, Winter Simulation
Conference 2000) is computed beside it as a second opinion about the warm-up; it knows no drift.
"""

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

from study.analysis.changepoints import change_points
from study.domain.steadiness import CellSteadiness, Drift, Steadiness, SteadinessVerdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Logs = NDArray[np.float64]

TOLERANCE = 0.01
"""Levels this close are one level, and a drift this small is none. It is a judgement of what matters."""
BAND = math.log1p(TOLERANCE)
LEAST_STEPS = 30
"""Fewest steps that a level has to cover: three for each batch of the drift's interval."""
LEAST_SHARE = 0.25
"""Smallest share of the run that a level has to cover, as in warmup_stats, the tool of Barrett et al."""
STALL = math.log(3.0)
"""A step of more than three times the median around it is a stall: compiling, tuning, waiting."""
ONE_OFF = 2
"""Up to so many stalls in a window are one-off; more are a property of the workload."""
NEIGHBOURS = 5
"""Steps on either side of a step whose median is the usual time around it."""
SPIKE = 4.0
"""Steps are cut off at so many standard deviations from the usual time around them."""
LEAST_NOISE = 1e-4
"""Least standard deviation of a log: below it a clock's or a log file's rounding would count as noise."""
BATCHES = 10
LEVEL = 0.95
STRIDE = 0.05
"""Share of the run by which the start moves on while the rest cannot be shown to be steady."""
MSER_BATCH = 5

TOO_SHORT = "Fewer than {least} steps were measured, so no level can be long enough to be called steady."
NO_SETTLING = "The rule finds no end of the warm-up in the first half of the run."


def assess(step_ns: Sequence[int]) -> Steadiness:
    """Judge the step times of one trial, in the order of steps. The unit does not matter to the verdict.

    Fewer than `LEAST_STEPS` steps are `not_shown`: no level can be long enough in them, which says
    something about the length of the run and nothing about its steadiness.

    Raises:
        ValueError: a step time is not a positive number.
    """
    import numpy as np

    times = np.asarray(step_ns, dtype=float)
    wrong = np.flatnonzero(~((times > 0) & (times < np.inf)))
    if len(wrong):
        raise ValueError(f"Step times have to be positive; that of step {wrong[0]} is {times[wrong[0]]:g}.")
    steps = len(times)
    if steps < LEAST_STEPS:
        return _too_short(steps)
    logs = np.log(times)
    around = _median_around(logs)
    noise = _noise(logs)
    spike = SPIKE * noise
    clean = np.clip(logs, around - spike, around + spike)
    need = max(LEAST_STEPS, math.ceil(LEAST_SHARE * steps))
    cuts = _cuts(clean, noise)
    level, start = _last_level(clean, cuts)
    if steps - start < need:  # before that is said, the cuts have to prove themselves
        cuts = _confirmed(clean, noise, cuts)
        level, start = _last_level(clean, cuts)
    covered = steps - start
    stalls = np.flatnonzero(logs - around > STALL)
    drift = None
    verdict: SteadinessVerdict = "no_steady_state"
    if covered >= need:
        start = _past_transient(logs, start, steps - need, level, max(BAND, spike))
        start = _past_stalls(stalls, start, steps - need, steps // 2)
        margin = spike + BAND
        verdict, start, drift = _settled(np.clip(logs, level - margin, level + margin), start, need)
    mser = mser_start(clean)
    reason = (
        _reason(verdict, start, drift)
        if drift
        else f"No steady state in {steps} steps: the last level covers {covered} of them, of {need} needed."
    )
    unknown = {} if drift else {"start": reason, "drift": reason}
    return Steadiness(
        verdict=verdict,
        reason=reason,
        steps=steps,
        start=start if drift else None,
        drift=drift,
        levels=len(cuts) + 1,
        alternating_ns=tuple(math.exp(each) for each in _two_speeds(logs)),
        stalls=tuple(stalls.tolist()),
        mser_start=mser,
        unknown=unknown if mser is not None else {**unknown, "mser_start": NO_SETTLING},
    )


def agree(several: Sequence[Steadiness]) -> CellSteadiness:
    """The verdict of a cell from those of its trials: theirs, if they all have the same.

    `not_shown` is a lack of evidence and contradicts nothing: beside steady trials it makes the cell
    `not_shown`; trials that were shown to differ make it `inconsistent`. Flat series of a hundred steps
    with 1 % noise would else be called inconsistent in nine cells of ten.

    Raises:
        ValueError: there are none.
    """
    verdicts = {each.verdict for each in several}
    if not verdicts:
        raise ValueError("A cell without trials has no verdict.")
    shown = verdicts - {"not_shown"}
    if len(shown) > 1:
        return "inconsistent"
    if "not_shown" in verdicts and shown <= {"steady"}:
        return "not_shown"
    return next(iter(shown))


def mser_start(values: "Logs") -> int | None:
    """Where MSER-5 ends the warm-up: at the batch of five from which the mean's standard error is least.

    Minimises sum of (x - mean)^2 over (number of batches)^2 over what is left; null if that is best in
    the second half, which is the rule's own way of saying that it sees no steady state. The last four
    batches are no candidates: a few that happen to be alike would win. Steps that fill no batch are
    left off at the end. Sources: White, Simulation 69(6), 1997; White, Cobb & Spratt, Winter Simulation
    Conference 2000.
    """
    import numpy as np

    batches = len(values) // MSER_BATCH
    if batches < 10:
        return None
    means = values[: batches * MSER_BATCH].reshape(batches, MSER_BATCH).mean(axis=1)
    backwards = (means - means.mean())[::-1]
    left = np.arange(1, batches + 1)
    squares = np.cumsum(backwards * backwards) - np.cumsum(backwards) ** 2 / left
    squares = np.maximum(squares, 1e-12 * squares[-1])  # equal values leave rounding, of either sign
    error = (squares / (left * left))[::-1][: batches - 4]
    best = int(error.argmin())
    return best * MSER_BATCH if best <= batches // 2 else None


def _too_short(steps: int) -> Steadiness:
    reason = TOO_SHORT.format(least=LEAST_STEPS)
    return Steadiness(
        verdict="not_shown",
        reason=reason,
        steps=steps,
        start=None,
        drift=None,
        levels=min(steps, 1),
        alternating_ns=(),
        stalls=(),
        mser_start=None,
        unknown=dict.fromkeys(("start", "drift", "mser_start"), reason),
    )


def _median(values: "Logs") -> float:
    """The median, without the checks that make numpy's slow on short series."""
    ordered = sorted(values.tolist())
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else float(ordered[half - 1] + ordered[half]) / 2


def _median_around(logs: "Logs") -> "Logs":
    """The median of each step and its neighbours on both sides; beyond an end, those inside are mirrored."""
    import numpy as np

    wide = np.pad(logs, NEIGHBOURS, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(wide, 2 * NEIGHBOURS + 1)
    return np.partition(windows, NEIGHBOURS, axis=1)[:, NEIGHBOURS]


def _noise(logs: "Logs") -> float:
    """Standard deviation from step to step, by the median absolute deviation of first differences.

    A change of level is one difference among many. 1.4826 makes it that of a normal distribution, and a
    difference of two has twice the variance of one.
    """
    import numpy as np

    steps = np.diff(logs)
    return max(1.4826 * _median(np.abs(steps - _median(steps))) / math.sqrt(2), LEAST_NOISE)


def _cuts(clean: "Logs", noise: float) -> tuple[int, ...]:
    """Where the level changes; a cut costs 3 ln N in units of the noise, more in a series that wanders.

    Noise of lag-one correlation r makes means vary (1 + r) / (1 - r) times as much. While no level is
    known, r is that of the second half, which a warm-up does not reach.
    """
    half = clean[len(clean) // 2 :]
    price = 3 * math.log(len(clean)) * _inflation(_correlation(half - _median(half)))
    return change_points(clean / noise, price, _shortest(len(clean)))


def _confirmed(clean: "Logs", noise: float, cuts: tuple[int, ...]) -> tuple[int, ...]:
    """The cuts at the price of the correlation within the levels between those found first.

    Where levels are known, wandering can be told from changes of level, and the noise too can be
    stated in full: what differs between neighbours is only 1 - r of the variance.
    """
    r = _correlation(_within(clean, cuts))
    price = 3 * math.log(len(clean)) * _inflation(r) / (1 - r)
    return change_points(clean / noise, price, _shortest(len(clean)))


def _shortest(steps: int) -> int:
    """Fewest steps of a level: a fortieth of the run."""
    return max(5, steps // 40)


def _inflation(r: float) -> float:
    return (1 + r) / (1 - r)


def _correlation(deviations: "Logs") -> float:
    """Lag-one autocorrelation of deviations from a level, within 0 and 0.9."""
    square = float(deviations @ deviations)
    return min(max(float(deviations[1:] @ deviations[:-1]) / square, 0.0), 0.9) if square else 0.0


def _within(values: "Logs", cuts: tuple[int, ...]) -> "Logs":
    """Deviations of the values from the mean of their segment."""
    import numpy as np

    firsts = np.array((0, *cuts))
    lengths = np.diff(firsts, append=len(values))
    return values - np.repeat(np.add.reduceat(values, firsts) / lengths, lengths)


def _last_level(clean: "Logs", cuts: tuple[int, ...]) -> tuple[float, int]:
    """The median of the last segment, and where the unbroken row of segments within 1 % of it begins."""
    start = cuts[-1] if cuts else 0
    level = _median(clean[start:])
    for first, end in zip((0, *cuts[:-1])[::-1], cuts[::-1], strict=False):
        if abs(_median(clean[first:end]) - level) > BAND:
            break
        start = first
    return level, start


def _past_transient(logs: "Logs", start: int, latest: int, level: float, near: float) -> int:
    """The start moved past steps off the level that were too few for a segment of their own."""
    off = abs(logs[start:latest] - level) > near
    return start + (len(off) if off.all() else int(off.argmin()))


def _past_stalls(stalls: "NDArray[np.intp]", start: int, latest: int, half: int) -> int:
    """The start moved past the last stall of the first half, unless stalls belong to the workload."""
    inside = stalls[stalls >= start]
    early = inside[inside < half]
    if 0 < len(inside) <= ONE_OFF and len(early) and early[-1] < latest:
        return int(early[-1]) + 1
    return start


def _settled(logs: "Logs", start: int, need: int) -> tuple[SteadinessVerdict, int, Drift]:
    """The verdict on the first window that is steady, or else on the longest; its start and its drift."""
    import numpy as np

    steps = len(logs)
    sums = np.concatenate(([0.0], np.cumsum(logs - logs.mean())))
    starts = range(start, steps - need + 1, max(1, int(STRIDE * steps)))
    drifts = (_drift(sums, first) for first in starts)
    longest = next(drifts)
    for first, (low, middle, high) in zip(starts, chain((longest,), drifts), strict=True):
        if low > -BAND and high < BAND:
            return "steady", first, _shares(low, middle, high)
    low, _, high = longest
    return "drifting" if low > BAND or high < -BAND else "not_shown", start, _shares(*longest)


def _drift(sums: "Logs", start: int) -> tuple[float, float, float]:
    """Low end, estimate and high end of the drift over the whole run, from the window that `start` opens.

    Least-squares slope over ten batch means with its t interval of eight degrees of freedom. Batches
    are long against the correlation of steps, so their means may count as independent. `sums` are those
    of the steps before each position.
    """
    import numpy as np
    from scipy.special import stdtrit

    steps = len(sums) - 1
    size, longer = divmod(steps - start, BATCHES)
    index = np.arange(BATCHES + 1)
    edges = start + index * size + np.minimum(index, longer)  # the first batches take what is left over
    means = np.diff(sums[edges]) / np.diff(edges)
    centred = index[:BATCHES] - (BATCHES - 1) / 2
    spread = float(centred @ centred)
    slope = float(centred @ means) / spread
    rest = means - means.mean() - slope * centred
    free = BATCHES - 2
    half_width = float(stdtrit(free, (1 + LEVEL) / 2)) * math.sqrt(float(rest @ rest) / free / spread)
    run = BATCHES * steps / (steps - start)  # batches of this length in the whole run
    return (slope - half_width) * run, slope * run, (slope + half_width) * run


def _shares(low: float, middle: float, high: float) -> Drift:
    return Drift(share=math.expm1(middle), low=math.expm1(low), high=math.expm1(high), level=LEVEL)


def _two_speeds(logs: "Logs") -> tuple[float, ...]:
    """The two levels, lower first, between which the run goes back and forth; empty if it does not.

    The steps are split in two where that explains most of their squares, without the slowest and the
    fastest twentieth, since stalls would make a level of their own. The halves are two speeds if they
    are more than 1 % apart, nine in ten steps lie within a third of the gap of a level (of a uniform
    distribution two in three would, of a normal one fewer), and one in ten is at the rarer level. And
    it has to go back and forth: a tenth of the steps belong to neither of the three longest visits to a
    level, so neither one change nor one dip will do.
    """
    import numpy as np

    trim = len(logs) // 20
    ordered = np.sort(logs)[trim : len(logs) - trim]
    count = np.arange(1, len(ordered))
    below = np.cumsum(ordered - ordered.mean())[:-1]
    split = int((below * below / (count * count[::-1])).argmax()) + 1
    low, high = _median(ordered[:split]), _median(ordered[split:])
    gap = high - low
    near = (np.abs(logs - low) < gap / 3) | (np.abs(logs - high) < gap / 3)
    if gap < BAND or near.mean() < 0.9:
        return ()
    is_high = logs[near] > low + gap / 2
    turns = np.flatnonzero(is_high[1:] != is_high[:-1]) + 1
    visits = np.sort(np.diff(np.concatenate(([0], turns, [len(is_high)]))))
    rarer = min(is_high.mean(), 1 - is_high.mean())
    return (low, high) if min(rarer, visits[:-3].sum() / len(logs)) >= 0.1 else ()


def _reason(verdict: SteadinessVerdict, start: int, drift: Drift) -> str:
    """The verdict on a window as a sentence with its evidence."""
    found = f"{_percent(drift.share)} ({_percent(drift.low)} to {_percent(drift.high)})"
    match verdict:
        case "steady":
            return f"Steady after {start} steps: the drift over the run is {found}."
        case "drifting":
            return f"Still drifting at the end: the drift over the run is {found}."
        case _:
            return (
                f"Steadiness within {_percent(TOLERANCE)} was not shown: the drift over the run is {found}."
            )


def _percent(share: float) -> str:
    return f"{round(100 * share, 1) + 0.0:g} %"
