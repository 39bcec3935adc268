"""Ranks by hand: a process per rank, as a launcher would start them, and fakes of what a rank stands on."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from study.domain.record import RankError, Reading
from study.domain.study import Protocol
from study.domain.trial import Cell, Order
from study.worker.contracts import Evidence, Window

HERE = Path(__file__).parent
EXTENSION = HERE / "extension"

SHORT = Protocol(warmup_steps=2, warmup_s=0.0, window_steps=12)

SERVE = """
import importlib, os, sys
code = importlib.import_module("study.worker.ranks").serve(sys.stdin.buffer.read())
print("torch" in sys.modules)
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
"""


@dataclass(frozen=True, kw_only=True)
class Rank:
    """How one rank ended and what it left."""

    code: int
    loaded_torch: bool
    log: str
    reading: Reading | None
    error: RankError | None


class FakeMachine:
    """A clock that moves only when a fake step works or someone sleeps, and a log of what was asked of it.

    It is an accelerator's marks, a group and a clock at once; `answers` are what the slowest rank brings
    to each meeting with `max`.
    """

    def __init__(self, answers: Iterable[float] = ()) -> None:
        """The clock starts far from zero, as a real one does."""
        self.now_ns = 1_000_000_007
        self.log: list[str] = []
        self.answers = iter(answers)

    def clock(self) -> int:
        self.log.append("clock")
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.log.append("sleep")
        self.now_ns += round(seconds * 1e9)

    def mark(self) -> int:
        self.log.append("mark")
        return self.now_ns

    def elapsed_ns(self, earlier: int, later: int) -> int:
        return later - earlier

    def synchronise(self) -> None:
        self.log.append("synchronise")

    def barrier(self) -> None:
        self.log.append("barrier")

    def max(self, value: float) -> float:
        return max(value, next(self.answers, value))

    def close(self) -> None:
        """Nothing was opened."""

    def abort(self) -> None:
        """Nothing was opened."""


class FakeJob:
    """Each step takes the next of the given durations on a fake machine, and leaves its number behind."""

    work_unit = "items"
    parameters = None

    def __init__(self, machine: FakeMachine, durations_s: Iterable[float], work_per_step: int = 1) -> None:
        """`durations_s` may be endless."""
        self.work_per_step = work_per_step
        self.steps = 0
        self._machine = machine
        self._durations_s = iter(durations_s)

    def begin(self) -> None:
        self._machine.log.append("begin")

    def step(self) -> int:
        self._machine.log.append("step")
        self._machine.now_ns += round(next(self._durations_s) * 1e9)
        self.steps += 1
        return self.steps

    def evidence(self, first: object, window: Window) -> Evidence:
        return Evidence()


@pytest.fixture
def fake_machine() -> type[FakeMachine]:
    """The class of fake machines."""
    return FakeMachine


@pytest.fixture
def fake_job() -> type[FakeJob]:
    """The class of fake jobs."""
    return FakeJob


Launch = Callable[..., list[Rank]]

COLD = ("sleep", "faulty", "sleeep")
"""Workloads whose ranks need no torch, and so must not find it loaded."""


class Server:
    """The process that forks ranks with torch loaded (`rank_server.py`), started when it is first needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, orders: list[Order], logs: list[Path]) -> list[int]:
        """The exit codes of these ranks, when all have ended."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, str(HERE / "rank_server.py")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment(),
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        told = {
            "orders": [msgspec.json.encode(order).decode() for order in orders],
            "logs": list(map(str, logs)),
        }
        self._process.stdin.write(msgspec.json.encode(told) + b"\n")
        self._process.stdin.flush()
        return msgspec.json.decode(self._process.stdout.readline(), type=list[int])

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.communicate(timeout=60)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One for all files."""
    server = Server()
    yield server
    server.close()


def environment() -> dict[str, str]:
    """What ranks are started with."""
    return {**os.environ, "PYTHONPATH": str(EXTENSION), "PYTHONWARNINGS": "default"}


def orders_of(
    folder: Path, cell: Cell, protocol: Protocol, *, deadline_s: float, cpus: tuple[int, ...]
) -> list[Order]:
    """What each rank of a trial is told."""
    return [
        Order(
            trial="0001-by-hand",
            cell=cell,
            protocol=protocol,
            seed=20_231,
            rank=rank,
            world_size=cell.devices,
            store=str(folder / "store"),
            folder=str(folder),
            deadline_s=deadline_s,
            cpus=cpus,
        )
        for rank in range(cell.devices)
    ]


def start_cold(folder: Path, orders: list[Order], prelude: str) -> list[Rank]:
    """Start every rank of a trial as a process with nothing loaded, and wait for all of them."""
    processes = []
    for order in orders:
        process = subprocess.Popen(
            [sys.executable, "-c", prelude + SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(order))
        process.stdin.close()
        process.stdin = None
        processes.append(process)
    found = []
    for rank, process in enumerate(processes):
        try:
            out, err = process.communicate(timeout=240)
        finally:
            process.kill()
        found.append(left(folder, rank, process.returncode, err.decode(), loaded_torch=b"True" in out))
    return found


def left(folder: Path, rank: int, code: int, log: str, *, loaded_torch: bool) -> Rank:
    """What one process left when it ended."""
    reading, error = folder / f"reading-{rank}.json", folder / f"error-{rank}.json"
    return Rank(
        code=code,
        loaded_torch=loaded_torch,
        log=log,
        reading=msgspec.json.decode(reading.read_bytes(), type=Reading) if reading.exists() else None,
        error=msgspec.json.decode(error.read_bytes(), type=RankError) if error.exists() else None,
    )


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Launch:
    """Run the ranks of one cell: `launch(workload, task, devices=…, …)`."""
    base = tmp_path_factory.mktemp("ranks")

    def launch(
        workload: str,
        task: str,
        *,
        devices: int = 1,
        size: str = "tiny",
        strategy: str = "",
        batch: int = 8,
        precision: str = "fp32",
        protocol: Protocol = SHORT,
        prelude: str = "",
        deadline_s: float = 60.0,
        mesh: dict[str, int] | None = None,
        cpus: tuple[int, ...] = (),
        **options: str | int | float,
    ) -> list[Rank]:
        strategy = strategy or ("single" if devices == 1 else "ddp")
        cell = Cell(
            workload=workload,
            size=size,
            task=task,
            strategy=strategy,
            accelerator="cpu",
            devices=devices,
            precision=precision,
            batch=batch,
            threads_per_device=1,
            options=options,
            mesh=mesh or ({"data": devices} if strategy == "ddp" else {}),
        )
        folder = base / str(len(list(base.iterdir())))
        folder.mkdir()
        orders = orders_of(folder, cell, protocol, deadline_s=deadline_s, cpus=cpus)
        if prelude or workload in COLD:
            return start_cold(folder, orders, prelude)
        logs = [folder / f"log-{order.rank}" for order in orders]
        codes = server.run(orders, logs)
        return [
            left(folder, rank, code, logs[rank].read_text(), loaded_torch=True)
            for rank, code in enumerate(codes)
        ]

    return launch


@pytest.fixture(scope="module")
def readings(launch: Launch) -> Callable[..., list[Reading]]:
    """The readings of a trial that succeeds on every rank; shows the log of one that does not."""

    def readings(*cell: str, **factors: object) -> list[Reading]:
        ranks = launch(*cell, **factors)
        for rank in ranks:
            assert rank.code == 0, rank.log
        return [rank.reading for rank in ranks if rank.reading is not None]

    return readings
