"""The sentinel's trace: how one fixed cell, first and last in each block, saw the machine change.

Its trials enter no cell, no series and no comparison. They are a second witness to a drift: at equal work
and evenly spread over the session, where the first witness, all cells together, is of many kinds of work.

Source: method page, order and drift.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from study.analysis import reasons
from study.analysis.drift import by_session, slope, start_times
from study.analysis.intervals import estimate, mapped, of_cell, of_logs, repeats
from study.analysis.trials import counting, summarise
from study.domain.estimate import Estimate
from study.domain.record import Measured, Record
from study.domain.run import Run
from study.domain.summary import SentinelPoint, SentinelSession, SentinelSummary, TrialSummary

LEAST_FOR_SPREAD = 3


def of_cells(records: Sequence[Record]) -> tuple[Record, ...]:
    """The records that are samples of their cells: all but the sentinel's."""
    return tuple(record for record in records if record.role == "cell")


def watch(run: Run, records: Sequence[Record], session: int) -> SentinelSummary | None:
    """What the sentinel saw, or nothing if the run has none.

    `records` are all of the run. The slope is over `session`, that of the other witness.
    """
    planned = run.plan.sentinel
    if planned is None:
        return None
    ids = {trial.id for trial in run.plan.trials if trial.role == "sentinel"}
    chosen = counting([record for record in records if record.trial in ids])
    trials = summarise(chosen)
    rates = {trial.trial: trial.rate for trial in trials if trial.rate is not None}
    placed = by_session(run, [record for record in chosen if record.trial in rates])
    points = _points(run, counting(records), placed, rates)
    drift = slope([_line(placed.get(session, ()), rates)])
    within = _within_blocks(points)
    spread = _spread(points)
    unit = next((_unit(record) for record in chosen if record.trial in rates), "")
    sessions = tuple(
        _session(number, [t for t in trials if t.trial in {r.trial for r in members}], unit)
        for number, members in sorted(placed.items())
    )
    unknown = {
        name: reason
        for name, value, reason in (
            ("drift", drift, reasons.FEW_OF_SENTINEL),
            ("within_blocks", within, reasons.NO_SENTINEL_PAIRS),
            ("spread", spread, reasons.FEW_OF_SENTINEL),
        )
        if value is None
    }
    return SentinelSummary(
        cell_id=planned.id,
        cell=planned.cell,
        unit=unit,
        planned=len(ids),
        trials=trials,
        points=points,
        sessions=sessions,
        spread=spread,
        drift=drift,
        within_blocks=within,
        unknown=unknown,
    )


def _points(
    run: Run,
    records: Sequence[Record],
    placed: Mapping[int, Sequence[Record]],
    rates: Mapping[str, float],
) -> tuple[SentinelPoint, ...]:
    """Every measured trial, its time counted from the first trial of its session, of whatever role."""
    if not rates:
        return ()
    centre = math.fsum(map(math.log, rates.values())) / len(rates)
    begins: dict[int, int] = {}
    for trial in run.plan.trials:
        if trial.role == "sentinel":
            begins[trial.block] = min(trial.order, begins.get(trial.block, trial.order))
    since = {number: _since(everything) for number, everything in by_session(run, records).items()}
    return tuple(
        SentinelPoint(
            trial=record.trial,
            order=record.order,
            block=record.block,
            session=number,
            place="first" if record.order == begins[record.block] else "last",
            start_s=(at := since[number].get(record.trial)),
            residual=math.log(rates[record.trial]) - centre,
            unknown={} if at is not None else {"start_s": reasons.CLOCK_BEGAN_ANEW},
        )
        for number, record in sorted(
            ((number, record) for number, members in placed.items() for record in members),
            key=lambda one: one[1].order,
        )
    )


def _since(records: Sequence[Record]) -> dict[str, float]:
    """Seconds from the first of these records, by trial; nothing if the clock began anew on the way."""
    times = start_times(records)
    if times != [float(record.started_ns) for record in records]:
        return {}
    return {record.trial: (at - min(times)) / 1e9 for record, at in zip(records, times, strict=True)}


def _line(records: Sequence[Record], rates: Mapping[str, float]) -> list[tuple[float, float]]:
    times = start_times(records)
    return [(at, math.log(rates[record.trial])) for record, at in zip(records, times, strict=True)]


def _within_blocks(points: Sequence[SentinelPoint]) -> Estimate | None:
    """By which share the last trial of a block differs from the first, over blocks made in one session."""
    pairs: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for point in points:
        pairs[point.session, point.block][point.place] = point.residual
    changes = [pair["last"] - pair["first"] for pair in pairs.values() if len(pair) == 2]
    if not changes:
        return None
    mean = of_logs(changes, value=math.exp(math.fsum(changes) / len(changes)))
    return mapped(estimate(mean), lambda ratio: ratio - 1, unit="share")


def _spread(points: Sequence[SentinelPoint]) -> float | None:
    """The standard deviation of the logs about the mean of their session: days differ, trials spread."""
    sessions: dict[int, list[float]] = defaultdict(list)
    for point in points:
        sessions[point.session].append(point.residual)
    df = len(points) - len(sessions)
    if df < LEAST_FOR_SPREAD - 1:
        return None
    means = {number: math.fsum(logs) / len(logs) for number, logs in sessions.items()}
    rest = math.fsum((log - means[number]) ** 2 for number, logs in sessions.items() for log in logs)
    return math.sqrt(rest / df)


def _session(number: int, trials: Sequence[TrialSummary], unit: str) -> SentinelSession:
    return SentinelSession(session=number, rate=estimate(of_cell(repeats(trials)), unit=f"{unit}/s"))


def _unit(record: Record) -> str:
    return record.outcome.readings[0].work_unit if isinstance(record.outcome, Measured) else ""
