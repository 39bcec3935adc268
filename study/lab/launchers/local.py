"""Ranks on this machine: forked from a server that has torch loaded, each the head of its own session."""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import connection
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import msgspec

from study.domain.errors import NotReady
from study.domain.record import Failed, Interrupted, Outcome, TimedOut
from study.domain.study import Protocol
from study.domain.trial import Cell, Order
from study.lab import cgroup
from study.lab.cpus import Binder, Binding
from study.lab.environment import for_rank
from study.lab.forkserver import POLL_S, Rank, RankServer, ServerLost
from study.lab.launchers import Attempt
from study.lab.logs import read_log, tail_of
from study.lab.outcome import End, Left, collect, first_failure, measured
from study.lab.processes import TAG, Family, send
from study.lab.pulse import Pulse
from study.lab.rank import Job, log_file, run_rank
from study.lab.scrub import identity
from study.lab.shared_memory import SharedMemory
from study.lab.stop import StopRequest

FACTS = {
    "summary": "Processes on this machine, from a forkserver that has torch loaded.",
    "several_nodes": False,
}

ENTRY = "study.worker.ranks:serve"
PRELOAD = ("study.worker.preload",)
WITHOUT_TORCH = ("study.worker.ranks",)

GRACE_S = 0.5
"""After the first failure the other ranks get this long to notice and to write what they saw (gloo
tells a peer within 0.4 s)."""

TERMINATE_S = 1.0
"""Between SIGTERM and SIGKILL: ranks in a collective ignore the former (pytorch#90578)."""

GONE_S = 20.0
"""After SIGKILL a process may still return memory to a driver; longer than this, it never ends."""

Why = Literal["ended", "failed", "timed_out", "silent", "interrupted", "server_lost"]


def launcher(*, stop: StopRequest, torch: bool = True) -> "Local":
    """The launcher for `study.worker`, not started yet; `torch` asks for torch to be loaded beforehand."""
    return Local(stop=stop, preload=PRELOAD if torch else WITHOUT_TORCH)


class Local:
    """The launcher of this machine. Use it as a context manager.

    `entry` names the worker's function, `preload` what the forkserver loads, `sys_path` where else
    modules are found; `memory_kills` reads the kernel's count of processes killed for memory; `binder` says
    which CPUs a cell's ranks are bound to.

    Raises on entry:
        NotReady: the forkserver does not come up.
    """

    name = "local"

    def __init__(
        self,
        *,
        stop: StopRequest,
        entry: str = ENTRY,
        preload: Sequence[str] = PRELOAD,
        sys_path: Sequence[str] = (),
        memory_kills: Callable[[], int | None] = cgroup.memory_kills,
        binder: Callable[..., Binding] | None = None,
    ) -> None:
        self._stop = stop
        self._entry = entry
        self._server = RankServer(preload=preload, sys_path=sys_path, stop=stop)
        self._memory_kills = memory_kills
        self._binder = binder or Binder()
        self._who = identity()

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    def cpu_ns(self) -> int | None:
        ticks = self._server.cpu_ticks()
        return None if ticks is None else ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    def launch(
        self, *, trial: str, cell: Cell, protocol: Protocol, seed: int, folder: Path, limit_s: float
    ) -> Attempt:
        """Run one attempt to its end; see the shelf's contract."""
        self._server.start()
        own = Path(tempfile.mkdtemp(prefix="attempt-", dir=folder)).resolve()
        binding = self._binder(cell, pin=protocol.pin)
        orders = [
            Order(
                trial=trial,
                cell=cell,
                protocol=protocol,
                seed=seed,
                rank=rank,
                world_size=cell.devices,
                store=str(own / "store"),
                folder=str(own),
                deadline_s=limit_s,
                cpus=binding.of(rank),
                not_pinned=binding.reason,
            )
            for rank in range(cell.devices)
        ]
        jobs = [
            Job(
                entry=self._entry,
                order=msgspec.json.encode(order),
                rank=order.rank,
                folder=order.folder,
                environment={**for_rank(cell, os.environ), TAG: self._server.tag},
            )
            for order in orders
        ]
        kills, shared = self._memory_kills(), SharedMemory()
        deadline = time.monotonic() + limit_s
        pulses = {job.rank: Pulse(own, job.rank, protocol.silence_limit_s) for job in jobs}
        ranks: list[Rank] = []
        why: Why = "server_lost"
        try:
            for job in jobs:
                ranks.append(self._server.fork(run_rank, job))
                ranks[-1].number = job.rank
            why = self._watch(ranks, pulses, deadline)
        except ServerLost:
            pass
        finally:
            ends = [_end(rank) for rank in ranks if rank.look()]
            waiting = tuple(rank.number for rank in ranks if rank.returncode is None)
            end_all(ranks, self._server.strays)
            if why != "ended":
                shared.sweep()
        logs = {job.rank: read_log(log_file(own, job.rank), self._who) for job in jobs}
        left = collect(own, len(jobs))
        outcome: Outcome
        if why != "ended" and self._stop.requested:
            outcome = Interrupted(by=self._stop.by)
        elif why == "server_lost":
            outcome = _not_launched(logs[0])
        elif why in ("timed_out", "silent") and waiting:  # else the last rank ended at that very moment
            # unless a rank said what was wrong and then did not end
            said = {rank: error for rank, error in left.errors.items() if not error.secondary}
            outcome = first_failure([], Left({}, said, {}), logs, self._who) or _timed_out(
                limit_s, waiting, pulses if why == "silent" else {}, logs
            )
        else:
            outcome = first_failure(
                ends, left, logs, self._who, memory_kills=_risen(kills, self._memory_kills())
            ) or measured(left, cell, protocol, logs, self._who)
        return Attempt(outcome=outcome, logs={f"rank{rank}": text for rank, text in logs.items()})

    def _watch(self, ranks: Sequence[Rank], pulses: Mapping[int, Pulse], deadline: float) -> Why:
        """Wait until all have ended, one has failed and the others had their grace, or it is over."""
        failed = False
        while waiting := [rank for rank in ranks if not rank.look()]:
            if any(rank.lost for rank in waiting):
                self._pause_for_stop()  # a signal to our whole group ends the server and asks us to stop
                return "interrupted" if self._stop.requested else "server_lost"
            if not failed and any(rank.returncode for rank in ranks):
                failed = True
                deadline = min(deadline, time.monotonic() + GRACE_S)
            left_s = deadline - time.monotonic()
            if self._stop.requested:
                return "interrupted"
            if left_s <= 0:
                return "failed" if failed else "timed_out"
            for rank in waiting:
                pulses[rank.number].look(time.monotonic())
            if not failed and any(pulses[rank.number].hangs for rank in waiting):
                return "silent"
            connection.wait([rank.sentinel for rank in waiting], min(left_s, POLL_S))
        return "failed" if any(rank.returncode for rank in ranks) else "ended"

    def _pause_for_stop(self) -> None:
        until = time.monotonic() + 2 * POLL_S
        while time.monotonic() < until and not self._stop.requested:
            time.sleep(POLL_S / 10)


def end_all(ranks: Sequence[Rank], strays: Callable[[], set[int]] = set) -> None:
    """End every process of these ranks: SIGTERM, one second, SIGKILL; return when all are gone.

    `strays` finds what a rank started and nothing else ties to it.

    Raises:
        NotReady: a process does not end even by SIGKILL.
    """
    family = Family()
    try:
        if present := _present(family, ranks, strays):
            send(present, signal.SIGTERM)
            until = time.monotonic() + TERMINATE_S
            while _present(family, ranks, strays) and time.monotonic() < until:
                time.sleep(0.02)
    finally:  # also when a second Ctrl-C cuts the second short
        until = time.monotonic() + GONE_S
        while present := _present(family, ranks, strays):
            send(present, signal.SIGKILL)
            if time.monotonic() > until:
                raise NotReady(
                    f"A process of the last trial does not end even by SIGKILL (number {min(present)}).",
                    "It hangs inside a driver. Look at the kernel's log (dmesg); a restart may be needed.",
                )
            time.sleep(0.01)
        for rank in ranks:
            rank.close()


def _present(family: Family, ranks: Sequence[Rank], strays: Callable[[], set[int]]) -> set[int]:
    """What is alive of these ranks and of all that they started."""
    living = {rank.pid for rank in ranks if not rank.look()}
    return family.present(living | strays(), {rank.pid for rank in ranks} - living)


def _end(rank: Rank) -> End:
    return End(rank=rank.number, exit_code=rank.returncode or 0, time_ns=rank.ended_ns)


def _risen(before: int | None, after: int | None) -> int:
    return 0 if before is None or after is None else after - before


def _timed_out(
    limit_s: float, waiting: tuple[int, ...], pulses: Mapping[int, Pulse], logs: Mapping[int, str]
) -> TimedOut:
    """A trial that had to be ended; of one that fell silent, `pulses` tell which ranks did."""
    silent = {rank: pulses[rank].silent_s for rank in waiting if rank in pulses and pulses[rank].hangs}
    named = tuple(silent) or waiting
    return TimedOut(
        limit_s=limit_s,
        waiting=named,
        log_tail=tail_of(logs[named[0]]),
        silent_s=round(max(silent.values()), 1) if silent else None,
    )


def _not_launched(log: str) -> Failed:
    return Failed(
        cause="launch",
        rank=None,
        exit_code=None,
        signal=None,
        reason="The process that forks the ranks ended during the trial.",
        log_tail=tail_of(log),
    )
