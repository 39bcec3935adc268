"""What the kernel's control groups allow this process, and how often they killed for memory.

Version 2 has one tree, version 1 one tree a controller; a limit anywhere above us binds us too.
Formats: the kernel's documents admin-guide/cgroup-v2 and admin-guide/cgroup-v1/memory.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path("/")

NO_LIMIT_BYTES = 1 << 60
"""Version 1 says "no limit" by a number near 2**63, rounded to pages."""


def memory_limit_bytes(root: Path = ROOT) -> int | None:
    """The tightest memory limit on this process, or nothing if there is none."""
    found = [
        *(_number(folder / "memory.max") for folder in _folders(root, "")),
        *(_number(folder / "memory.limit_in_bytes") for folder in _folders(root, "memory")),
    ]
    limits = [limit for limit in found if limit is not None and 0 < limit < NO_LIMIT_BYTES]
    return min(limits, default=None)


def cpu_limit(root: Path = ROOT) -> float | None:
    """The tightest quota of CPU time, in CPUs, or nothing if there is none."""
    limits = []
    for folder in _folders(root, ""):
        quota, _, period = _text(folder / "cpu.max").partition(" ")
        if quota.isdigit() and period.isdigit():
            limits.append(int(quota) / int(period))
    for folder in _folders(root, "cpu"):
        quota_us, period_us = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")
        if quota_us and period_us and quota_us > 0:
            limits.append(quota_us / period_us)
    return min(limits, default=None)


def memory_kills(root: Path = ROOT) -> int | None:
    """How many processes the kernel has killed for memory since it started, as far as it can be seen.

    The machine's own counter includes the groups' kills, and is readable by all; a rise while a rank
    died by SIGKILL is the evidence. Null where the kernel does not count.
    """
    return _keyed(root / "proc/vmstat", "oom_kill")


def _folders(root: Path, controller: str) -> Iterator[Path]:
    """Our group's folder under one controller ("" for version 2), and all above it."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller not in controllers.split(","):
            continue
        mounts = [root / "sys/fs/cgroup" / controller]
        if not controller:
            mounts.append(root / "sys/fs/cgroup/unified")
        for mount in mounts:
            folder = mount / path.lstrip("/")
            while True:
                yield folder
                if folder == mount:
                    break
                folder = folder.parent


def _keyed(path: Path, key: str) -> int | None:
    for line in _text(path).splitlines():
        name, _, value = line.partition(" ")
        if name == key and value.isdigit():
            return int(value)
    return None


def _number(path: Path) -> int | None:
    with contextlib.suppress(ValueError):
        return int(_text(path))
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
