"""Every fault of the bank, through the real loop and launcher: told rightly, and the next trial unharmed."""

import contextlib
import dataclasses
import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker, util
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil
import pytest
from lab.faults.bank import BANK, HUNG, Fault

from study.domain.record import Failed, Measured, OutOfMemory, Record, TimedOut
from study.domain.study import Protocol
from study.domain.trial import Cell, Plan, PlannedCell, PlannedTrial
from study.lab.clock import Clock
from study.lab.launchers.local import ENTRY, PRELOAD, WITHOUT_TORCH, Local
from study.lab.loop import conduct
from study.lab.processes import read_process
from study.lab.stop import StopRequest

pytestmark = pytest.mark.xdist_group("bank")

HERE = Path(__file__).parent
EXTENSION = HERE.parents[1] / "worker" / "extension"
LOADED = {"fake": (), "real": WITHOUT_TORCH, "torch": PRELOAD}
KINDS = {"measured": Measured, "failed": Failed, "out_of_memory": OutOfMemory, "timed_out": TimedOut}
POISON = {"OMP_NUM_THREADS": "77", "MKL_NUM_THREADS": "77", "NCCL_DEBUG": "INFO", "TORCH_LOGS": "all"}


class Kernel:
    """The kernel's count of kills for memory: after each look it has risen by `rises`."""

    def __init__(self) -> None:
        self.count, self.rises = 5, 0

    def __call__(self) -> int:
        self.count += self.rises
        return self.count


class Laboratory:
    """Launchers of every worker, entered when they are first needed, and a temporary folder of their own."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack) -> None:
        self.folder = folder
        self.kernel = Kernel()
        self._stack = stack
        self._started: dict[str, Local] = {}

    def launcher(self, worker: str) -> Local:
        if worker not in self._started:
            local = Local(
                stop=StopRequest(),
                entry="faulty_rank:serve" if worker == "fake" else ENTRY,
                preload=LOADED[worker],
                sys_path=[str(HERE), str(HERE.parent)] if worker == "fake" else [str(EXTENSION)],
                memory_kills=self.kernel,
            )
            self._started[worker] = self._stack.enter_context(local)
        return self._started[worker]

    def run(self, worker: str, cell: Cell, *, limit_s: float, silence_s: float) -> list[Record]:
        """The records of a plan of one trial of this cell."""
        saved: list[Record] = []
        ended = conduct(
            plan_of(cell, limit_s=limit_s, silence_s=silence_s),
            launcher=self.launcher(worker),
            done=(),
            attempts={},
            save=lambda record, logs: saved.append(record),
            tell=lambda event: None,
            stop=StopRequest(),
            clock=Clock(),
        )
        assert ended == "complete"
        return saved

    @property
    def servers(self) -> set[int]:
        return {local._server._pid for local in self._started.values()}


class Traces(NamedTuple):
    """What a trial may leave on a machine."""

    processes: dict[int, str]
    ports: dict[str, str]
    shared_memory: set[str]
    folders: set[str]


@pytest.fixture(scope="module")
def mark() -> str:
    """A word in the environment of everything that is started here, by which it is found again."""
    return uuid.uuid4().hex


@pytest.fixture(scope="module")
def laboratory(mark: str) -> Iterator[Laboratory]:
    """One laboratory for the whole bank, so that each fault is followed by all the others."""
    util.get_temp_dir()  # where multiprocessing has its sockets: not in the folder that is looked at here
    folder = Path(tempfile.mkdtemp(prefix="bank-"))
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setenv("LANGUAGE", mark)
        patch.setattr(tempfile, "tempdir", str(folder))
        yield Laboratory(folder, stack)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def traces(laboratory: Laboratory, mark: str) -> Callable[[], Traces]:
    """Look at what there is: of this bank alone where that can be told, else of the whole machine."""

    def look() -> Traces:
        return Traces(
            processes=started_here(mark, laboratory.servers),
            ports=listening(),
            shared_memory={entry.name for entry in os.scandir("/dev/shm")},  # noqa: S108
            folders={path.name for path in laboratory.folder.glob("study-*")},
        )

    return look


def plan_of(cell: Cell, *, limit_s: float, silence_s: float) -> Plan:
    """A plan of one trial."""
    planned = PlannedCell(
        id="c", cell=cell, predicted_s=None, predicted_memory_bytes=None, oversubscribed=False
    )
    protocol = Protocol(
        window_steps=10, warmup_steps=2, warmup_s=0.0, time_limit_s=limit_s, silence_limit_s=silence_s
    )
    return Plan(
        digest="0" * 64,
        seed=1,
        accelerator="cpu",
        devices_present=2,
        cores_present=2,
        protocol=protocol,
        cells=(planned,),
        skipped=(),
        series=(),
        trials=(PlannedTrial(id="0001-c", order=1, block=1, cell_id="c", seed=1),),
        predicted_s=None,
    )


def cell_of(fault: Fault) -> Cell:
    """The cell that makes its worker go wrong in this way."""
    if fault.worker == "fake":
        options: dict[str, str | int] = {"do": fault.do, "others": fault.others, "at": fault.at}
        workload, size, task, strategy = "sleep", "amdahl", "check", "single"
    else:
        options = {"fault": fault.do, "rank": fault.at}
        workload, size, task = "faulty", "one", "check"
        strategy = "ddp" if fault.devices > 1 else "single"
        if fault.worker == "torch":
            workload, size, task = "faulty-gpt", "tiny", "train"
            options["sequence"] = 16
    return Cell(
        workload=workload,
        size=size,
        task=task,
        strategy=strategy,
        mesh={"data": fault.devices} if strategy == "ddp" else {},
        accelerator="cpu",
        devices=fault.devices,
        precision="fp32",
        batch=8,
        threads_per_device=3 if fault.worker == "fake" else 1,
        options=options,
    )


def healthy(fault: Fault) -> Cell:
    """The same cell without its fault."""
    sound = dataclasses.replace(fault, do="measure" if fault.worker == "fake" else "", others="measure")
    return cell_of(sound)


def started_here(mark: str, servers: set[int]) -> dict[int, str]:
    """Living processes with the mark in their environment, but for the servers; their command lines."""
    spared = {os.getpid(), resource_tracker._resource_tracker._pid, *servers}
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            process = read_process(int(folder.name))
            if mark.encode() in (folder / "environ").read_bytes() and process and not process.dead:
                found[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
    return {pid: line for pid, line in found.items() if pid not in spared}


def listening() -> dict[str, str]:
    """Addresses that somebody listens on, by the inode of their socket."""
    found = {}
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                found[fields[9]] = fields[1]
    return found


def strangers_sockets(mark: str) -> set[str]:
    """Inodes of sockets held by processes that have nothing to do with this bank."""
    held = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                continue
            for descriptor in (folder / "fd").iterdir():
                with contextlib.suppress(OSError):
                    name = str(descriptor.readlink())
                    if name.startswith("socket:["):
                        held.add(name[8:-1])
    return held


def strangers_memory(mark: str) -> set[str]:
    """Names in /dev/shm that processes use which have nothing to do with this bank."""
    used = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() not in (folder / "environ").read_bytes():
                lines = (folder / "maps").read_text(errors="replace").splitlines()
                used |= {line.partition("/dev/shm/")[2] for line in lines}  # noqa: S108
    return used


@pytest.fixture
def around(monkeypatch: pytest.MonkeyPatch, laboratory: Laboratory) -> Callable[[Fault], None]:
    """Sets up what is wrong around the ranks, where the fault lies there."""

    def prepare(fault: Fault) -> None:
        (laboratory.folder / "was-here").unlink(missing_ok=True)
        monkeypatch.setattr(laboratory.kernel, "rises", fault.kills)
        if fault.do == "is_poisoned":
            for name, value in POISON.items():
                monkeypatch.setenv(name, value)
        if fault.name == "the machine's counters are dead":
            monkeypatch.setattr(psutil, "cpu_times", dead)

    return prepare


def dead() -> None:
    """A sensor that has gone."""
    raise psutil.AccessDenied


def sentence(record: Record) -> str:
    """What the record says of its failure."""
    match record.outcome:
        case Failed(reason=words) | OutOfMemory(evidence=words):
            return words
        case TimedOut(silent_s=silent):
            return HUNG if silent else ""
    return ""


def ranks_named(record: Record) -> tuple[int | None, ...]:
    """The rank that failed first, or those that were waited for: of slow ones there may be more."""
    match record.outcome:
        case Failed(rank=rank) | OutOfMemory(rank=rank):
            return (rank,)
        case TimedOut(waiting=waiting):
            return waiting
    return ()


def params() -> Iterator[object]:
    """Every fault under its name."""
    for fault in BANK:
        yield pytest.param(fault, id=fault.name, marks=[pytest.mark.torch] if fault.worker == "torch" else [])


@pytest.mark.parametrize("fault", list(params()))
def test_a_fault_is_told_and_harms_nothing_after_it(
    *,
    fault: Fault,
    laboratory: Laboratory,
    around: Callable[[Fault], None],
    traces: Callable[[], Traces],
    mark: str,
) -> None:
    """Outcome, cause, rank and words are as expected; the next trial is measured; nothing is left."""
    laboratory.launcher(fault.worker)
    before = traces()
    around(fault)
    records = laboratory.run(fault.worker, cell_of(fault), limit_s=fault.limit_s, silence_s=fault.silence_s)
    after = traces()
    laboratory.kernel.rises = 0
    (next_one,) = laboratory.run(fault.worker, healthy(fault), limit_s=30.0, silence_s=10.0)

    last = records[-1]
    assert isinstance(last.outcome, KINDS[fault.kind]), last.outcome
    assert getattr(last.outcome, "cause", "") == fault.cause
    assert fault.words in sentence(last)
    assert bool(fault.words == HUNG) == (sentence(last) == HUNG)
    if fault.kind != "measured" and not (fault.kind == "timed_out" and fault.rank is None):
        assert fault.rank in ranks_named(last)
    assert [record.attempt for record in records] == list(range(1, fault.attempts + 1))
    assert all(record.outcome.cause == "launch" for record in records[:-1])
    assert str(laboratory.folder) not in str(msgspec.to_builtins(last.outcome))
    assert str(Path.home()) + "/" not in str(msgspec.to_builtins(last.outcome))

    assert isinstance(next_one.outcome, Measured), next_one.outcome
    assert after.processes == before.processes == {}
    assert after.folders == set()
    # what is left stays; what others on this machine open meanwhile is theirs, or is gone by now
    ports, shared = set(after.ports) - set(before.ports), after.shared_memory - before.shared_memory
    if ports or shared:
        strangers, now = strangers_sockets(mark) | strangers_memory(mark), traces()
        assert (ports & set(now.ports)) - strangers == set()
        assert (shared & now.shared_memory) - strangers == set()


def test_dead_counters_are_told_as_not_known(laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The trial is measured; the share of others is null, with the reason."""
    monkeypatch.setattr(psutil, "cpu_times", dead)
    fault = next(fault for fault in BANK if fault.do == "measure")

    (record,) = laboratory.run("fake", cell_of(fault), limit_s=30.0, silence_s=10.0)

    assert isinstance(record.outcome, Measured)
    assert record.surroundings.foreign_cpu_share is None
    assert record.surroundings.unknown["foreign_cpu_share"] == "the system's CPU counters could not be read"


def test_the_bank_is_large_and_every_fault_has_its_own_name() -> None:
    """At least eighty faults, none of them twice."""
    names = [fault.name for fault in BANK]
    injected = [(fault.worker, fault.do, fault.others, fault.kills, fault.silence_s) for fault in BANK]

    assert len(names) >= 80
    assert len(set(names)) == len(names)
    assert len(set(injected)) == len(injected)
