"""What the lab's tests share: cells for the fake worker, launchers of it, and proof that nothing is left."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from study.domain.study import Protocol
from study.domain.trial import Cell, Plan, PlannedCell, PlannedTrial
from study.lab.launchers import Attempt
from study.lab.launchers.local import Local
from study.lab.processes import read_process
from study.lab.stop import StopRequest

HERE = Path(__file__).parent
PROTOCOL = Protocol(window_steps=10, time_limit_s=10.0)


def make_cell(devices: int = 1, **options: str | int) -> Cell:
    """A cell whose options tell the fake worker what to do."""
    return Cell(
        workload="sleep",
        size="amdahl",
        task="check",
        strategy="single",
        accelerator="cpu",
        devices=devices,
        precision="fp32",
        batch=8,
        threads_per_device=3,
        options=dict(options),
    )


def make_plan(cells: dict[str, Cell], order: list[str], predicted_s: float | None = 2.0) -> Plan:
    """A plan of these trials, in this order; block 1."""
    return Plan(
        digest="0" * 64,
        seed=1,
        accelerator="cpu",
        devices_present=2,
        cores_present=2,
        protocol=PROTOCOL,
        cells=tuple(
            PlannedCell(
                id=name, cell=cell, predicted_s=predicted_s, predicted_memory_bytes=None, oversubscribed=False
            )
            for name, cell in cells.items()
        ),
        skipped=(),
        series=(),
        trials=tuple(
            PlannedTrial(id=f"{number:04d}-{name}", order=number, block=1, cell_id=name, seed=number)
            for number, name in enumerate(order, start=1)
        ),
        predicted_s=None,
    )


@pytest.fixture(scope="session")
def cell() -> Callable[..., Cell]:
    """Make a cell for the fake worker."""
    return make_cell


@pytest.fixture(scope="session")
def plan_of() -> Callable[..., Plan]:
    """Make a plan."""
    return make_plan


@pytest.fixture(scope="session")
def here() -> str:
    """Where the fake worker is."""
    return str(HERE)


@pytest.fixture
def stop() -> StopRequest:
    """Nobody has asked to stop yet."""
    return StopRequest()


@pytest.fixture
def local(stop: StopRequest, here: str) -> Iterator[Local]:
    """A launcher of the fake worker that can be stopped."""
    with Local(stop=stop, entry="fake_worker:serve", preload=(), sys_path=[here]) as launcher:
        yield launcher


@pytest.fixture(scope="module")
def shared(here: str) -> Iterator[Local]:
    """One launcher for a whole file, so that each test is also a test of what the one before left."""
    with Local(stop=StopRequest(), entry="fake_worker:serve", preload=(), sys_path=[here]) as launcher:
        yield launcher


@pytest.fixture
def launch(shared: Local, tmp_path: Path) -> Callable[..., Attempt]:
    """Launch the fake worker with these options, in a folder that stays for inspection."""

    def call(devices: int = 1, limit_s: float = 10.0, **options: str | int) -> Attempt:
        return shared.launch(
            trial="0001-x",
            cell=make_cell(devices, **options),
            protocol=PROTOCOL,
            seed=5,
            folder=tmp_path,
            limit_s=limit_s,
        )

    return call


@pytest.fixture
def all_gone(tmp_path: Path) -> Callable[[], bool]:
    """Whether every process that the fakes noted is gone, and how many there were is not zero."""

    def look() -> bool:
        noted = [int(path.read_text()) for path in tmp_path.rglob("pid-*")]
        found = [read_process(pid) for pid in noted]
        return bool(noted) and all(process is None or process.dead for process in found)

    return look


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], bool]], bool]:
    """Wait until something holds, ten seconds at most, and say whether it does."""

    def wait(holds: Callable[[], bool]) -> bool:
        limit = time.monotonic() + 10
        while not holds() and time.monotonic() < limit:
            time.sleep(0.02)
        return holds()

    return wait
