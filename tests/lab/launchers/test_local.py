"""Tests of the local launcher, with real processes that do what ranks have done to other launchers."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil
import pytest

from study.domain.record import Failed, Interrupted, Measured, OutOfMemory, TimedOut
from study.domain.shelf import LauncherFacts, all_facts
from study.domain.study import Protocol
from study.domain.trial import Cell
from study.lab.cpus import TOO_MANY, Binder, LogicalCpu, Topology
from study.lab.launchers import Attempt
from study.lab.launchers.local import Local, launcher
from study.lab.processes import read_process
from study.lab.stop import StopRequest

Launch = Callable[..., Attempt]
Gone = Callable[[], bool]


def test_the_shelf_lists_it() -> None:
    """The launcher's facts can be read without importing it."""
    assert all_facts("launchers", LauncherFacts)["local"].several_nodes is False


@pytest.mark.parametrize("devices", [1, 2, 4])
def test_every_rank_comes_back_with_its_reading(launch: Launch, all_gone: Gone, devices: int) -> None:
    """A trial of n ranks is measured and holds n readings in order of rank."""
    attempt = launch(devices)

    assert isinstance(attempt.outcome, Measured)
    assert [reading.rank for reading in attempt.outcome.readings] == list(range(devices))
    assert attempt.logs["rank0"] == "rank 0 does measure\n"
    assert all_gone()


@pytest.mark.parametrize("others", ["hang", "echo", "measure"])
@pytest.mark.parametrize(
    ("do", "cause", "exit_code", "signal_name", "reason"),
    [
        ("raises", "raised", 1, None, "ValueError: the width must be even"),
        ("killed", "signal", -9, "SIGKILL", "Rank 1 was ended by SIGKILL."),
        ("segfault", "signal", -11, "SIGSEGV", "Rank 1 was ended by SIGSEGV."),
        ("sys_exit", "exit", 3, None, "Rank 1 ended with exit code 3; no error file."),
        ("os_exit", "exit", 7, None, "Rank 1 ended with exit code 7; no error file."),
        ("os_exit_255", "exit", 255, None, "Rank 1 ended with exit code 255; no error file."),
        ("invalid", "invalid", 3, None, "The loss is not a number."),
    ],
)
def test_the_first_failure_ends_the_trial_and_is_named(
    *,
    launch: Launch,
    all_gone: Gone,
    do: str,
    cause: str,
    exit_code: int,
    signal_name: str | None,
    reason: str,
    others: str,
) -> None:
    """Whatever the other rank does, the one that failed is the cause, and the next trial is unharmed."""
    attempt = launch(2, do=do, at=1, others=others)
    outcome = attempt.outcome

    assert isinstance(outcome, Failed)
    assert (outcome.cause, outcome.rank, outcome.exit_code) == (cause, 1, exit_code)
    assert (outcome.signal, outcome.reason) == (signal_name, reason)
    assert attempt.logs["rank1"].startswith(f"rank 1 does {do}\n")
    assert attempt.logs["rank1"].endswith(f"{outcome.log_tail[-1]}\n")
    assert all_gone()
    assert isinstance(launch(2).outcome, Measured)


def test_a_segfault_leaves_its_traceback_in_the_log(launch: Launch) -> None:
    """The Python frame that led into the crash can be read in the record."""
    outcome = launch(do="segfault").outcome

    assert isinstance(outcome, Failed)
    assert any("in _segfault" in line for line in outcome.log_tail)


def test_an_echo_that_was_heard_first_does_not_hide_the_cause(launch: Launch) -> None:
    """A rank that only lost its peer is never named while the peer's own error is there."""
    outcome = launch(2, do="raises_late", at=0, others="echo").outcome

    assert isinstance(outcome, Failed)
    assert (outcome.rank, outcome.reason) == (0, "ValueError: the true cause")


def test_an_echo_counts_when_there_is_nothing_else(launch: Launch) -> None:
    """A failure that looks like an echo is still a failure."""
    outcome = launch(2, do="echo", at=1).outcome

    assert isinstance(outcome, Failed)
    assert (outcome.cause, outcome.rank, outcome.reason) == ("raised", 1, "Connection closed by peer")


@pytest.mark.parametrize(
    ("do", "evidence"),
    [
        ("out_of_memory", "RuntimeError: can't allocate memory: 8 GB"),
        ("memory_error", "MemoryError: no room for 3 GB"),
    ],
)
def test_running_out_of_memory_is_an_outcome_of_its_own(launch: Launch, do: str, evidence: str) -> None:
    """The rank's own message is the evidence."""
    outcome = launch(2, do=do, at=1, others="hang").outcome

    assert isinstance(outcome, OutOfMemory)
    assert (outcome.rank, outcome.evidence) == (1, evidence)


def test_a_kill_counts_as_memory_when_the_kernel_says_so(
    here: str, cell: Callable[..., Cell], tmp_path: Path
) -> None:
    """SIGKILL while the kernel's count of kills for memory rises is `OutOfMemory`, with the count."""
    counts = iter([3, 4])
    options = {"entry": "fake_worker:serve", "preload": (), "sys_path": [here]}
    with Local(stop=StopRequest(), memory_kills=lambda: next(counts), **options) as launcher:
        outcome = launcher.launch(
            trial="t", cell=cell(do="killed"), protocol=Protocol(), seed=1, folder=tmp_path, limit_s=10
        ).outcome

    assert isinstance(outcome, OutOfMemory)
    assert outcome.evidence.endswith("count of kills for memory rose by 1.")


@pytest.mark.parametrize("do", ["hang", "stubborn", "hangs_with_grandchildren"])
def test_the_time_limit_ends_everything(launch: Launch, all_gone: Gone, do: str) -> None:
    """A rank that hangs is ended with all that it started, also when it ignores SIGTERM."""
    outcome = launch(2, limit_s=0.6, do=do, at=1).outcome

    assert isinstance(outcome, TimedOut)
    assert (outcome.limit_s, outcome.waiting) == (0.6, (1,))
    assert outcome.log_tail == (f"rank 1 does {do}",)
    assert all_gone()
    assert isinstance(launch(2).outcome, Measured)


def test_what_a_rank_said_wins_over_the_time_limit(launch: Launch) -> None:
    """A rank that wrote its error and then did not end has failed, not timed out."""
    outcome = launch(limit_s=0.6, do="says_and_hangs").outcome

    assert isinstance(outcome, Failed)
    assert outcome.reason == "ValueError: said before hanging"


@pytest.mark.parametrize("do", ["leaves_grandchild", "leaves_daemon"])
def test_a_grandchild_does_not_outlive_a_good_trial(launch: Launch, all_gone: Gone, do: str) -> None:
    """What a rank forgot to end is ended; the trial is measured all the same."""
    outcome = launch(2, do=do).outcome

    assert isinstance(outcome, Measured)
    assert all_gone()


@pytest.mark.parametrize(
    ("do", "reason"),
    [
        ("garbage", "reading-1.json cannot be read"),
        ("not_a_number", "reading-1.json cannot be read"),
        ("another_rank", "reading-1.json says that it is of rank 2"),
        ("nothing", "Rank 1 ended normally, but it left no reading."),
        ("few_steps", "The ranks did not do the same number of steps: [9, 10]."),
        ("wrong_work", "81 items of all ranks are no whole number for 10 steps of batch 8."),
    ],
)
def test_an_incomplete_or_inconsistent_result_is_invalid(launch: Launch, do: str, reason: str) -> None:
    """A trial whose readings are missing, unreadable or contradictory is refused with the sentence."""
    outcome = launch(2, do=do, at=1).outcome

    assert isinstance(outcome, Failed)
    assert outcome.cause == "invalid"
    assert reason in outcome.reason


def test_the_server_may_die(launch: Launch, all_gone: Gone) -> None:
    """Losing the forkserver ends the trial's ranks, is said, and does not cost the next trial."""
    outcome = launch(2, do="kills_its_server", others="hang").outcome

    assert isinstance(outcome, Failed)
    assert outcome.cause == "launch"
    assert all_gone()
    assert isinstance(launch(2).outcome, Measured)


def test_a_rank_gets_the_allowed_environment_and_its_order(
    launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that changes a measurement is inherited; what the cell says is set; main is not imported."""
    monkeypatch.setenv("NCCL_P2P_DISABLE", "1")
    monkeypatch.setenv("OMP_NUM_THREADS", "77")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-1,GPU-0")
    attempt = launch(2, do="shows_itself", at=1)
    (shown,) = (json.loads(path.read_text()) for path in tmp_path.rglob("shown-1.json"))
    environment, order = shown["environment"], shown["order"]

    assert isinstance(attempt.outcome, Measured)
    assert "NCCL_P2P_DISABLE" not in environment
    assert environment["OMP_NUM_THREADS"] == "3"
    assert environment["CUDA_VISIBLE_DEVICES"] == "GPU-1,GPU-0"
    assert environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert environment["GLOO_SOCKET_IFNAME"] == "lo"
    assert environment["PATH"] == os.environ["PATH"]
    assert (order["rank"], order["world_size"], order["seed"]) == (1, 2, 5)
    assert shown["folder"] == order["folder"] == str(Path(order["store"]).parent)
    assert shown["session_leader"]
    assert "pytest" not in str(shown["main"])


def test_each_attempt_has_a_folder_of_its_own(launch: Launch, tmp_path: Path) -> None:
    """What one attempt left cannot mislead the next."""
    launch()
    launch()

    assert len(list(tmp_path.glob("attempt-*"))) == 2


def test_logs_hold_what_everybody_printed_and_are_scrubbed(launch: Launch) -> None:
    """Output of children is in the rank's log; colours and secrets are not."""
    log = launch(do="prints").logs["rank0"]

    assert log == "rank 0 does prints\nred plain\nfrom a child process\nHF_TOKEN=<secret>\n"


def test_a_stop_ends_the_trial_in_flight(
    *,
    local: Local,
    stop: StopRequest,
    cell: Callable[..., Cell],
    tmp_path: Path,
    all_gone: Gone,
    until: Callable[[Gone], bool],
) -> None:
    """A request to stop makes the attempt `Interrupted`, by the signal's name, and no process stays."""

    def ask() -> None:
        until(lambda: len(list(tmp_path.rglob("hangs-*"))) == 2)
        stop.request("SIGINT")

    asking = threading.Thread(target=ask)
    asking.start()
    outcome = local.launch(
        trial="t",
        cell=cell(2, do="hangs_with_grandchildren", others="hang"),
        protocol=Protocol(),
        seed=1,
        folder=tmp_path,
        limit_s=60,
    ).outcome
    asking.join()

    assert outcome == Interrupted(by="SIGINT")
    assert all_gone()


def test_leaving_the_launcher_ends_its_server(here: str) -> None:
    """No forkserver stays when the launcher is left."""
    with Local(stop=StopRequest(), entry="fake_worker:serve", preload=(), sys_path=[here]) as launcher:
        pid = launcher._server._pid
        assert pid is not None
        assert read_process(pid) is not None

    assert read_process(pid) is None


def test_two_launchers_do_not_share_a_server(local: Local, shared: Local) -> None:
    """What one launcher loads beforehand is not there for another."""
    assert local._server._pid != shared._server._pid


def test_cpu_time_of_ended_ranks_is_counted(launch: Launch, shared: Local) -> None:
    """A rank that computed for half a second has added about that much to the launcher's CPU time."""
    before = shared.cpu_ns()
    launch(do="computes")
    after = shared.cpu_ns()

    assert before is not None
    assert after is not None
    assert after - before >= 450_000_000


RUNNER = """
import sys
from pathlib import Path
from study.domain.study import Protocol
from study.domain.trial import Cell
from study.lab.launchers.local import Local, launcher
from study.lab.stop import StopRequest
cell = Cell(workload="sleep", size="amdahl", task="check", strategy="single", accelerator="cpu", devices=2,
    precision="fp32", batch=8, threads_per_device=1,
    options={"do": "hangs_with_grandchildren", "others": "hang"})
with Local(stop=StopRequest(), entry="fake_worker:serve", preload=(), sys_path=[sys.argv[1]]) as local:
    local.launch(trial="t", cell=cell, protocol=Protocol(), seed=1, folder=Path(sys.argv[2]), limit_s=60)
"""


@pytest.mark.parametrize("kill", [os.kill, os.killpg])
def test_nothing_survives_a_run_that_is_killed(
    here: str, tmp_path: Path, until: Callable[[Gone], bool], kill: Callable[[int, int], None]
) -> None:
    """SIGKILL of the run, or of its whole group, mid-trial: ranks, their children and the server end."""
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, here, str(tmp_path)], start_new_session=True)
    assert until(lambda: len(list(tmp_path.rglob("hangs-*"))) == 2)
    family = psutil.Process(runner.pid).children(recursive=True)

    kill(runner.pid, signal.SIGKILL)
    runner.wait()

    assert len(family) >= 6  # server, resource tracker, two ranks, two grandchildren
    assert until(lambda: not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in family))


@pytest.mark.torch
def test_the_real_worker_is_launched(cell: Callable[..., Cell], tmp_path: Path) -> None:
    """Two ranks of the real worker, forked from a server that has torch loaded, are measured."""
    options = {"step_ms": 5.0, "serial_share": 0.1, "jitter": 0.01}
    real = msgspec.structs.replace(cell(2), strategy="ddp", options=options, mesh={"data": 2})
    protocol = Protocol(warmup_s=0.0, window_steps=10)
    with launcher(stop=StopRequest()) as local:
        outcome = local.launch(
            trial="t", cell=real, protocol=protocol, seed=1, folder=tmp_path, limit_s=60
        ).outcome

    assert isinstance(outcome, Measured)
    assert [len(reading.step_ns) for reading in outcome.readings] == [10, 10]
    assert outcome.readings[0].start_method == "forkserver"


@pytest.mark.torch
def test_the_real_worker_is_bound_by_the_launcher(cell: Callable[..., Cell], tmp_path: Path) -> None:
    """A rank stands on the CPU of its order, or says why on none; a crowd is left free."""
    real = msgspec.structs.replace(cell(1, step_ms=2.0, serial_share=0.1, jitter=0.0), threads_per_device=1)
    crowd = msgspec.structs.replace(real, threads_per_device=4096)
    protocol = Protocol(warmup_s=0.0, window_steps=10)
    one = min(os.sched_getaffinity(0))
    topology = Topology(cpus=(LogicalCpu(number=one, core=one, node=0),))
    with Local(stop=StopRequest(), binder=Binder(read=lambda: topology)) as local:
        bound, unasked, crowded = (
            local.launch(
                trial="t", cell=each, protocol=how, seed=1, folder=tmp_path, limit_s=60
            ).outcome.readings[0]
            for each, how in (
                (real, protocol),
                (real, msgspec.structs.replace(protocol, pin=False)),
                (crowd, protocol),
            )
        )

    assert (bound.cpus, bound.pinned, bound.not_pinned) == ((one,), True, "")
    assert (unasked.pinned, unasked.not_pinned) == (False, "the study switches it off")
    assert (crowded.pinned, crowded.not_pinned) == (False, TOO_MANY)
    assert bound.environment["OMP_NUM_THREADS"] == "1"
