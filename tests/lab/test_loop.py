"""Tests of the loop over trials: with a fake launcher and clock, and once for real with signals."""

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

from study.domain.event import Ended, Event, Started, TrialEnded, TrialStarted
from study.domain.record import METHOD, SCHEMA, Failed, Interrupted, Measured, Outcome, Record
from study.domain.study import Protocol
from study.domain.trial import Cell, Plan
from study.lab.launchers import Attempt
from study.lab.loop import conduct
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
