"""Which processes belong to a rank, read from /proc, and how they are ended.

A rank leads a session of its own. To it belong the members of that session and every descendant,
also one that left the session. Numbers of processes are reused, but never while a session of that
number has members: so when a rank that is known to be gone seems to live, its number has been given
to a stranger, and nothing of it is touched.

A daemon that forked twice has neither session nor parent in common with its rank. It is known by its
environment, in which everything that a launcher's ranks start carries that launcher's tag.
"""

import contextlib
import os
import signal
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")


class Process(NamedTuple):
    """One line of the process table; `cpu_ticks` counts it and the children that it waited for.

    `started` is in ticks since the machine started: with the number it names one process for ever.
    """

    parent: int
    session: int
    dead: bool
    cpu_ticks: int
    started: int


def read_process(pid: int) -> Process | None:
    """One process, or nothing if there is none of that number. Format: proc_pid_stat(5)."""
    try:
        line = (PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    fields = line[line.rindex(b")") + 2 :].split()  # the name may hold blanks and brackets
    state, parent, session = fields[0], int(fields[1]), int(fields[3])
    return Process(
        parent=parent,
        session=session,
        dead=state in (b"Z", b"X"),
        cpu_ticks=sum(int(ticks) for ticks in fields[11:15]),
        started=int(fields[19]),
    )


def table() -> dict[int, Process]:
    """Every process that can be seen, by its number."""
    numbers = [int(path.name) for path in PROC.iterdir() if path.name.isdigit()] if PROC.is_dir() else []
    found = {pid: read_process(pid) for pid in numbers}
    return {pid: process for pid, process in found.items() if process is not None}


class Family:
    """The processes that belong to some ranks; those once found are remembered.

    Remembered, because a process that left the session is known by its parent alone, and when the
    parent ends first nothing else tells whose it was.
    """

    def __init__(self) -> None:
        self._started: dict[int, int] = {}

    def present(self, living: Collection[int], gone: Collection[int] = ()) -> set[int]:
        """The numbers of all that is alive of them now.

        `living` are ranks that have not been waited for yet, `gone` are those that have.
        """
        processes = {pid: process for pid, process in table().items() if not process.dead}
        remembered = {
            pid
            for pid, started in self._started.items()
            if pid in processes and processes[pid].started == started
        }
        roots = {*living, *remembered, *(pid for pid in gone if pid not in processes)}
        found = {pid for pid, process in processes.items() if pid in roots or process.session in roots}
        grown = True
        while grown:
            more = {pid for pid, process in processes.items() if process.parent in found} - found
            found |= more
            grown = bool(more)
        self._started.update({pid: processes[pid].started for pid in found})
        return found


TAG = "STUDY_RANKS"
"""The variable whose value tells whose ranks a process comes from."""


def tagged(tag: str, since: int = 0) -> set[int]:
    """The numbers of all processes that were started with this tag.

    Of those that started before `since`, in ticks since the machine started, none is asked.
    """
    if not tag:
        return set()
    mark, found = f"{TAG}={tag}".encode(), set()
    for folder in PROC.glob("[0-9]*"):
        process = read_process(int(folder.name))
        if process is None or process.started < since:
            continue
        with contextlib.suppress(OSError):  # gone, or somebody else's
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.add(int(folder.name))
    return found


def send(pids: Collection[int], number: signal.Signals) -> None:
    """Send a signal to each process; one that is gone already is no fault."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
