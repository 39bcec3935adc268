"""Ranks that meet over files: nobody leaves early, nobody waits for ever."""

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from study.domain.study import Protocol
from study.domain.trial import Cell, Order
from study.worker.group import Alone, FileGroup, TorchGroup


@pytest.fixture
def join(tmp_path):
    """A rank's end of a group over files."""
    cell = Cell(
        workload="sleep",
        size="amdahl",
        task="check",
        strategy="ddp",
        accelerator="cpu",
        devices=3,
        precision="fp32",
        batch=3,
        threads_per_device=1,
    )

    def join(rank, world_size=3, deadline_s=20.0, **clocks):
        order = Order(
            trial="t",
            cell=cell,
            protocol=Protocol(),
            seed=1,
            rank=rank,
            world_size=world_size,
            store="unused",
            folder=str(tmp_path),
            deadline_s=deadline_s,
        )
        return FileGroup(order, **clocks)

    return join


def test_every_rank_learns_the_largest_value_of_each_meeting(join):
    """Three ranks meet fifty times, and all hear the same largest value each time."""

    def meet(rank):
        group = join(rank)
        return [group.max(float((rank * 7 + k) % 5)) for k in range(50)]

    with ThreadPoolExecutor(3) as ranks:
        heard = list(ranks.map(meet, range(3)))

    truth = [max(float((rank * 7 + k) % 5) for rank in range(3)) for k in range(50)]
    assert heard == [truth] * 3


def test_nobody_passes_a_barrier_before_all_have_come(join):
    """A rank that comes first is still waiting when the last one comes."""
    late, passed = threading.Event(), []

    def early():
        join(0, world_size=2).barrier()
        passed.append(late.is_set())

    waiting = threading.Thread(target=early)
    waiting.start()
    time.sleep(0.05)
    late.set()
    join(1, world_size=2).barrier()
    waiting.join()

    assert passed == [True]


def test_meetings_leave_few_files_behind(join, tmp_path):
    """However many meetings, each rank keeps its last two files at most."""
    with ThreadPoolExecutor(2) as ranks:
        list(ranks.map(lambda group: [group.barrier() for _ in range(30)], [join(0, 2), join(1, 2)]))

    assert len(list(tmp_path.iterdir())) <= 4


def test_a_peer_that_does_not_come_is_a_timeout(join, fake_machine):
    """At the deadline the wait ends, in the words that mark an echo."""
    machine = fake_machine()
    group = join(0, 2, 5.0, clock=lambda: machine.now_ns / 1e9, sleep=machine.sleep)

    with pytest.raises(TimeoutError, match=r"Timed out waiting for rank 1 for 5 s"):
        group.barrier()

    assert machine.now_ns / 1e9 == pytest.approx(6.0, abs=0.01)


def test_a_peer_that_failed_is_not_waited_for(join, tmp_path, fake_machine):
    """An error file ends the wait long before the deadline, in the words that mark an echo."""
    machine = fake_machine()
    (tmp_path / "error-1.json").write_text("{}")
    group = join(0, 2, 5000.0, clock=lambda: machine.now_ns / 1e9, sleep=machine.sleep)

    with pytest.raises(ConnectionError, match="Connection closed by peer"):
        group.barrier()

    assert machine.now_ns / 1e9 < 10


def test_alone_is_the_largest_of_one():
    """A world of one hears itself."""
    assert Alone().max(3.5) == 3.5


@pytest.mark.parametrize("leave", ["close", "abort"])
def test_gloos_group_is_never_destroyed_before_the_process_ends(leave: str) -> None:
    """Its destructor deadlocks with its own threads now and then; NCCL's is asked for."""
    calls: list[str] = []

    class World:
        def abort(self) -> None:
            calls.append("abort")

    class Dist:
        group = SimpleNamespace(WORLD=World())

        @staticmethod
        def destroy_process_group() -> None:
            calls.append("close")

    group = object.__new__(TorchGroup)
    group._dist = Dist
    group._backend = "gloo"
    getattr(group, leave)()
    assert calls == []

    group._backend = "nccl"
    getattr(group, leave)()
    assert calls == [leave]


@pytest.mark.torch
def test_a_port_that_is_taken_is_no_fact_about_the_cell() -> None:
    """The store of torch, asked to listen where somebody else does, is told from every other failure."""
    script = (
        "import socket, torch\n"
        "from study.domain.trial import Cell, Order\n"
        "from study.domain.study import Protocol\n"
        "from study.worker.contracts import Unmet\n"
        "from study.worker.group import TorchGroup\n"
        "taken = socket.socket()\n"
        "taken.bind(('127.0.0.1', 0)); taken.listen()\n"
        "cell = Cell(workload='gpt', size='tiny', task='train', strategy='ddp', accelerator='cpu', devices=1,"
        " precision='fp32', batch=8, threads_per_device=1)\n"
        "store = f'tcp://127.0.0.1:{taken.getsockname()[1]}'\n"
        "order = Order(trial='t', cell=cell, protocol=Protocol(), seed=1, rank=0, world_size=1, store=store,"
        " folder='.', deadline_s=5.0)\n"
        "try:\n    TorchGroup(order, 'gloo', torch.device('cpu'))\n"
        "except Unmet as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert done.stdout.startswith("The ranks could not meet: "), done.stderr
    assert "EADDRINUSE" in done.stdout
