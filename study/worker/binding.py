"""The CPUs of a rank: it is bound before anything else, and what came of that is read back at the end.

An affinity belongs to a thread, and a new thread inherits that of its maker; so all threads that a rank has
by then are bound, and all that it has at the end are asked.
"""

import os
from collections.abc import Iterable
from pathlib import Path

TASKS = Path("/proc/self/task")
NODES = Path("/sys/devices/system/node")


def bind(cpus: Iterable[int]) -> str:
    """Bind every thread of this process to `cpus`; returns why that is not possible, or ""."""
    if not hasattr(os, "sched_setaffinity"):
        return "this system cannot bind a process to processors"
    wanted = set(cpus)
    try:
        for thread in _threads():
            os.sched_setaffinity(thread, wanted)
    except OSError as error:
        return f"the system refused to bind the process ({error.strerror})"
    return ""


def bound() -> tuple[tuple[int, ...] | None, str]:
    """The CPUs on which any thread of this process may run; or nothing and the reason."""
    if not hasattr(os, "sched_getaffinity"):
        return None, "this system does not tell on which processors a process may run"
    found: set[int] = set()
    for thread in _threads():
        try:
            found |= os.sched_getaffinity(thread)
        except ProcessLookupError:  # it ended meanwhile
            continue
        except OSError as error:
            return None, f"the system did not tell on which processors it may run ({error.strerror})"
    return tuple(sorted(found)), ""


def nodes_of(cpus: Iterable[int], nodes: Path = NODES) -> tuple[tuple[int, ...] | None, str]:
    """The NUMA nodes of these CPUs; or nothing and the reason."""
    why = "the system does not tell the NUMA nodes of its processors"
    found = set()
    for cpu in cpus:
        named = [int(path.parent.name[4:]) for path in nodes.glob(f"node[0-9]*/cpu{cpu}")]
        if not named:
            return None, why
        found |= set(named)
    return (tuple(sorted(found)), "") if found else (None, why)


def _threads() -> list[int]:
    try:
        return [int(thread.name) for thread in TASKS.iterdir()]
    except OSError:
        return [0]  # the calling thread, where /proc does not list them
