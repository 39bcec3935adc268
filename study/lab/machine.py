"""The machine described by facts: processor, memory, limits, devices. No host names, people or serials.

Only what stays the same while nothing is changed: a resumed run must find the same machine.
"""

import os
import platform
import re
from collections import Counter
from pathlib import Path

from study.domain.machine import Device, Machine, WorkerFacts
from study.lab import cgroup

ROOT = Path("/")
SLUG_LENGTH = 40

NOISE = re.compile(
    r"\((?:r|tm|c)\)|[®™]|@.*$"
    r"|\b(?:nvidia|geforce|amd radeon|cpu|processor|graphics|gpu|with|\d+-core|core\(s\))\b",
    re.IGNORECASE,
)
"""What makers put into a device's name that does not tell one device from another."""

HYPERVISORS = (
    ("google compute engine", "Google Compute Engine"),
    ("amazon ec2", "Amazon EC2"),
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("microsoft", "Hyper-V"),
    ("openstack", "OpenStack"),
    ("qemu", "QEMU"),
    ("kvm", "KVM"),
    ("xen", "Xen"),
)
"""Read from the board's maker and product, which on a virtual machine may be any text: so only these."""

CONTAINERS = ("kubepods", "docker", "podman", "lxc", "containerd")


def describe_machine(worker: WorkerFacts | None, gpus: tuple[Device, ...], root: Path = ROOT) -> Machine:
    """This machine. `gpus` come from `nvml.gpus`, `worker` (null where torch is missing) from `probe`.

    Where the management library sees no cards, those that torch can use stand in, with their names
    alone. `root` is where /proc and /sys are found.
    """
    import psutil

    unknown: dict[str, str] = {}
    model = _cpu_model(root)
    if model is None:
        unknown["cpu_model"] = "the system does not name its processor"
    packages = _packages(root)
    if packages is None:
        unknown["sockets"] = "the system does not say how its processors are packaged"
    nodes = len(list((root / "sys/devices/system/node").glob("node[0-9]*"))) or None
    if nodes is None:
        unknown["numa_nodes"] = "the system does not tell its NUMA nodes"
    governor = _line(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor is None:
        unknown["governor"] = "the kernel offers no frequency scaling here"
    virtualisation = _virtualisation(root)
    if virtualisation is None:
        unknown["virtualisation"] = "the processor's flags cannot be read"
    logical = psutil.cpu_count(logical=True) or 1
    cores = psutil.cpu_count(logical=False) or logical
    devices = gpus or _named_devices(worker)
    limit_bytes = cgroup.memory_limit_bytes(root)
    memory_bytes = psutil.virtual_memory().total
    return Machine(
        slug=slug(devices, cores, model or platform.machine()),
        cpu_model=model,
        sockets=packages,
        cores=cores,
        logical_cpus=logical,
        usable_cpus=_usable(logical, cgroup.cpu_limit(root)),
        memory_bytes=min(memory_bytes, limit_bytes or memory_bytes),
        governor=governor,
        virtualisation=virtualisation,
        container=_container(root),
        os=_os_name(),
        kernel=platform.release(),
        architecture=platform.machine(),
        devices=devices,
        numa_nodes=nodes,
        unknown=unknown,
    )


def slug(devices: tuple[Device, ...], cores: int, cpu_model: str) -> str:
    """A short name made of the hardware: `4x-rtx-a6000`, or without a GPU `2-core-amd-epyc-9b14`."""
    if devices:
        counts = Counter(_plain(device.name) or "gpu" for device in devices)
        words = "-".join(f"{count}x-{name}" for name, count in sorted(counts.items()))
    else:
        words = f"{cores}-core-{_plain(cpu_model) or 'cpu'}"
    return words[:SLUG_LENGTH].strip("-")


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", NOISE.sub(" ", name).lower()).strip("-")


def _named_devices(worker: WorkerFacts | None) -> tuple[Device, ...]:
    why = "NVIDIA's management library does not know this device"
    found = [] if worker is None else [n for kind, n in sorted(worker.devices.items()) if kind != "cpu"]
    return tuple(
        Device(
            index=index,
            name=name,
            memory_bytes=None,
            power_limit_w=None,
            vbios=None,
            unknown=dict.fromkeys(("memory_bytes", "power_limit_w", "vbios"), why),
        )
        for index, name in enumerate(name for names in found for name in names)
    )


def _cpu_model(root: Path) -> str | None:
    """The processor's name; on ARM boards that have none in /proc/cpuinfo, the device tree's."""
    for key in ("model name", "Model", "cpu model", "Hardware"):
        for value in _cpuinfo(root, key):
            if value:
                return value
    return _line(root / "proc/device-tree/model") or (platform.processor() if root == ROOT else "") or None


def _packages(root: Path) -> int | None:
    found = {
        path.read_text().strip()
        for path in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/topology/physical_package_id")
    } or set(_cpuinfo(root, "physical id"))
    return len(found) or None


def _cpuinfo(root: Path, key: str) -> list[str]:
    lines = _text(root / "proc/cpuinfo").splitlines()
    pairs = (line.partition(":") for line in lines)
    return [value.strip() for name, _, value in pairs if name.strip() == key]


def _usable(logical: int, quota: float | None) -> int:
    """CPUs that this process may use: by affinity and by quota, of which a part is no CPU."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        allowed = logical
    return allowed if quota is None else max(1, min(allowed, int(quota)))


def _virtualisation(root: Path) -> str | None:
    """`none`, the hypervisor's name, or that there is one; nothing where it cannot be told."""
    board = " ".join(
        _text(root / f"sys/class/dmi/id/{name}") for name in ("sys_vendor", "product_name")
    ).lower()
    if "microsoft" in _text(root / "proc/version").lower():
        return "WSL"
    named = next((name for word, name in HYPERVISORS if word in board), None)
    flags = _cpuinfo(root, "flags")
    if flags and "hypervisor" not in flags[0].split():
        return "none"
    if flags:
        return named or _line(root / "sys/hypervisor/type") or "hypervisor not named"
    return named


def _container(root: Path) -> str:
    """`none` or the kind of container that this process is in."""
    groups = _text(root / "proc/1/cgroup")
    named = next((name for name in CONTAINERS if name in groups), None)
    if named:
        return named
    if (root / "run/.containerenv").exists():
        return "podman"
    return "docker" if (root / ".dockerenv").exists() else "none"


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.system()


def _line(path: Path) -> str | None:
    return _text(path).strip("\0 \n") or None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
