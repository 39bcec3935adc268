"""Tests of binding ranks to CPUs, on several made-up machines."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from study.domain.trial import Cell
from study.lab import cpus
from study.lab.cpus import (
    Binder,
    Binding,
    LogicalCpu,
    Topology,
    binding,
    binding_near,
    gpu_nodes,
    read_topology,
)
from study.lab.nvml import Card, Cards


def machine(nodes: int, cores: int, *, smt: bool = True, limit: float | None = None) -> Topology:
    """So many nodes of so many cores; the second thread of core c is CPU c + all cores, as Intel counts."""
    total = nodes * cores
    numbers = range(total * (2 if smt else 1))
    return Topology(
        cpus=tuple(LogicalCpu(number=n, core=n % total, node=n % total // cores) for n in numbers),
        limit=limit,
    )


def write_machine(root: Path, siblings: dict[int, str], nodes: dict[int, int]) -> Path:
    """A made-up /sys; a CPU that is offline has a folder without a topology."""
    for number in {*siblings, *nodes}:
        folder = root / f"sys/devices/system/cpu/cpu{number}"
        folder.mkdir(parents=True)
        if number in siblings:
            (folder / "topology").mkdir()
            (folder / "topology/thread_siblings_list").write_text(siblings[number] + "\n")
        if number in nodes:
            (folder / f"node{nodes[number]}").mkdir()
    return root


def test_two_ranks_get_the_two_cores_of_a_small_machine() -> None:
    """A virtual machine of two cores: one CPU each."""
    assert binding(machine(1, 2, smt=False), 2, 1).ranks == ((0,), (1,))


def test_ranks_of_cpu_are_spread_over_the_nodes() -> None:
    """Two sockets of 32 cores with SMT: every second rank on the other socket, no core used twice."""
    found = binding(machine(2, 32), 4, 8).ranks

    assert found == (
        tuple(range(8)), tuple(range(32, 40)), tuple(range(8, 16)), tuple(range(40, 48)),
    )  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 2, 3, 5, 8])
def test_a_rank_keeps_its_cpus_however_many_ranks_there_are(ranks: int) -> None:
    """The binding of fewer ranks is the beginning of the binding of more."""
    whole = binding(machine(2, 8), 8, 2).ranks

    assert binding(machine(2, 8), ranks, 2).ranks == whole[:ranks]
    assert len({cpu % 16 for mine in whole for cpu in mine}) == 16


def test_a_rank_gets_every_cpu_of_its_gpus_node() -> None:
    """It feeds the GPU beside autograd's and NCCL's threads; three GPUs on two nodes with SMT."""
    found = binding_near(machine(2, 2), [1, 1, 0], 3).ranks

    assert found == ((2, 3, 6, 7), (2, 3, 6, 7), (0, 1, 4, 5))


@pytest.mark.parametrize("nodes", [[1, None], [1, 7], [1]])
def test_a_gpu_whose_node_is_not_known_leaves_all_ranks_free(nodes: list[int | None]) -> None:
    """The kernel does not know it, its node has no usable CPU, or the driver lists too few GPUs."""
    assert binding_near(machine(2, 2), nodes, 2) == Binding(ranks=(), reason=cpus.FAR)


def test_what_a_node_does_not_have_comes_from_the_other() -> None:
    """Two nodes of three cores, two ranks of three threads, and then one of five."""
    assert binding(machine(2, 3), 2, 3).ranks == ((0, 1, 2), (3, 4, 5))
    assert binding(machine(2, 3), 1, 5).ranks == ((0, 1, 2, 3, 4),)


@pytest.mark.parametrize(
    ("topology", "ranks", "threads", "fits"),
    [
        (machine(1, 2), 2, 1, True),
        (machine(1, 2), 3, 1, False),  # four threads, but two cores
        (machine(1, 2), 1, 3, False),
        (machine(1, 8, limit=2.5), 2, 1, True),
        (machine(1, 8, limit=2.5), 3, 1, False),
        (machine(1, 8, limit=0.5), 1, 1, True),
    ],
)
def test_an_oversubscribed_trial_is_not_bound(
    topology: Topology, ranks: int, threads: int, fits: bool
) -> None:
    """Threads that have to share cores are left to the scheduler; a quota counts like missing cores."""
    found = binding(topology, ranks, threads)

    assert (found.ranks != ()) is fits
    assert found.reason == ("" if fits else cpus.TOO_MANY)


def test_a_cpuset_of_odd_cpus_is_all_there_is(tmp_path: Path) -> None:
    """Of sixteen CPUs in eight cores only the odd ones may be used, which lie on two nodes."""
    pairs = {n: f"{n % 8},{n % 8 + 8}" for n in range(16)}
    root = write_machine(tmp_path, pairs, {n: n % 8 // 4 for n in range(16)})
    found = read_topology(root, usable={1, 3, 5, 7, 9, 11, 13, 15})

    assert cpus.cores(found) == 4
    assert binding(found, 4, 1).ranks == ((1,), (5,), (3,), (7,))
    assert binding(found, 5, 1).ranks == ()


def test_an_offline_cpu_is_left_out(tmp_path: Path) -> None:
    """A CPU without a topology is offline; siblings may be listed as a range; no node means node 0."""
    root = write_machine(tmp_path, {0: "0-1", 1: "0-1", 2: "2"}, {3: 0})
    found = read_topology(root, usable=[0, 1, 2, 3])

    assert [(cpu.number, cpu.core, cpu.node) for cpu in found.cpus] == [(0, 0, 0), (1, 0, 0), (2, 2, 0)]


def test_the_newer_name_of_the_siblings_is_read_first(tmp_path: Path) -> None:
    """The kernel renamed `thread_siblings_list` to `core_cpus_list` and keeps both."""
    root = write_machine(tmp_path, {0: "0", 1: "1"}, {})
    (root / "sys/devices/system/cpu/cpu1/topology/core_cpus_list").write_text("0-1\n")

    assert [cpu.core for cpu in read_topology(root, usable=[0, 1]).cpus] == [0, 0]


def test_without_sysfs_nothing_is_bound(tmp_path: Path) -> None:
    """Two CPUs of which nobody says whether they share a core."""
    assert binding(read_topology(tmp_path, usable=[0, 1]), 1, 1) == Binding(ranks=(), reason=cpus.UNTOLD)


def test_a_system_without_affinities_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS and Windows."""
    monkeypatch.delattr("os.sched_setaffinity", raising=False)

    assert binding(read_topology(), 1, 1).reason == cpus.CANNOT


def test_the_machine_is_read_once_and_gpus_only_for_trials_on_them(cell: Callable[..., Cell]) -> None:
    """What a rank gets must not change in the middle of a run."""
    asked: list[str] = []

    def read() -> Topology:
        asked.append("cpus")
        return machine(2, 4)

    def nodes() -> list[int | None]:
        asked.append("gpus")
        return [1, 0]

    binder = Binder(read=read, nodes=nodes)

    on_gpus = msgspec.structs.replace(cell(2), accelerator="cuda")

    assert binder(cell(1), pin=True).of(0) == (0, 1, 2)
    assert binder(on_gpus, pin=True).ranks == ((4, 5, 6, 7, 12, 13, 14, 15), (0, 1, 2, 3, 8, 9, 10, 11))
    assert binder(on_gpus, pin=True).of(1)[0] == 0
    assert asked == ["cpus", "gpus"]


def test_a_study_may_switch_it_off(cell: Callable[..., Cell]) -> None:
    """Then nothing is read, and no rank is bound."""
    found = Binder(read=lambda: 1 / 0)(cell(), pin=False)

    assert (found.of(0), found.reason) == ((), cpus.SWITCHED_OFF)


def card(uuid: str, bus_id: str | None) -> Card:
    """A card of which only this is known."""
    return Card(uuid=uuid, bus_id=bus_id, memory_used_bytes=None, compute=None, graphics=None)


def test_gpus_nodes_come_from_the_bus_in_torchs_order(tmp_path: Path) -> None:
    """A GPU on node 1, one that the kernel does not know (-1), one without a bus id."""
    for bus_id, node in (("0000:3b:00.0", "1"), ("0000:5e:00.0", "-1")):
        folder = tmp_path / "sys/bus/pci/devices" / bus_id
        folder.mkdir(parents=True)
        (folder / "numa_node").write_text(node + "\n")
    seen = Cards(cards=(card("GPU-a", "0000:3b:00.0"), card("GPU-b", "0000:5e:00.0"), card("GPU-c", None)))

    assert gpu_nodes(seen, {}, tmp_path) == (1, None, None)
    assert gpu_nodes(seen, {"CUDA_VISIBLE_DEVICES": "1,GPU-a"}, tmp_path) == (None, 1)
    assert gpu_nodes(seen, {"CUDA_VISIBLE_DEVICES": "MIG-x,0"}, tmp_path) == (None, 1)


def test_this_machine_can_be_read() -> None:
    """Whatever runs the tests: each usable CPU once, or a reason."""
    found = read_topology()

    assert bool(found.cpus) != bool(found.reason)
    assert len({cpu.number for cpu in found.cpus}) == len(found.cpus)
