"""Tests of reading limits from trees of files laid out as the kernel's."""

from pathlib import Path

import pytest

from study.lab import cgroup


def _lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


V2 = {
    "proc/self/cgroup": "0::/user.slice/job\n",
    "sys/fs/cgroup/user.slice/memory.max": "3000000\n",
    "sys/fs/cgroup/user.slice/job/memory.max": "max\n",
    "sys/fs/cgroup/user.slice/job/cpu.max": "150000 100000\n",
    "sys/fs/cgroup/user.slice/cpu.max": "max 100000\n",
}
V1 = {
    "proc/self/cgroup": "4:memory:/box\n2:cpu,cpuacct:/box\n1:name=systemd:/\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "5000000\n",
    "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "50000\n",
    "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000\n",
}


@pytest.mark.parametrize(("files", "memory", "cpus"), [(V2, 3_000_000, 1.5), (V1, 5_000_000, 0.5)])
def test_the_tightest_limit_above_us_binds(
    tmp_path: Path, files: dict[str, str], memory: int, cpus: float
) -> None:
    """Both versions of control groups are understood, and limits further up count."""
    root = _lay(tmp_path, files)

    assert cgroup.memory_limit_bytes(root) == memory
    assert cgroup.cpu_limit(root) == cpus


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"},
        {
            "proc/self/cgroup": "4:memory:/\n2:cpu:/\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
    ],
)
def test_no_limit_is_nothing(tmp_path: Path, files: dict[str, str]) -> None:
    """The kernel's ways to say "no limit", and no control groups at all."""
    root = _lay(tmp_path, files)

    assert cgroup.memory_limit_bytes(root) is None
    assert cgroup.cpu_limit(root) is None


def test_kills_for_memory_are_counted(tmp_path: Path) -> None:
    """The kernel's counter is read; where it does not count, nothing is said."""
    assert cgroup.memory_kills(_lay(tmp_path, {"proc/vmstat": "pgfault 7\noom_kill 12\n"})) == 12
    assert cgroup.memory_kills(_lay(tmp_path, {"proc/vmstat": "pgfault 7\n"})) is None
