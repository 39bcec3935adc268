"""Whether the machine drifted: how rates changed over a session, at equal work.

Every cell is repeated over the session, in random order within blocks. So the deviations of a cell's log
rates from their mean, against the deviations of their start times, show one slope for all cells: least
squares with a level for each cell. Cells that check the instrument are left out: what they do is timed
by the clock and not by the machine. The interval is Student's t over trials.

Sources: method page, order and drift; Frisch & Waugh, Econometrica 1(4), 1933 (levels taken out first).
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from study.analysis import reasons
from study.analysis.intervals import quantile
from study.domain.estimate import Estimate
from study.domain.fact import Fact
from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import TrialSummary

LIMIT = 0.01
"""A drift of more than this share is of practical size. It is a judgement, the same for every study."""
LEAST_DF = 2
"""A line through fewer trials than its cells' levels, its slope and this many is no evidence."""
LEVEL = 0.95


class SessionDrift(Fact, frozen=True, kw_only=True):
    """The drift of one session as a share of the rate, over the time from its first trial to its last.

    `sessions` counts those that the run has; the one with the most trials, `session`, is taken. `reason`
    says why there is no estimate.
    """

    estimate: Estimate | None
    trials: tuple[str, ...]
    sessions: int
    session: int = 0
    reason: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether rates are shown to have drifted, by more than the limit as far as one can tell."""
        return is_shown(self.estimate)

    @property
    def is_within(self) -> bool:
        """Whether the whole interval lies within the limit."""
        return is_within(self.estimate)


def is_shown(drift: Estimate | None) -> bool:
    """Whether zero lies outside the interval, and the value beyond the limit."""
    if drift is None or drift.low is None or drift.high is None:
        return False
    return (drift.low > 0 or drift.high < 0) and abs(drift.value) > LIMIT


def is_within(drift: Estimate | None) -> bool:
    """Whether the whole interval lies within the limit."""
    if drift is None or drift.low is None or drift.high is None:
        return False
    return drift.low > -LIMIT and drift.high < LIMIT


def session_drift(run: Run, trials: Sequence[TrialSummary], records: Sequence[Record]) -> SessionDrift:
    """The drift of the run's longest session. `records` are those that count, one a trial."""
    working = {planned.id for planned in run.plan.cells if planned.cell.task != "check"}
    rates = {t.trial: t.rate for t in trials if t.rate is not None and t.cell_id in working}
    sessions = by_session(run, [record for record in records if record.trial in rates])
    number, longest = max(sessions.items(), key=lambda session: len(session[1]), default=(0, []))
    repeated: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for record, at in zip(longest, start_times(longest), strict=True):
        repeated[record.cell_id].append((at, math.log(rates[record.trial])))
    cells = [points for points in repeated.values() if len(points) > 1]
    estimate = slope(cells)
    used = {cell_id for cell_id, points in repeated.items() if len(points) > 1}
    return SessionDrift(
        estimate=estimate,
        trials=tuple(record.trial for record in longest if record.cell_id in used) if estimate else (),
        sessions=len(run.sessions),
        session=number,
        reason="" if estimate else reasons.FEW_FOR_DRIFT,
    )


def by_session(run: Run, records: Sequence[Record]) -> dict[int, list[Record]]:
    """The records of each session, by its number from 1.

    Records of before they had a number of their session are placed by the date.
    """
    began = sorted(session.started_utc for session in run.sessions)
    sessions: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        sessions[record.session or bisect_right(began, record.started_utc)].append(record)
    return dict(sessions)


def slope(cells: Sequence[Sequence[tuple[float, float]]]) -> Estimate | None:
    """The change over the whole time, as a share, from each cell's times and log rates.

    Null with fewer than two degrees of freedom: one a trial, less one a cell, less one for the slope.
    """
    times = [at for points in cells for at, _ in points]
    df = len(times) - len(cells) - 1
    if df < LEAST_DF or max(times) == min(times):
        return None
    span = max(times) - min(times)
    x, y = [], []
    for points in cells:
        x += _centred([at / span for at, _ in points])
        y += _centred([log for _, log in points])
    spread = math.fsum(a * a for a in x)
    rise = math.fsum(a * b for a, b in zip(x, y, strict=True)) / spread
    rest = math.fsum((b - rise * a) ** 2 for a, b in zip(x, y, strict=True))
    half = quantile(0.5 + LEVEL / 2, df) * math.sqrt(rest / df / spread)
    return Estimate(
        value=math.expm1(rise),
        low=math.expm1(rise - half),
        high=math.expm1(rise + half),
        n=len(times),
        unit="share",
        method="slope_t",
        level=LEVEL,
    )


def start_times(records: Sequence[Record]) -> list[float]:
    """When each trial started, in nanoseconds of one clock; if that clock was reset, its order.

    The date is not asked: it may be set back while a run goes on.
    """
    in_time = sorted(records, key=lambda r: r.order)
    if all(earlier.started_ns < later.started_ns for earlier, later in pairwise(in_time)):
        return [float(record.started_ns) for record in records]
    return [float(record.order) for record in records]


def _centred(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]
