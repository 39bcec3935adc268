"""Shared memory that killed ranks leave behind: files in /dev/shm, which fill it for the trials to come.

NCCL, torch and Python's multiprocessing name what they make there, and unlink it unless they are killed
(NCCL's troubleshooting guide, "Shared memory"). A file is removed only if its name is of theirs, it
appeared during an attempt that did not end well, it is this user's, and no living process has it open or
mapped. In a container nothing is removed: the folder may be shared with processes that cannot be seen from
inside.
"""

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path

SHM = Path("/dev/shm")  # noqa: S108 - nothing is written there

THEIRS = re.compile(r"(?:nccl-|torch_|psm_|sem\.mp-|cuda\.shm\.)\S+")


class SharedMemory:
    """What is in /dev/shm now; `sweep` removes what was left there since."""

    def __init__(self, folder: Path = SHM, *, alone: Callable[[], bool] | None = None) -> None:
        """`alone` says whether every process that may use the folder can be seen."""
        self._folder = folder
        self._alone = alone or sees_all_processes
        self._before = self._names()

    def sweep(self) -> list[str]:
        """Remove what the attempt left, and give the names; call it when all of its processes are gone."""
        new = {name for name in self._names() - self._before if THEIRS.fullmatch(name)}
        mine = {name for name in new if self._is_mine(name)}
        left = mine - _in_use(self._folder) if mine and self._alone() else set()
        for name in left:
            with contextlib.suppress(OSError):
                (self._folder / name).unlink()
        return sorted(left)

    def _names(self) -> set[str]:
        with contextlib.suppress(OSError):
            return {entry.name for entry in os.scandir(self._folder)}
        return set()

    def _is_mine(self, name: str) -> bool:
        with contextlib.suppress(OSError):
            return (self._folder / name).lstat().st_uid == os.getuid()
        return False


def sees_all_processes(init: Path = Path("/proc/2/comm")) -> bool:
    """Whether this is the first namespace of processes, whose second one is always the kernel's kthreadd."""
    try:
        return init.read_text(encoding="ascii").strip() == "kthreadd"
    except OSError:
        return False


def _in_use(folder: Path) -> set[str]:
    """The names of this folder that any process of ours has open or mapped."""
    prefix = f"{folder}/"
    used: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            for line in (process / "maps").read_text(encoding="utf-8", errors="replace").splitlines():
                _, found, name = line.partition(prefix)
                if found:
                    used.add(name.removesuffix(" (deleted)"))
        with contextlib.suppress(OSError):
            for descriptor in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    target = str(descriptor.readlink())
                    if target.startswith(prefix):
                        used.add(target.removeprefix(prefix).removesuffix(" (deleted)"))
    return used
