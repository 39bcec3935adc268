"""Ranks from a forkserver: the standard library's own, one for each launcher.

A forkserver that has torch loaded gives a rank in hundredths of a second instead of seconds. The
standard library keeps one server for the whole process, with a frozen list of modules, and makes
every child import the parent's main module. Here each launcher has a server of its own, its ranks
import only what they need, and leaving the launcher ends it.

Two things of `multiprocessing` are used that its manual does not promise, both as they are from
Python 3.11 to 3.14: the class `ForkServer`, and a `Popen` whose `_launch` is ours.
"""

import contextlib
import io
import os
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import (
    connection,
    context,
    forkserver,
    popen_forkserver,
    process,
    reduction,
    resource_tracker,
    util,
)
from pathlib import Path
from typing import Any

from study.domain.errors import NotReady
from study.lab.environment import only_allowed
from study.lab.processes import TAG, read_process, tagged
from study.lab.rank import stay_ready
from study.lab.stop import StopRequest

POLL_S = 0.1
"""The longest that anything here waits before it looks whether the run should stop."""

START_LIMIT_S = 180.0
"""A cold `import torch` from a network disk takes a minute; more than this is a fault."""


LONGEST_TEMPDIR = 60
"""Bytes; what multiprocessing appends (`/pymp-12345678/listener-12345678`) comes to 32, of 107 in all."""


class ServerLost(Exception):
    """The forkserver ended, or did not fork in time; what it was forking is lost."""


class Rank(popen_forkserver.Popen):
    """One process forked by a server. `sentinel` becomes ready when it has ended."""

    pid: int
    sentinel: int
    returncode: int | None

    def __init__(self, server: "RankServer", target: Callable[[Any], object], argument: object) -> None:
        self._server = server
        self.number = 0
        self.ended_ns = 0
        self.lost = False
        super().__init__(context.ForkServerProcess(target=target, args=(argument,), name="study-rank"))

    def _launch(self, process_obj: process.BaseProcess) -> None:
        preparation = {
            "name": process_obj.name,
            "sys_path": self._server.sys_path,
            "sys_argv": ["study-rank"],
        }  # and no main module: the run's own has no business in a rank
        message = io.BytesIO()
        context.set_spawning_popen(self)
        try:
            reduction.dump(preparation, message)
            reduction.dump(process_obj, message)
        finally:
            context.set_spawning_popen(None)
        self.sentinel, writer = self._server.connect()
        # the copy stays open as long as this process lives: its closing tells the rank that we are gone
        self.finalizer = util.Finalize(self, _close, (os.dup(writer), self.sentinel))
        try:
            with open(writer, "wb") as pipe:  # noqa: PTH123 - a descriptor, not a path
                pipe.write(message.getbuffer())
            self._server.wait_for(self.sentinel)
            self.pid = forkserver.read_signed(self.sentinel)
        except (OSError, EOFError) as error:
            raise ServerLost("the process that forks the ranks ended") from error

    def look(self) -> bool:
        """Whether it has ended; notes when that was first seen. `returncode` is negative for a signal."""
        if self.returncode is None and connection.wait([self.sentinel], 0):
            try:
                self.returncode = forkserver.read_signed(self.sentinel)
            except (OSError, EOFError):  # its server died before it did
                self.lost = True
                return False
            self.ended_ns = time.perf_counter_ns()
        return self.returncode is not None


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _keep_sockets_short(short: str = "/tmp") -> None:  # noqa: S108 - mkdtemp makes a private folder in it
    """See to it that multiprocessing puts its sockets where their paths fit into an address (108 bytes).

    It takes the temporary folder, which TMPDIR may put anywhere. Where that is too long, it is given a
    folder of its own in `short`, removed when this process ends.
    """
    settings = process.current_process()._config  # type: ignore[attr-defined]  # where `get_temp_dir` looks
    if settings.get("tempdir") is None and len(os.fsencode(tempfile.gettempdir())) > LONGEST_TEMPDIR:
        settings["tempdir"] = tempfile.mkdtemp(prefix="pymp-", dir=short)
        util.Finalize(None, shutil.rmtree, args=(settings["tempdir"], True), exitpriority=-100)


@contextlib.contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """A child made inside inherits a blocked SIGINT: Ctrl-C goes to the whole terminal and is meant for
    the run, which ends its children itself; a server that is still importing would print a traceback."""
    resource_tracker.ensure_running()  # which unblocks SIGINT when it starts, so it starts before
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class RankServer:
    """A forkserver of our own. Use `start` before the first `fork`, and `close` at the end.

    `preload` are modules that it loads before it forks; `sys_path` is where ranks find modules.
    """

    def __init__(self, *, preload: Sequence[str], sys_path: Sequence[str], stop: StopRequest) -> None:
        self.sys_path = [*sys_path, *(path or str(Path.cwd()) for path in sys.path)]
        self.tag = uuid.uuid4().hex
        self._stop = stop
        self._server = forkserver.ForkServer()
        self._server.set_forkserver_preload(["study.lab.rank", *preload])  # the former is every rank's door

    def start(self) -> None:
        """Make sure that the server runs and has loaded everything; again if it died.

        Raises:
            NotReady: it does not come up.
            KeyboardInterrupt: the run was stopped meanwhile.
        """
        if self._alive():
            return
        try:
            _keep_sockets_short()
            with only_allowed(self.sys_path), _deaf_to_ctrl_c():
                os.environ[TAG] = self.tag  # for the server alone: the block puts everything back
                self._server.ensure_running()
            first = self.fork(stay_ready, None)
            self.wait_for(first.sentinel)
        except (ServerLost, OSError) as error:
            if self._stop.requested:
                raise KeyboardInterrupt from error
            raise NotReady(
                f"The process that starts the ranks does not come up: {error}.",
                "Try `python -c 'import torch'` with the same Python; what it prints is the reason.",
            ) from error

    def fork(self, target: Callable[[Any], object], argument: object) -> Rank:
        """A new process that calls `target(argument)`.

        Raises:
            ServerLost: there is no server, or it does not answer.
        """
        return Rank(self, target, argument)

    def connect(self) -> tuple[int, int]:
        try:
            return self._server.connect_to_new_process([])
        except (OSError, EOFError) as error:
            raise ServerLost("the process that forks the ranks does not answer") from error

    def wait_for(self, descriptor: int) -> None:
        """Wait until there is something to read.

        Raises:
            ServerLost: there is nothing within the limit, or the run is to stop.
        """
        limit = time.monotonic() + START_LIMIT_S
        while not connection.wait([descriptor], POLL_S):
            if self._stop.requested:
                raise ServerLost("the run was stopped")
            if time.monotonic() > limit:
                raise ServerLost(f"nothing happened for {START_LIMIT_S:.0f} s")

    def strays(self) -> set[int]:
        """Every process that ranks of this server started and that is still there, and the ranks."""
        server = read_process(self._pid) if self._pid else None
        return tagged(self.tag, since=server.started if server else 0) - {self._pid}

    def cpu_ticks(self) -> int | None:
        """Clock ticks of CPU time used by the server and by every rank that has ended under it."""
        server = read_process(self._pid) if self._pid else None
        return None if server is None else server.cpu_ticks

    def close(self) -> None:
        """End the server. Its ranks must have ended."""
        if not self._pid:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)  # it may be in the middle of a long import
        self._server._stop()  # type: ignore[attr-defined]  # closes its pipe and waits for it

    @property
    def _pid(self) -> int | None:
        pid: int | None = self._server._forkserver_pid  # type: ignore[attr-defined]
        return pid

    def _alive(self) -> bool:
        found = read_process(self._pid) if self._pid else None
        return found is not None and not found.dead
