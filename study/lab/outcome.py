"""From what the ranks left behind to one outcome: which rank failed first, and by what.

Nothing here looks at how fast a trial was: a trial is refused for being incomplete or inconsistent,
never for its number.
"""

import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from study.domain.fact import Fact
from study.domain.record import Failed, Measured, OutOfMemory, RankError, Reading
from study.domain.study import Protocol
from study.domain.trial import Cell
from study.lab.files import read_plain
from study.lab.logs import cut, tail_of
from study.lab.rank import error_file
from study.lab.scrub import Identity, scrub

REASON_LENGTH = 2000
TRACE_LINES = 100


class End(NamedTuple):
    """How one rank ended by itself, that is before the lab sent it any signal."""

    rank: int
    exit_code: int
    time_ns: int


class Left(NamedTuple):
    """What one attempt left behind: files by rank, and sentences about files that cannot be read."""

    readings: dict[int, Reading]
    errors: dict[int, RankError]
    broken: dict[int, str]


def collect(folder: Path, ranks: int) -> Left:
    """The readings and errors in an attempt's folder, decoded strictly."""
    left = Left({}, {}, {})
    for rank in range(ranks):
        for path, kind, found in (
            (folder / f"reading-{rank}.json", Reading, left.readings),
            (error_file(folder, rank), RankError, left.errors),
        ):
            _decode(path, kind, rank, found, left.broken)
    return left


def _decode(
    path: Path,
    kind: type[Fact],
    rank: int,
    found: dict[int, Reading] | dict[int, RankError],
    broken: dict[int, str],
) -> None:
    try:
        fact = msgspec.json.decode(read_plain(path), type=kind)
    except FileNotFoundError:
        return
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        broken[rank] = f"{path.name} cannot be read: {why}"
        return
    if fact.rank != rank:  # type: ignore[attr-defined]
        broken[rank] = f"{path.name} says that it is of rank {fact.rank}"  # type: ignore[attr-defined]
        return
    found[rank] = fact  # type: ignore[assignment]


def first_failure(
    ends: Sequence[End], left: Left, logs: Mapping[int, str], who: Identity, *, memory_kills: int = 0
) -> OutOfMemory | Failed | None:
    """The failure that came first, or nothing if no rank failed by itself.

    A rank's own error counts from the time that it noted (`time.perf_counter_ns`), a rank that died
    without one from when its end was seen. The echo of another rank's failure counts only if there
    is nothing else.
    `memory_kills` is by how many the kernel's count of kills for memory rose.
    """
    dead = [end for end in ends if end.exit_code != 0 and end.rank not in left.errors]
    own = [error for error in left.errors.values() if not error.secondary]
    echoes = [error for error in left.errors.values() if error.secondary]
    candidates: list[End | RankError] = [*dead, *own] or [*echoes]
    first = min(candidates, key=_time, default=None)
    if isinstance(first, RankError):
        return _of_error(first, _exit_code(ends, first.rank), logs.get(first.rank, ""), who)
    if first is not None:
        return _of_death(first, left.broken.get(first.rank, ""), logs.get(first.rank, ""), memory_kills)
    for end in sorted(ends):
        if end.rank not in left.readings:
            reason = left.broken.get(end.rank) or "it left no reading"
            sentence = f"Rank {end.rank} ended normally, but {reason}."
            return _invalid(end.rank, end.exit_code, sentence, logs.get(end.rank, ""), who)
    return None


def measured(
    left: Left, cell: Cell, protocol: Protocol, logs: Mapping[int, str], who: Identity
) -> Measured | Failed:
    """The readings of all ranks, if they agree with each other and with the plan."""
    readings = tuple(left.readings[rank] for rank in sorted(left.readings))
    problem = contradiction(readings, cell, protocol)
    if problem:
        return _invalid(None, None, problem, logs.get(0, ""), who)
    return Measured(readings=readings)


def contradiction(readings: Sequence[Reading], cell: Cell, protocol: Protocol) -> str:
    """What is wrong with these readings, as a sentence; empty if nothing is.

    Each step is worth the same whole number of units for each of its samples, so the work of all
    ranks together is steps x batch x a whole number.
    """
    return next(_contradictions(readings, cell, protocol), "")


def _contradictions(readings: Sequence[Reading], cell: Cell, protocol: Protocol) -> Iterator[str]:
    """The first sentence counts: those after it may rest on what it denies."""
    if [reading.rank for reading in readings] != list(range(cell.devices)):
        yield f"Readings of ranks {[reading.rank for reading in readings]} instead of {cell.devices} ranks."
    steps = {len(reading.step_ns) for reading in readings}
    if len(steps) != 1:
        yield f"The ranks did not do the same number of steps: {sorted(steps)}."
    count, wanted = min(steps), protocol.window_steps
    if count != wanted and wanted is not None:
        yield f"{count} steps in the window, {wanted} were planned."
    if count < protocol.min_steps and wanted is None:
        yield f"{count} steps in the window, at least {protocol.min_steps} were planned."
    units = sorted({reading.work_unit for reading in readings})
    if len(units) != 1:
        yield f"The ranks count their work in different units: {', '.join(units)}."
    work = sum(reading.work for reading in readings)
    if work <= 0 or work % (count * cell.batch) or min(reading.work for reading in readings) < 0:
        yield f"{work} {units[0]} of all ranks are no whole number for {count} steps of batch {cell.batch}."
    for reading in readings:
        if reading.window_end_ns <= reading.window_start_ns or min(reading.step_ns) < 0:
            yield f"The clock of rank {reading.rank} went backwards in the window."


def _time(what: End | RankError) -> int:
    return what.time_ns


def _exit_code(ends: Sequence[End], rank: int) -> int | None:
    return next((end.exit_code for end in ends if end.rank == rank), None)


def _of_error(error: RankError, exit_code: int | None, log: str, who: Identity) -> OutOfMemory | Failed:
    # bounded before it is scrubbed: what is cut off here is far beyond what is kept in the end
    message = cut(scrub(error.message[: 10 * REASON_LENGTH], who), REASON_LENGTH)
    trace = "\n".join(line[:REASON_LENGTH] for line in error.trace[-TRACE_LINES:])
    tail = tail_of(log) or tail_of(scrub(trace, who))
    if error.kind == "out_of_memory":
        return OutOfMemory(rank=error.rank, evidence=message, log_tail=tail)
    return Failed(
        cause=error.kind, rank=error.rank, exit_code=exit_code, signal=None, reason=message, log_tail=tail
    )


def _of_death(end: End, broken: str, log: str, memory_kills: int) -> OutOfMemory | Failed:
    if end.exit_code >= 0:
        return Failed(
            cause="exit",
            rank=end.rank,
            exit_code=end.exit_code,
            signal=None,
            reason=f"Rank {end.rank} ended with exit code {end.exit_code}; {broken or 'no error file'}.",
            log_tail=tail_of(log),
        )
    name = signal_name(-end.exit_code)
    if name == "SIGKILL" and memory_kills:
        return OutOfMemory(
            rank=end.rank,
            evidence=f"Killed by SIGKILL, and the kernel's count of kills for memory rose by {memory_kills}.",
            log_tail=tail_of(log),
        )
    return Failed(
        cause="signal",
        rank=end.rank,
        exit_code=end.exit_code,
        signal=name,
        reason=f"Rank {end.rank} was ended by {name}.",
        log_tail=tail_of(log),
    )


def _invalid(rank: int | None, exit_code: int | None, reason: str, log: str, who: Identity) -> Failed:
    return Failed(
        cause="invalid",
        rank=rank,
        exit_code=exit_code,
        signal=None,
        reason=scrub(reason, who),
        log_tail=tail_of(log),
    )


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11; the number where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
