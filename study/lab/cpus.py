"""Which logical CPUs each rank is bound to, the same in every trial however many ranks there are.

A rank of `cpu` computes on them: it gets as many as it has threads, each on a core of its own, and ranks are
spread evenly over the NUMA nodes. A rank of a GPU only feeds it, beside threads of autograd and of NCCL
that must not wait for one another: it gets every CPU of the node that its GPU hangs on.

Formats: the kernel's documents admin-guide/cputopology and ABI/stable/sysfs-devices-node.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from study.domain.fact import Fact
from study.domain.trial import Cell
from study.lab import cgroup
from study.lab.nvml import Cards, cards
from study.lab.visible import in_torchs_order

ROOT = Path("/")

SWITCHED_OFF = "the study switches it off"
TOO_MANY = "the trial has more threads than there are cores for it"
CANNOT = "this system cannot bind a process to processors"
FAR = "the system does not tell which processors are near the GPUs"
UNTOLD = "the system does not tell which processors share a core"


class LogicalCpu(Fact, frozen=True, kw_only=True):
    """One CPU as the kernel counts it; `core` is the lowest number of those that share its core."""

    number: int
    core: int
    node: int


class Topology(Fact, frozen=True, kw_only=True):
    """The CPUs that this run may use; `limit` is its quota of CPU time, in CPUs, if it has one.

    Where nothing can be bound, there are none, and `reason` says why.
    """

    cpus: tuple[LogicalCpu, ...]
    limit: float | None = None
    reason: str = ""


class Binding(Fact, frozen=True, kw_only=True):
    """The CPUs of each rank in order of ranks; none of any, where `reason` says why."""

    ranks: tuple[tuple[int, ...], ...]
    reason: str = ""

    def of(self, rank: int) -> tuple[int, ...]:
        return self.ranks[rank] if self.ranks else ()


class Binder:
    """Binds the ranks of every trial of a run, from one look at the machine.

    `nodes` gives, for each GPU in torch's order, its NUMA node; it is asked only for trials on GPUs.
    """

    def __init__(
        self,
        *,
        read: Callable[[], Topology] | None = None,
        nodes: Callable[[], Sequence[int | None]] | None = None,
    ) -> None:
        self._read = read or read_topology
        self._nodes = nodes or gpu_nodes
        self._topology: Topology | None = None
        self._near: Sequence[int | None] | None = None

    def __call__(self, cell: Cell, *, pin: bool) -> Binding:
        """The binding of the ranks of one trial of `cell`."""
        if not pin:
            return Binding(ranks=(), reason=SWITCHED_OFF)
        if self._topology is None:
            self._topology = self._read()
        ranks = cell.devices // cell.nodes
        if cell.accelerator == "cpu":
            return binding(self._topology, ranks, cell.threads_per_device)
        if self._near is None:
            self._near = self._nodes()
        return binding_near(self._topology, self._near[:ranks], ranks)


def binding_near(topology: Topology, nodes: Sequence[int | None], ranks: int) -> Binding:
    """For each of `ranks` ranks all CPUs of its GPU's NUMA node; none if one of the nodes is not known."""
    if not topology.cpus:
        return Binding(ranks=(), reason=topology.reason)
    found = tuple(tuple(cpu.number for cpu in topology.cpus if cpu.node == node) for node in nodes)
    if len(found) < ranks or not all(found):
        return Binding(ranks=(), reason=FAR)
    return Binding(ranks=found)


def binding(topology: Topology, ranks: int, threads: int) -> Binding:
    """CPUs for `ranks` ranks of `threads` threads each, one CPU a core, from the node that has most left."""
    if not topology.cpus:
        return Binding(ranks=(), reason=topology.reason)
    if ranks * threads > cores(topology):
        return Binding(ranks=(), reason=TOO_MANY)
    left: dict[int, list[int]] = {}
    taken = set()
    for cpu in sorted(topology.cpus, key=lambda each: each.number):
        if cpu.core not in taken:
            taken.add(cpu.core)
            left.setdefault(cpu.node, []).append(cpu.number)
    found = []
    for _ in range(ranks):
        mine: list[int] = []
        while len(mine) < threads:
            fullest = min(left, key=lambda node: (-len(left[node]), node))
            mine += _take(left[fullest], threads - len(mine))
        found.append(tuple(sorted(mine)))
    return Binding(ranks=tuple(found))


def cores(topology: Topology) -> int:
    """Cores that this run may use at once: by affinity and by quota, of which a part is no core."""
    there = len({cpu.core for cpu in topology.cpus})
    return there if topology.limit is None else min(there, max(1, int(topology.limit)))


def read_topology(root: Path = ROOT, usable: Collection[int] | None = None) -> Topology:
    """What the kernel tells. `usable` stands in for the CPUs of this process's affinity, cpusets included."""
    if usable is None:
        if not (hasattr(os, "sched_getaffinity") and hasattr(os, "sched_setaffinity")):
            return Topology(cpus=(), reason=CANNOT)
        usable = os.sched_getaffinity(0)
    found = []
    for number in sorted(usable):
        folder = root / f"sys/devices/system/cpu/cpu{number}"
        siblings = _line(folder / "topology/core_cpus_list") or _line(
            folder / "topology/thread_siblings_list"
        )
        if siblings is None:  # offline, or there is no sysfs
            continue
        nodes = [int(path.name[4:]) for path in folder.glob("node[0-9]*")]
        found.append(LogicalCpu(number=number, core=_first(siblings), node=min(nodes, default=0)))
    return Topology(cpus=tuple(found), limit=cgroup.cpu_limit(root), reason="" if found else UNTOLD)


def gpu_nodes(
    seen: Cards | None = None, environ: Mapping[str, str] = os.environ, root: Path = ROOT
) -> tuple[int | None, ...]:
    """The NUMA node of each GPU in torch's order; null where the kernel does not tell it."""
    there = cards() if seen is None else seen
    nodes = [
        None if card.bus_id is None else _number(root / f"sys/bus/pci/devices/{card.bus_id}/numa_node")
        for card in there.cards
    ]
    order = in_torchs_order([card.uuid for card in there.cards], environ)
    return tuple(nodes[index] if index is not None else None for index in order)


def _take(numbers: list[int], most: int) -> list[int]:
    """Take the first ones away."""
    mine = numbers[:most]
    del numbers[:most]
    return mine


def _first(listed: str) -> int:
    """The lowest number of the kernel's lists, such as "0,64" or "0-1"."""
    return int(listed.split(",", maxsplit=1)[0].split("-", maxsplit=1)[0])


def _number(path: Path) -> int | None:
    """A node; -1 is how the kernel says that it does not know."""
    text = _line(path)
    return int(text) if text is not None and text.isdigit() else None


def _line(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip() or None
    except OSError:
        return None
