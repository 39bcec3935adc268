"""Tests of the loop over trials: with a fake launcher and clock, and once for real with signals."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil
import pytest

from study.domain.errors import NotReady
from study.domain.event import Ended, Event, Started, TrialEnded, TrialStarted
from study.domain.record import METHOD, SCHEMA, Failed, Interrupted, Measured, Outcome, Record
from study.domain.study import Protocol
from study.domain.trial import Cell, Plan
from study.lab.launchers import Attempt
from study.lab.loop import conduct
from study.lab.nvml import Card, Cards
from study.lab.rest import Rest
from study.lab.stop import StopRequest

MEASURED = Measured(readings=())
FAILED = Failed(cause="raised", rank=0, exit_code=1, signal=None, reason="no", log_tail=())


class FakeClock:
    """Time that passes only when somebody sleeps or works."""

    def __init__(self) -> None:
        self.time_ns = 1_000

    def now_ns(self) -> int:
        return self.time_ns

    def utc(self) -> str:
        return "2025-01-02T03:04:05Z"

    def sleep(self, seconds: float) -> None:
        self.time_ns += round(seconds * 1e9)


class FakeLauncher:
    """Each launch takes three seconds and comes to what was asked for, in turn; then to `Measured`."""

    name = "fake"

    def __init__(self, clock: FakeClock, *outcomes: Outcome) -> None:
        self.clock = clock
        self.outcomes = list(outcomes)
        self.calls: list[tuple[str, int, float]] = []
        self.folders: list[Path] = []

    def launch(
        self, *, trial: str, cell: Cell, protocol: Protocol, seed: int, folder: Path, limit_s: float
    ) -> Attempt:
        assert folder.is_dir()
        self.calls.append((trial, seed, limit_s))
        self.folders.append(folder)
        self.clock.sleep(3)
        outcome = self.outcomes.pop(0) if self.outcomes else MEASURED
        return Attempt(outcome=outcome, logs={"rank0": trial})

    def cpu_ns(self) -> int | None:
        return 0


class Bench:
    """A loop's surroundings: what was saved and told, and a way to run it."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.stop = StopRequest()
        self.saved: list[tuple[Record, dict[str, str]]] = []
        self.told: list[Event] = []
        self.launcher = FakeLauncher(self.clock)

    def run(self, plan: Plan, **more: object) -> str:
        given: dict[str, object] = {
            "done": frozenset(),
            "attempts": {},
            "save": lambda record, logs: self.saved.append((record, logs)),
            "tell": self.told.append,
            **more,
        }
        return conduct(plan, launcher=self.launcher, stop=self.stop, clock=self.clock, **given)


@pytest.fixture
def bench() -> Bench:
    """A bench with a launcher that measures everything."""
    return Bench()


@pytest.fixture
def plan(plan_of: Callable[..., Plan], cell: Callable[..., Cell]) -> Plan:
    """Four trials of two cells."""
    return plan_of({"a.x1": cell(1), "b.x2": cell(2)}, ["a.x1", "b.x2", "b.x2", "a.x1"])


def test_every_trial_is_recorded_in_the_order_of_the_plan(bench: Bench, plan: Plan) -> None:
    """A whole run is complete, and each record says what was launched, when and for how long."""
    ended = bench.run(plan)
    record, logs = bench.saved[1]

    assert ended == "complete"
    assert [saved.order for saved, _ in bench.saved] == [1, 2, 3, 4]
    assert bench.launcher.calls[1] == ("0002-b.x2", 2, 10.0)
    assert (record.trial, record.cell_id, record.cell.devices) == ("0002-b.x2", "b.x2", 2)
    assert (record.schema, record.method, record.attempt, record.block) == (SCHEMA, METHOD, 1, 1)
    assert (record.seed, record.launcher, record.content_sha256) == (2, "fake", "")
    assert (record.started_ns, record.turnaround_ns) == (3_000_001_000, 3_000_000_000)
    assert logs == {"rank0": "0002-b.x2"}


def test_the_sentinel_is_measured_in_its_own_way_and_its_records_say_so(bench: Bench, plan: Plan) -> None:
    """Also where a cell has its id: another limit, a role of its own, and its own pace."""
    twin = next(planned for planned in plan.cells if planned.id == "a.x1")
    own = msgspec.structs.replace(
        twin, predicted_s=50.0, protocol=msgspec.structs.replace(plan.protocol, time_limit_s=60.0)
    )
    watch = msgspec.structs.replace(plan.trials[0], role="sentinel")
    watched = msgspec.structs.replace(plan, sentinel=own, trials=(watch, *plan.trials[1:]))

    bench.run(watched)

    assert [limit_s for _, _, limit_s in bench.launcher.calls] == [60.0, 10.0, 10.0, 10.0]
    assert [record.role for record, _ in bench.saved] == ["sentinel", "cell", "cell", "cell"]
    started = [event for event in bench.told if isinstance(event, TrialStarted)]
    assert [event.role for event in started] == ["sentinel", "cell", "cell", "cell"]
    (begun,) = (event for event in bench.told if isinstance(event, Started))
    predicted = {planned.id: planned.predicted_s for planned in plan.cells}
    assert begun.predicted_s == 50.0 + sum(predicted[trial.cell_id] for trial in plan.trials[1:])
    assert started[3].left_s == predicted["a.x1"]  # what the sentinel took says nothing about the cell


def test_the_attempts_folder_does_not_stay(bench: Bench, plan: Plan) -> None:
    """Each attempt's files are gone after it, and no two attempts share a folder."""
    bench.run(plan)

    assert len(set(bench.launcher.folders)) == 4
    assert not any(folder.exists() for folder in bench.launcher.folders)


def test_what_is_done_is_not_done_again(bench: Bench, plan: Plan) -> None:
    """On resume only trials without a final outcome run, as a further attempt."""
    bench.run(plan, done={"0001-a.x1", "0003-b.x2"}, attempts={"0001-a.x1": 1, "0002-b.x2": 2})

    assert [(record.order, record.attempt) for record, _ in bench.saved] == [(2, 3), (4, 1)]
    assert bench.told[0] == Started(trials=4, done=2, chosen=4 - 2, predicted_s=4.0)
    assert [event.position for event in bench.told if isinstance(event, TrialStarted)] == [3, 4]


@pytest.mark.parametrize(
    ("only", "orders", "ended"),
    [
        ("b.*", [2, 3], "partial"),
        ("0004-*", [4], "partial"),
        ("*", [1, 2, 3, 4], "complete"),
        ("c", [], "partial"),
    ],
)
def test_a_glob_chooses_trials(bench: Bench, plan: Plan, only: str, orders: list[int], ended: str) -> None:
    """`only` fits cell ids and trial ids; leaving trials undone is said."""
    assert bench.run(plan, only=only) == ended
    assert [record.order for record, _ in bench.saved] == orders
    assert bench.told[-1] == Ended(why=ended)


def test_a_failed_trial_does_not_end_the_run(bench: Bench, plan: Plan) -> None:
    """A failure is stored like a measurement, and the next trial begins."""
    bench.launcher.outcomes = [MEASURED, FAILED]

    assert bench.run(plan) == "complete"
    assert [type(record.outcome) for record, _ in bench.saved] == [Measured, Failed, Measured, Measured]


LOST = Failed(cause="launch", rank=None, exit_code=None, signal=None, reason="lost", log_tail=())


@pytest.mark.parametrize(
    ("outcomes", "kinds"), [([LOST], [Failed, Measured]), ([LOST, LOST], [Failed, Failed])]
)
def test_what_is_no_fact_about_the_cell_is_tried_once_more(
    bench: Bench, plan: Plan, outcomes: list[Outcome], kinds: list[type]
) -> None:
    """A launch that failed is followed at once by the next attempt, both are stored, and then it goes on."""
    bench.launcher.outcomes = list(outcomes)

    assert bench.run(plan, session=2) == "complete"
    tried = [record for record, _ in bench.saved if record.order == 1]
    assert [(type(record.outcome), record.attempt) for record in tried] == list(
        zip(kinds, [1, 2], strict=True)
    )
    assert [event.again for event in bench.told if isinstance(event, TrialEnded)] == [True, *[False] * 4]
    assert {record.session for record, _ in bench.saved} == {2}


def test_after_a_request_to_stop_nothing_is_tried_again(bench: Bench, plan: Plan) -> None:
    """The failed launch stays the only attempt of this session."""
    bench.launcher.outcomes = [LOST]

    assert bench.run(plan, save=lambda record, logs: bench.stop.request("SIGINT")) == "interrupted"
    assert len(bench.launcher.calls) == 1


def test_a_launch_that_the_system_refuses_ends_the_run_with_a_remedy(
    bench: Bench, plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full temporary folder is no failure of the cell."""

    def refuse(**given: object) -> Attempt:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(bench.launcher, "launch", refuse)

    with pytest.raises(NotReady, match="A trial cannot be launched: No space left on device") as refusal:
        bench.run(plan)
    assert "TMPDIR" in refusal.value.remedy
    assert bench.saved == []


def test_time_left_is_learnt_from_measured_trials(bench: Bench, plan: Plan) -> None:
    """Predicted are two seconds a trial; a cell that was measured counts with its own three."""
    bench.launcher.outcomes = [MEASURED, FAILED]
    bench.run(plan)
    left = [event.left_s for event in bench.told if isinstance(event, TrialStarted | TrialEnded)]

    assert bench.told[0] == Started(trials=4, done=0, chosen=4 - 0, predicted_s=8.0)
    assert left == [8.0, 2 + 2 + 3, 7.0, 2 + 3, 5.0, 3, 3.0, 0]


def test_time_left_is_not_guessed(
    bench: Bench, plan_of: Callable[..., Plan], cell: Callable[..., Cell]
) -> None:
    """Where a cell has neither a prediction nor a measurement, no time is told."""
    bench.run(plan_of({"a": cell(), "b": cell()}, ["a", "b", "a"], None))
    left = [event.left_s for event in bench.told if isinstance(event, TrialStarted)]

    assert left == [None, None, 3.0]


def test_settling_is_slept_before_each_trial(bench: Bench, plan: Plan) -> None:
    """The pause that the protocol asks for is kept, and it is not part of the trial."""
    settled = msgspec.structs.replace(plan, protocol=msgspec.structs.replace(plan.protocol, settle_s=7.25))
    bench.run(settled)

    assert [record.started_ns for record, _ in bench.saved][:2] == [7_250_001_000, 17_500_001_000]
    assert bench.told[0] == Started(trials=4, done=0, chosen=4 - 0, predicted_s=4 * (2 + 7.25))


def test_an_interrupted_attempt_is_stored_and_ends_the_run(bench: Bench, plan: Plan) -> None:
    """The trial in flight is kept as interrupted, and none is begun after it."""
    bench.launcher.outcomes = [MEASURED, Interrupted(by="SIGINT")]

    assert bench.run(plan) == "interrupted"
    assert bench.saved[-1][0].outcome == Interrupted(by="SIGINT")
    assert len(bench.saved) == 2
    assert bench.told[-1] == Ended(why="interrupted")


@pytest.mark.parametrize(("asked_at", "saved"), [(0, 0), (1, 1), (4, 4)])
def test_a_request_between_trials_is_heard(bench: Bench, plan: Plan, asked_at: int, saved: int) -> None:
    """Nothing is launched once somebody asked; after the last trial there is nothing to interrupt."""

    def ask(event: Event) -> None:
        done = len(bench.saved)
        if done == asked_at and isinstance(event, Started if asked_at == 0 else TrialEnded):
            bench.stop.request("SIGTERM")

    assert bench.run(plan, tell=ask) == ("complete" if asked_at == 4 else "interrupted")
    assert len(bench.saved) == saved


def test_a_request_while_settling_is_heard(bench: Bench, plan: Plan) -> None:
    """A long pause does not hold up Ctrl-C."""
    settled = msgspec.structs.replace(plan, protocol=msgspec.structs.replace(plan.protocol, settle_s=3600))
    sleep = bench.clock.sleep

    def sleep_and_ask(seconds: float) -> None:
        sleep(seconds)
        bench.stop.request("SIGINT")

    bench.clock.sleep = sleep_and_ask

    assert bench.run(settled) == "interrupted"
    assert bench.saved == []
    assert bench.clock.time_ns == 100_001_000


RUNNER = """
import sys, json
from pathlib import Path
import msgspec
from study.domain.trial import Plan
from study.lab.clock import Clock
from study.lab.launchers.local import Local
from study.lab.loop import conduct
from study.lab.stop import stop_on_signals
plan = msgspec.json.decode(sys.stdin.buffer.read(), type=Plan)
saved = []
def tell(event):
    print(type(event).__name__, flush=True)
with stop_on_signals() as stop:
    with Local(stop=stop, entry="fake_worker:serve", preload=(), sys_path=[sys.argv[1]]) as local:
        ended = conduct(plan, launcher=local, done=(), attempts={}, stop=stop, clock=Clock(), tell=tell,
                        save=lambda record, logs: saved.append(record))
print(msgspec.json.encode([ended, saved]).decode())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_real_run_in_order(
    number: signal.Signals, plan_of: Callable[..., Plan], cell: Callable[..., Cell], here: str
) -> None:
    """One measured trial, then a signal during one that hangs: it is stored, and the run says so."""
    plan = plan_of({"a": cell(2), "b": cell(2, do="hangs_with_grandchildren")}, ["a", "b", "a"])
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, here],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert runner.stdin is not None
    assert runner.stdout is not None
    runner.stdin.write(msgspec.json.encode(plan))
    runner.stdin.close()
    told = [runner.stdout.readline().decode().strip() for _ in range(4)]
    runner.send_signal(number)
    said = runner.stdout.read().decode().splitlines()
    runner.stdout.close()
    runner.wait()
    ended, records = json.loads(said[-1])

    assert told == ["Started", "TrialStarted", "TrialEnded", "TrialStarted"]
    assert runner.returncode == 0
    assert ended == "interrupted"
    kinds = [record["outcome"]["kind"] for record in records]
    assert kinds in (["measured", "interrupted"], ["measured"])  # a signal before the launch launches nothing
    assert 0 <= records[0]["surroundings"]["foreign_cpu_share"] <= 1


def test_a_second_interrupt_leaves_no_process(
    *,
    plan_of: Callable[..., Plan],
    cell: Callable[..., Cell],
    here: str,
    tmp_path: Path,
    until: Callable[[Callable[[], bool]], bool],
) -> None:
    """Ctrl-C twice, during the second that a stubborn rank is given: the run raises, the ranks are gone."""
    plan = plan_of({"a": cell(2, do="stubborn", others="stubborn")}, ["a"])
    runner = subprocess.Popen(
        [sys.executable, "-c", RUNNER, here],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        start_new_session=True,
    )
    assert runner.stdin is not None
    runner.stdin.write(msgspec.json.encode(plan))
    runner.stdin.flush()
    runner.stdin.close()
    runner.stdin = None
    assert until(lambda: len(list(tmp_path.rglob("hangs-*"))) == 2)
    family = psutil.Process(runner.pid).children(recursive=True)

    runner.send_signal(signal.SIGINT)
    time.sleep(0.4)
    runner.send_signal(signal.SIGINT)
    _, said = runner.communicate()

    assert len(family) == 4  # forkserver, resource tracker and two ranks
    assert said.decode().rstrip().endswith("KeyboardInterrupt")
    assert until(lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in family))


def test_before_each_launch_the_machine_is_at_rest(bench: Bench, plan: Plan) -> None:
    """The waiting is no part of the trial and is recorded; devices are looked at."""
    used = iter([0, 0, 2**33, 0, 0, 0, 0, 0, 0, 0])

    def cards() -> Cards:
        on_it = frozenset[int]()
        return Cards(
            cards=tuple(
                Card(uuid=None, bus_id=None, memory_used_bytes=in_use, compute=on_it, graphics=on_it)
                for in_use in (next(used), 0)
            )
        )

    on_gpus = tuple(
        msgspec.structs.replace(each, cell=msgspec.structs.replace(each.cell, accelerator="cuda"))
        for each in plan.cells
    )
    plan = msgspec.structs.replace(plan, cells=on_gpus)
    rest = Rest(cards=cards, memory=lambda: (2**30, 2**36), stop=bench.stop, clock=bench.clock, environ={})
    bench.run(plan, rest=rest)
    around = [record.surroundings for record, _ in bench.saved]

    assert [each.waited_s for each in around] == [0.0, 0.1, 0.0, 0.0]
    assert [record.started_ns for record, _ in bench.saved][:2] == [1_000, 3_100_001_000]
    assert bench.saved[1][0].turnaround_ns == 3_000_000_000
    assert around[0].foreign_processes_elsewhere == 0
    assert around[0].foreign_processes == 0


def test_without_a_look_around_nothing_is_claimed(bench: Bench, plan: Plan) -> None:
    """Null and the reason, never zero processes."""
    bench.run(plan)
    around = bench.saved[0][0].surroundings

    assert (around.waited_s, around.foreign_processes) == (None, None)
    assert around.unknown["foreign_processes"] == "nobody looked"
