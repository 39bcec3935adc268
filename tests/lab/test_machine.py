"""Tests of describing the machine, on trees of files laid out as the kernel's and on this machine."""

import socket
from pathlib import Path

import msgspec
import pytest

from study.domain.fact import require_reasons
from study.domain.machine import Device, WorkerFacts
from study.lab.machine import describe_machine, slug

LONG = "A very long name of something that nobody will remember"
CPUINFO = "processor : 0\nmodel name : AMD EPYC 9B14 96-Core Processor\nphysical id : 0\nflags : fpu{extra}\n"


def _gpu(index: int, name: str) -> Device:
    return Device(index=index, name=name, memory_bytes=1, power_limit_w=1.0, vbios="x")


def _lay(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("names", "cores", "model", "expected"),
    [
        (["NVIDIA RTX A6000"] * 4, 64, "", "4x-rtx-a6000"),
        (["NVIDIA GeForce RTX 4090"], 8, "", "1x-rtx-4090"),
        (["NVIDIA H100 80GB HBM3"] * 8, 8, "", "8x-h100-80gb-hbm3"),
        (["NVIDIA RTX A6000", "GeForce RTX 3090", "NVIDIA RTX A6000"], 8, "", "1x-rtx-3090-2x-rtx-a6000"),
        (["NVIDIA"], 8, "", "1x-gpu"),
        ([], 2, "AMD EPYC 9B14 96-Core Processor", "2-core-amd-epyc-9b14"),
        ([], 4, "Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz", "4-core-intel-core-i7-8550u"),
        ([], 1, "", "1-core-cpu"),
        ([], 8, LONG, "8-core-a-very-long-name-of-something-tha"),
    ],
)  # fmt: skip
def test_a_slug_is_made_of_the_hardwares_names(
    names: list[str], cores: int, model: str, expected: str
) -> None:
    """Count and name without the maker's decoration; short, and fit for a folder."""
    found = slug(tuple(_gpu(index, name) for index, name in enumerate(names)), cores, model)

    assert found == expected
    assert len(found) <= 40


def test_a_virtual_machine_in_a_container_is_described(tmp_path: Path) -> None:
    """Hypervisor, container, limits and governor are read from where the kernel shows them."""
    root = _lay(
        tmp_path,
        proc__cpuinfo=CPUINFO.format(extra=" hypervisor"),
        sys__class__dmi__id__sys_vendor="Google",
        sys__class__dmi__id__product_name="Google Compute Engine",
        sys__devices__system__cpu__cpu0__cpufreq__scaling_governor="performance\n",
        proc__1__cgroup="0::/kubepods/burstable/pod1234\n",
        proc__self__cgroup="0::/\n",
    )
    _lay(root / "sys/fs/cgroup", **{"memory.max": "1000000", "cpu.max": "100000 100000"})

    found = describe_machine(None, (), root)

    assert found.cpu_model == "AMD EPYC 9B14 96-Core Processor"
    assert (found.virtualisation, found.container) == ("Google Compute Engine", "kubepods")
    assert (found.governor, found.sockets) == ("performance", 1)
    assert (found.memory_bytes, found.usable_cpus) == (1_000_000, 1)
    assert "1234" not in msgspec.json.encode(found).decode()
    require_reasons(found, found.unknown)


@pytest.mark.parametrize(
    ("extra", "vendor", "expected"),
    [
        ("", "Dell Inc.", "none"),
        (" hypervisor", "Marie's own cloud", "hypervisor not named"),
        (" hypervisor", "QEMU", "QEMU"),
    ],
)
def test_only_known_names_of_hypervisors_are_stored(
    tmp_path: Path, extra: str, vendor: str, expected: str
) -> None:
    """A board may call itself anything, also by somebody's name; a physical machine is said to be one."""
    root = _lay(tmp_path, proc__cpuinfo=CPUINFO.format(extra=extra), sys__class__dmi__id__sys_vendor=vendor)

    assert describe_machine(None, (), root).virtualisation == expected


def test_a_machine_that_says_nothing_is_null_with_reasons(tmp_path: Path) -> None:
    """Nothing is guessed on a system without /proc and /sys."""
    found = describe_machine(None, (), tmp_path)

    assert (found.cpu_model, found.sockets, found.governor, found.virtualisation) == (None,) * 4
    assert found.container == "none"
    require_reasons(found, found.unknown)


def test_torchs_devices_stand_in_where_the_library_sees_none() -> None:
    """A GPU that NVIDIA's library does not know has its name and reasons; the CPU is no device."""
    worker = WorkerFacts(
        torch="2.9.0", torch_git="x", cuda=None, cudnn=None, nccl=None,
        devices={"cpu": ("a CPU",), "xpu": ("Intel Arc B580", "Intel Arc B580")}, cpu_capability=None,
    )  # fmt: skip
    found = describe_machine(worker, ())

    assert found.slug == "2x-intel-arc-b580"
    assert [device.index for device in found.devices] == [0, 1]
    require_reasons(found.devices[0], found.devices[0].unknown)


def test_this_machine_is_described_without_names() -> None:
    """Neither host name nor user nor home are in it, and every null has its reason."""
    found = describe_machine(None, ())
    text = msgspec.json.encode(found).decode().lower()

    require_reasons(found, found.unknown)
    assert 1 <= found.usable_cpus <= found.logical_cpus
    assert found.cores <= found.logical_cpus
    assert f'"{socket.gethostname().lower()}' not in text
    assert str(Path.home()) not in text
    assert describe_machine(None, ()) == found


def test_numa_nodes_are_counted(tmp_path: Path) -> None:
    """Two folders are two nodes; where there is none, nobody knows."""
    for node in ("node0", "node1"):
        (tmp_path / "sys/devices/system/node" / node).mkdir(parents=True)

    assert describe_machine(None, (), tmp_path).numa_nodes == 2
    unknown = describe_machine(None, (), tmp_path / "none")
    assert (unknown.numa_nodes, "numa_nodes" in unknown.unknown) == (None, True)
