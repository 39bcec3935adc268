"""Ranks by hand: a process per rank, as a launcher would start them, and fakes of what a rank stands on."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from study.domain.record import RankError, Reading
from study.domain.study import Protocol
from study.domain.trial import Cell, Order
from study.worker.contracts import Evidence, Window

EXTENSION = Path(__file__).parent / "extension"

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


def start(
    folder: Path, cell: Cell, protocol: Protocol, *, prelude: str, deadline_s: float, cpus: tuple[int, ...]
) -> list[Rank]:
    """Start every rank of a trial and wait for all of them."""
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(EXTENSION), "PYTHONWARNINGS": "default"}
    processes = []
    for rank in range(cell.devices):
        order = Order(
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
        process = subprocess.Popen(
            [sys.executable, "-c", prelude + SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        assert process.stdin is not None
        process.stdin.write(msgspec.json.encode(order))
        process.stdin.close()
        process.stdin = None
        processes.append(process)
    return [ended(folder, rank, process) for rank, process in enumerate(processes)]


def ended(folder: Path, rank: int, process: "subprocess.Popen[bytes]") -> Rank:
    """What one process left when it ended."""
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    reading, error = folder / f"reading-{rank}.json", folder / f"error-{rank}.json"
    return Rank(
        code=process.returncode,
        loaded_torch=b"True" in out,
        log=err.decode(),
        reading=msgspec.json.decode(reading.read_bytes(), type=Reading) if reading.exists() else None,
        error=msgspec.json.decode(error.read_bytes(), type=RankError) if error.exists() else None,
    )


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Launch:
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
        return start(folder, cell, protocol, prelude=prelude, deadline_s=deadline_s, cpus=cpus)

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
