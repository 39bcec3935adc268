"""The loop over a plan's trials: settle, look around, launch, record, save, tell.

The order is the plan's. A trial with a final outcome is not run again. Whatever an attempt comes to
is stored before the next one begins, so a run that is killed loses the trial in flight and no more.
An attempt that says nothing about its cell, because its ranks could not be started or found a port taken,
is followed by one more at once; both are stored.
"""

import fnmatch
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from study.domain.errors import NotReady
from study.domain.event import Ended, Event, Started, TrialEnded, TrialStarted
from study.domain.record import FINAL, METHOD, SCHEMA, Measured, Record, failed_to_launch
from study.domain.trial import Plan, PlannedTrial, planned_cell
from study.lab.clock import Clock
from study.lab.launchers import Launcher
from study.lab.rest import Rest, Waited
from study.lab.stop import StopRequest
from study.lab.surroundings import load, surroundings, usage

End = Literal["complete", "partial", "interrupted"]
SLICE_S = 0.1


def conduct(
    plan: Plan,
    *,
    launcher: Launcher,
    done: Collection[str],
    attempts: Mapping[str, int],
    save: Callable[[Record, dict[str, str]], object],
    tell: Callable[[Event], object],
    stop: StopRequest,
    clock: Clock,
    only: str | None = None,
    session: int | None = None,
    paced_by: Iterable[Record] = (),
    rest: Rest | None = None,
) -> End:
    """Run the plan's trials that are not `done`, in its order, and say how it ended.

    `done` are ids of trials with a final outcome, `attempts` how many attempts a trial has already.
    `only` is a glob over cell ids and trial ids. `save` is given each record, its content hash still
    empty, with the ranks' logs by name. "partial" means that `only` left trials undone. `session` is the
    number that each record gets. `paced_by` are records of before, which tell how long trials take. `rest`
    waits before each launch until the machine is at rest again.

    Raises:
        NotReady: ranks cannot be started at all, or cannot be ended.
        KeyboardInterrupt: at a second Ctrl-C; the ranks are ended, the attempt is not recorded.
    """
    undone = [trial for trial in sorted(plan.trials, key=lambda t: t.order) if trial.id not in done]
    chosen = [trial for trial in undone if matches(trial, only)]
    pace = _Pace(plan)
    for record in paced_by:
        pace.note(record)
    finished = len(plan.trials) - len(undone)
    predicted_s = pace.left_s(chosen)
    tell(Started(trials=len(plan.trials), done=finished, chosen=len(chosen), predicted_s=predicted_s))
    for index, trial in enumerate(chosen):
        if stop.requested:
            break
        position = finished + index + 1
        tell(
            TrialStarted(
                trial=trial.id,
                cell_id=trial.cell_id,
                position=position,
                block=trial.block,
                left_s=pace.left_s(chosen[index:]),
                role=trial.role,
            )
        )
        if not _settle(plan.protocol.settle_s, stop, clock):
            break
        waited = rest.before(planned_cell(plan, trial).cell) if rest else None
        if stop.by:
            break
        number = attempts.get(trial.id, 0) + 1
        left_s = pace.left_s(chosen[index + 1 :])
        record, logs = _attempt(
            plan, trial, number, launcher=launcher, clock=clock, session=session, rest=rest, waited=waited
        )
        save(record, logs)
        if failed_to_launch(record.outcome) and not stop.requested:
            tell(TrialEnded(record=record, position=position, left_s=left_s, again=True))
            record, logs = _attempt(
                plan,
                trial,
                number + 1,
                launcher=launcher,
                clock=clock,
                session=session,
                rest=rest,
                waited=rest.before(planned_cell(plan, trial).cell) if rest else None,
            )
            save(record, logs)
        pace.note(record)
        tell(TrialEnded(record=record, position=position, left_s=pace.left_s(chosen[index + 1 :])))
        if not isinstance(record.outcome, FINAL):
            break
    else:
        return _ended("complete" if len(chosen) == len(undone) else "partial", tell)
    return _ended("interrupted", tell)


def _attempt(
    plan: Plan,
    trial: PlannedTrial,
    number: int,
    *,
    launcher: Launcher,
    clock: Clock,
    session: int | None,
    rest: Rest | None,
    waited: Waited | None,
) -> tuple[Record, dict[str, str]]:
    planned = planned_cell(plan, trial)
    protocol = planned.protocol or plan.protocol
    with _folder() as folder:
        load_before, before = load(), usage(launcher)
        started_utc, started_ns = clock.utc(), clock.now_ns()
        attempt = launcher.launch(
            trial=trial.id,
            cell=planned.cell,
            protocol=protocol,
            seed=trial.seed,
            folder=folder,
            limit_s=protocol.time_limit_s,
        )
        turnaround_ns = clock.now_ns() - started_ns
        after = usage(launcher)
    seen = rest.after(planned.cell, waited) if rest and waited else None
    record = Record(
        schema=SCHEMA,
        method=METHOD,
        trial=trial.id,
        order=trial.order,
        block=trial.block,
        attempt=number,
        cell_id=trial.cell_id,
        cell=planned.cell,
        seed=trial.seed,
        launcher=launcher.name,
        started_utc=started_utc,
        started_ns=started_ns,
        turnaround_ns=turnaround_ns,
        outcome=attempt.outcome,
        surroundings=surroundings(before, after, load_before, seen),
        session=session,
        role=trial.role,
    )
    return record, attempt.logs


@contextmanager
def _folder() -> Iterator[Path]:
    """A temporary folder for one attempt.

    Raises:
        NotReady: the system refuses it, or refuses something else that a launch needs.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="study-", ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    except OSError as error:
        raise NotReady(
            f"A trial cannot be launched: {error.strerror or error}.",
            "Look at the room in the temporary folder (TMPDIR) and at the limits on processes and open files "
            "(`ulimit -a`). Everything measured so far is stored; the same command goes on.",
        ) from error


class _Pace:
    """How long trials take: of each cell the mean of those measured so far, else what was predicted."""

    def __init__(self, plan: Plan) -> None:
        self._settle_s = plan.protocol.settle_s
        self._predicted_s = {("cell", cell.id): cell.predicted_s for cell in plan.cells}
        if plan.sentinel is not None:
            self._predicted_s["sentinel", plan.sentinel.id] = plan.sentinel.predicted_s
        self._seen: dict[tuple[str, str], list[float]] = defaultdict(list)

    def note(self, record: Record) -> None:
        if isinstance(record.outcome, Measured):
            self._seen[record.role, record.cell_id].append(record.turnaround_ns / 1e9)

    def left_s(self, trials: Iterable[PlannedTrial]) -> float | None:
        """Seconds for these trials, or nothing if one of them cannot be predicted."""
        total = 0.0
        for trial in trials:
            which = (trial.role, trial.cell_id)
            seen = self._seen.get(which)
            each = sum(seen) / len(seen) if seen else self._predicted_s[which]
            if each is None:
                return None
            total += each + self._settle_s
        return total


def _settle(seconds: float, stop: StopRequest, clock: Clock) -> bool:
    """Let the machine come to rest, in slices; whether nobody asked to stop meanwhile."""
    while seconds > 0 and not stop.requested:
        clock.sleep(min(seconds, SLICE_S))
        seconds -= SLICE_S
    return not stop.requested


def matches(trial: PlannedTrial, only: str | None) -> bool:
    """Whether the glob `only` fits the trial's cell id or its own id; no glob fits every trial."""
    return only is None or any(fnmatch.fnmatchcase(name, only) for name in (trial.cell_id, trial.id))


def _ended(why: End, tell: Callable[[Event], object]) -> End:
    tell(Ended(why=why))
    return why
