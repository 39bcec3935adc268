"""A rank's side of the launch: what a freshly forked process does before and after the worker's entry.

It makes itself killable as one tree, sends what it prints to a file, takes the environment it was
given, and sees to it that it never outlives the run. It knows the worker by name only.
"""

import contextlib
import faulthandler
import importlib
import io
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NoReturn, TextIO

import msgspec

from study.domain.fact import Fact
from study.domain.record import RankError
from study.lab.processes import TAG, Family, send, tagged

ORPHANED = 70
"""Exit code of a rank whose run vanished (`EX_SOFTWARE` of sysexits.h): nobody is left to read it."""

MESSAGE_LENGTH = 10_000
TRACE_LINES = 100
"""What a rank reports is bounded: an error may hold a tensor's every number."""


class Job(Fact, frozen=True, kw_only=True):
    """What one rank's process is given: `entry` as `package.module:function`, and its one argument."""

    entry: str
    order: bytes
    rank: int
    folder: str
    environment: dict[str, str]


def log_file(folder: Path, rank: int) -> Path:
    """Where a rank's output goes."""
    return folder / f"rank-{rank}.log"


def error_file(folder: Path, rank: int) -> Path:
    """Where a rank leaves its `RankError`."""
    return folder / f"error-{rank}.json"


def run_rank(job: Job) -> NoReturn:
    """Become one rank: call the worker's entry and end with its code, whatever happens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the run; the run ends its ranks
    os.setsid()
    tag = job.environment.get(TAG, "")
    threading.Thread(target=_end_with_the_run, args=(tag,), name="end-with-the-run", daemon=True).start()
    folder = Path(job.folder)
    _print_to(log_file(folder, job.rank))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(job.environment)
    try:
        code = load(job.entry)(job.order)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException as error:
        _report(error, folder, job.rank)  # before the words: what they go to may be closed
        with contextlib.suppress(Exception):
            traceback.print_exc()
        code = 1
    end_now(code)


def stay_ready(_: None) -> NoReturn:
    """End at once: a process that shows that the forkserver has loaded everything and can fork."""
    os._exit(0)


def load(entry: str) -> Callable[[bytes], int]:
    """The function that `package.module:function` names."""
    module, _, function = entry.partition(":")
    found: Callable[[bytes], int] = getattr(importlib.import_module(module), function)
    return found


def end_now(code: int) -> NoReturn:
    """End without exit handlers: a library's handler may wait for a peer that is never going to answer."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # closed, or replaced by something that cannot
            stream.flush()
    _end_what_was_started()
    os._exit(code & 0xFF)


def _end_with_the_run(tag: str) -> None:
    """Wait until the run's process is gone, then end everything that this rank started, and itself."""
    run = multiprocessing.parent_process()
    if run is None:
        return
    run.join()
    _end_what_was_started(tagged(tag) - {os.getpid()})
    os._exit(ORPHANED)


def _end_what_was_started(others: Collection[int] = ()) -> None:
    """End every process that this rank started, also one in a session of its own; and `others`."""
    send(others, signal.SIGKILL)
    family = Family()
    while started := family.present([os.getpid()]) - {os.getpid()}:
        send(started, signal.SIGKILL)
        time.sleep(0.01)


def _print_to(path: Path) -> None:
    """Send standard output and error, also of C code, to a file; by lines, so that a kill loses little."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    sys.stdout, sys.stderr = _lines_to(1), _lines_to(2)
    faulthandler.enable(all_threads=False)  # the frame that crashed; the other thread only waits


def _lines_to(descriptor: int) -> TextIO:
    raw = io.FileIO(descriptor, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", line_buffering=True
    )


def _report(error: BaseException, folder: Path, rank: int) -> None:
    """Leave an error file for a worker that raised and left none; failing at that leaves the exit code."""
    path = error_file(folder, rank)
    with contextlib.suppress(Exception):
        if path.exists():
            return
        fact = RankError(
            rank=rank,
            time_ns=time.perf_counter_ns(),
            kind="out_of_memory" if isinstance(error, MemoryError) else "raised",
            secondary=False,
            message=_plain(f"{type(error).__name__}: {_words(error)}"[:MESSAGE_LENGTH].rstrip(": ")),
            trace=tuple(
                line[:MESSAGE_LENGTH]
                for line in _plain("".join(traceback.format_exception(error))).splitlines()[-TRACE_LINES:]
            ),
        )
        whole = path.with_suffix(".part")
        whole.write_bytes(msgspec.json.encode(fact))
        whole.replace(path)


def _words(error: BaseException) -> str:
    """What the error says, if it can."""
    try:
        return str(error)
    except Exception as again:
        return f"(it cannot say why: {type(again).__name__})"


def _plain(text: str) -> str:
    """Text that JSON can hold: half a character, as a name on disk may have, is written out."""
    return text.encode("utf-8", errors="backslashreplace").decode()
