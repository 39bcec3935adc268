"""From records to one summary a trial: which attempt counts, its rate, and rules that exclude a trial.

No rule here looks at a rate: a trial is excluded for what it did, never for how long it took.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain
from statistics import median
from typing import Literal

from study.analysis import reasons
from study.analysis.steady import assess
from study.domain.record import (
    Failed,
    Interrupted,
    Measured,
    OutOfMemory,
    Reading,
    Record,
    Skipped,
    Surroundings,
    TimedOut,
    memory_was_in_use,
)
from study.domain.summary import TrialSummary
from study.domain.trial import Cell

Kind = Literal["measured", "out_of_memory", "failed", "timed_out", "skipped", "interrupted", "excluded"]

SAMPLE_UNITS = ("samples", "images", "sequences", "items")
"""Units of which a step's batch holds exactly `batch`; any other unit comes in equal shares a step."""


def counting(records: Sequence[Record]) -> tuple[Record, ...]:
    """The attempt of each trial that counts, in order of trials.

    It is the latest that was not interrupted: an interrupted attempt is no result. A trial of which
    every attempt was interrupted is represented by its last one.
    """
    attempts: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        attempts[record.trial].append(record)
    chosen = [max(several, key=_precedence) for several in attempts.values()]
    return tuple(sorted(chosen, key=lambda record: (record.order, record.trial)))


def summarise(records: Sequence[Record]) -> tuple[TrialSummary, ...]:
    """One summary for each trial that has a record, in order of trials.

    `rate` is the work of all ranks over the wall time of the window (`wall_s`). `step_ns[i]` is the
    slowest rank's step i, or rank 0's of independent replicas. `imbalance` is the mean over steps of
    (max - median over ranks) / max.
    """
    chosen = counting(records)
    faults = excluded(chosen)
    return tuple(_summary(record, faults.get(record.trial, "")) for record in chosen)


def earlier(records: Sequence[Record]) -> tuple[TrialSummary, ...]:
    """The attempts that do not count, since another of the trial does; in order of trials and attempts."""
    chosen = set(map(id, counting(records)))
    left = [record for record in records if id(record) not in chosen]
    return tuple(_summary(record, "") for record in sorted(left, key=lambda r: (r.order, r.trial, r.attempt)))


def excluded(chosen: Sequence[Record]) -> dict[str, str]:
    """Trials whose readings cannot be used, each with the sentence that says why.

    Nobody else may have been on their devices: method page, comparing archived results.
    Ranks have to be complete and agree on the steps, losses to be finite, and the work a step to be
    what the batch says and the same in every trial of the cell.
    """
    faults: dict[str, str] = {}
    per_step: dict[str, dict[str, float]] = defaultdict(dict)
    for record in chosen:
        if not isinstance(record.outcome, Measured):
            continue
        fault = _company(record.surroundings) or _fault(record, record.outcome.readings)
        if fault:
            faults[record.trial] = fault
        else:
            per_step[record.cell_id][record.trial] = _work_per_step(record.outcome.readings)
    for shares in per_step.values():
        ranked = Counter(shares.values()).most_common()
        usual = ranked[0][0] if len(ranked) == 1 or ranked[0][1] > ranked[1][1] else None
        for trial, share in shares.items():
            if share != usual:
                faults[trial] = "The work per step differs from that of the cell's other trials."
    return faults


def wall_ns(readings: Sequence[Reading], nodes: int) -> int:
    """Wall time of the window over all ranks, in nanoseconds.

    On one host: from the first rank's start to the last rank's end, all on one monotonic clock. On
    several hosts clocks cannot be subtracted, so it is the longest of the ranks' own durations.
    """
    if nodes > 1:
        return max(reading.window_end_ns - reading.window_start_ns for reading in readings)
    return max(r.window_end_ns for r in readings) - min(r.window_start_ns for r in readings)


def slowest(rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The largest value of each column: per step, the slowest rank."""
    return tuple(max(column) for column in zip(*rows, strict=False))


def are_replicas(cell: Cell) -> bool:
    """Whether each rank is a copy of the whole model that answers its own requests and waits for no other."""
    return cell.task == "infer" and cell.strategy == "ddp" and cell.devices > 1


def awaited(cell: Cell, rows: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The times that something waits for, one row a rank: of replicas all, else per step the slowest."""
    return tuple(chain.from_iterable(rows)) if are_replicas(cell) else slowest(rows)


def imbalance(rows: Sequence[Sequence[int]]) -> float | None:
    """Mean over steps of (max - median over ranks) / max; null with fewer than two ranks."""
    if len(rows) < 2:
        return None
    shares = [
        (max(column) - median(column)) / max(column) if max(column) else 0.0
        for column in zip(*rows, strict=True)
    ]
    return math.fsum(shares) / len(shares)


def _precedence(record: Record) -> tuple[bool, int, str, str]:
    is_result = not isinstance(record.outcome, Interrupted)
    return (is_result, record.attempt, record.started_utc, record.content_sha256)


def _work_per_step(readings: Sequence[Reading]) -> float:
    return sum(reading.work for reading in readings) / len(readings[0].step_ns)


def _company(surroundings: Surroundings) -> str:
    """Why the trial was not alone on its devices, or nothing.

    Inside a container processes of others cannot be seen, but the memory that they hold can.
    """
    if surroundings.foreign_processes:
        return "Another program was on a device of the trial."
    in_use = memory_was_in_use(surroundings)
    return "Memory of a device of the trial was in use when it began." if in_use else ""


def _fault(record: Record, readings: Sequence[Reading]) -> str:
    """Why the readings cannot be used, or nothing. Checks that lean on complete ranks come after them."""
    ranks = sorted(reading.rank for reading in readings)
    if ranks != list(range(record.cell.devices)):
        return f"Readings came from {len(readings)} ranks of {record.cell.devices}."
    steps = {len(reading.step_ns) for reading in readings}
    losses = [
        loss for reading in readings for loss in (*reading.loss, reading.loss_first) if loss is not None
    ]
    work = sum(reading.work for reading in readings)
    counts_samples = readings[0].work_unit in SAMPLE_UNITS
    checks = {
        "The ranks did not run the same number of steps.": len(steps) > 1 or 0 in steps,
        "The ranks counted their work in different units.": len({r.work_unit for r in readings}) > 1,
        "The loss is not finite.": not all(math.isfinite(loss) for loss in losses),
        "No work was counted.": work <= 0 or any(reading.work < 0 for reading in readings),
        "The work counted is not the number of steps times the batch.": (
            counts_samples and work != max(steps) * record.cell.batch
        ),
        "The window has no length.": wall_ns(readings, record.cell.nodes) <= 0,
    }
    return next((sentence for sentence, wrong in checks.items() if wrong), "")


def _summary(record: Record, fault: str) -> TrialSummary:
    outcome = record.outcome
    usable = isinstance(outcome, Measured) and not fault
    readings = outcome.readings if isinstance(outcome, Measured) and usable else ()
    rows = [reading.step_ns for reading in readings]
    shown = [r for r in readings if r.rank == 0] if are_replicas(record.cell) else readings
    wall = wall_ns(readings, record.cell.nodes) / 1e9 if usable else None
    work = sum(reading.work for reading in readings) if usable else None
    apart = are_replicas(record.cell)
    skew = imbalance(rows) if usable and not apart else None
    unknown = {} if usable else dict.fromkeys(("rate", "wall_s", "work", "imbalance"), reasons.NO_RATE)
    if usable and skew is None:
        unknown["imbalance"] = reasons.NO_WAITING if apart else reasons.ONE_RANK
    foreign = record.surroundings.foreign_cpu_share
    if foreign is None:
        unknown["foreign_cpu_share"] = record.surroundings.unknown.get(
            "foreign_cpu_share", "It was not recorded."
        )
    kind, sentence = _outcome(record)
    steps = slowest([reading.step_ns for reading in shown])
    warmup = slowest([reading.warmup_step_ns for reading in shown])
    if not usable:
        unknown["steadiness"] = reasons.NO_RATE
    return TrialSummary(
        trial=record.trial,
        cell_id=record.cell_id,
        order=record.order,
        block=record.block,
        attempt=record.attempt,
        outcome="excluded" if fault else kind,
        started_utc=record.started_utc,
        rate=work / wall if work is not None and wall else None,
        wall_s=wall,
        work=work,
        step_ns=steps,
        warmup_step_ns=warmup,
        imbalance=skew,
        foreign_cpu_share=foreign,
        fault=fault or sentence,
        # over warm-up and window in one: a level that begins in the warm-up shows that the window began on it
        steadiness=assess((*warmup, *steps)) if usable else None,
        window_events=tuple(sorted({event.name for r in readings for event in r.events if event.window})),
        unknown=unknown,
    )


def _outcome(record: Record) -> tuple[Kind, str]:  # noqa: PLR0911 - one return an outcome
    """The outcome's name, and the sentence for one that is no measurement."""
    match record.outcome:
        case Measured():
            return "measured", ""
        case OutOfMemory(evidence=evidence):
            return "out_of_memory", evidence
        case Failed(reason=reason):
            return "failed", reason
        case TimedOut(silent_s=silent) if silent is not None:
            return "timed_out", f"It hung: in its timed window it made no step for {silent:g} s."
        case TimedOut(limit_s=limit):
            return "timed_out", f"It had not ended after {limit:g} s."
        case Skipped(reason=reason):
            return "skipped", reason
        case Interrupted(by=by):
            return "interrupted", f"Interrupted by {by}."
