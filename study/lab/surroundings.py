"""What else the machine did during an attempt: the share of its CPU time that others used.

The machine's busy time comes from the kernel's counters (/proc/stat), steal included: what another
guest of the hypervisor took is lost to the ranks just the same. From it goes what we used: this
process's own time, and the time of the launcher's server with all ranks that it has waited for, so
that nothing has to be sampled and no short-lived rank is missed. What a rank started and did not
wait for counts as foreign.
"""

import os
import time
from typing import Any, NamedTuple

import msgspec

from study.domain.record import Surroundings
from study.lab.launchers import Launcher
from study.lab.rest import Seen

UNSEEN = (
    "waited_s", "memory_available_bytes", "device_memory_used_bytes", "device_memory_base_bytes",
    "foreign_processes", "foreign_processes_elsewhere",
)  # fmt: skip
"""What is not known where nobody waited for the machine to rest."""


class Usage(NamedTuple):
    """CPU seconds since the machine started: of all its CPUs together, busy, and ours (null: not known)."""

    total_s: float
    busy_s: float
    own_s: float | None


def usage(launcher: Launcher) -> Usage | None:
    """The counters now; nothing where they cannot be read, which never costs a trial."""
    import psutil

    try:
        times = psutil.cpu_times()._asdict()
    except Exception:  # whatever a broken /proc makes of it
        return None
    counted = {
        name: value for name, value in times.items() if not name.startswith("guest")
    }  # in `user` already
    total = sum(counted.values())
    ranks_ns = launcher.cpu_ns()
    return Usage(
        total_s=total,
        busy_s=total - counted["idle"] - counted.get("iowait", 0.0),
        own_s=None if ranks_ns is None else ranks_ns / 1e9 + time.process_time(),
    )


def load() -> float | None:
    """The load average over the last minute."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def surroundings(
    before: Usage | None, after: Usage | None, load_before: float | None, seen: Seen | None = None
) -> Surroundings:
    """What others did between two looks at the counters; `seen` tells of the rest before and of devices."""
    unknown = {} if load_before is not None else {"load_before": "the system does not say"}
    share, why = _foreign(before, after)
    if why:
        unknown["foreign_cpu_share"] = why
    told: dict[str, Any] = {} if seen is None else msgspec.structs.asdict(seen)
    unknown |= dict.fromkeys(UNSEEN, "nobody looked") if seen is None else told.pop("unknown")
    return Surroundings(foreign_cpu_share=share, load_before=load_before, unknown=unknown, **told)


def _foreign(before: Usage | None, after: Usage | None) -> tuple[float | None, str]:
    if before is None or after is None:
        return None, "the system's CPU counters could not be read"
    total = after.total_s - before.total_s
    if total <= 0:
        return None, "the kernel's CPU counters did not move"
    if before.own_s is None or after.own_s is None:
        return None, "the launcher cannot tell how much CPU time its ranks used"
    own = after.own_s - before.own_s
    if own < 0:
        return None, "the process that forks the ranks was restarted during the attempt"
    # counters move in ticks of 10 ms, so a quiet machine can come out a little below zero
    return min(1.0, max(0.0, (after.busy_s - before.busy_s - own) / total)), ""
