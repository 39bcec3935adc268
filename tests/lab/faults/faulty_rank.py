"""A worker of real processes for the bank of faults: what the fake worker does, and every worse thing.

`do` is what rank `at` does; the other ranks do `others`. What a fault says, it says by what it does: by
signals, exit codes, files and silence, as a real rank would.
"""

import contextlib
import io
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from multiprocessing import shared_memory
from pathlib import Path

import fake_worker
import msgspec
from fake_worker import _error, _grandchild, _hang, _leave, _reading

from study.domain.heartbeat import WINDOW
from study.domain.record import RankError
from study.domain.trial import Order
from study.worker.group import FileGroup
from study.worker.heartbeat import Heart

POISON = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NCCL_DEBUG", "TORCH_LOGS", "LD_PRELOAD", "PYTHONMALLOC")


def serve(order: bytes) -> int:
    """The entry, as the launcher calls it."""
    told = msgspec.json.decode(order, type=Order)
    options = told.cell.options
    mine = told.rank == options.get("at", 0)
    what = str(options.get("do", "measure") if mine else options.get("others", "measure"))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print(f"rank {told.rank} does {what}")
    return DOES[what](told, Path(told.folder)) or 0


# Ending in odd ways


def _sigbus(told: Order, folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGBUS)


def _sigabrt(told: Order, folder: Path) -> None:
    os.abort()


def _sigill(told: Order, folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGILL)


def _sigfpe(told: Order, folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGFPE)


def _sigterm(told: Order, folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def _sys_exit_with_words(told: Order, folder: Path) -> None:
    sys.exit("no more")


def _sys_exit_without_a_code(told: Order, folder: Path) -> None:
    sys.exit()


def _ends_at_once(told: Order, folder: Path) -> None:
    os._exit(0)


# Raising in odd ways


def _keyboard_interrupt(told: Order, folder: Path) -> None:
    raise KeyboardInterrupt


def _recursion(told: Order, folder: Path) -> None:
    _recursion(told, folder)


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("mute")


class Unpicklable(Exception):
    """An error that holds what cannot be sent to another process."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.held = open(os.devnull)  # noqa: PTH123, SIM115 - held on purpose

    def __reduce__(self) -> str:
        raise TypeError("cannot be pickled")


class Foreign(BaseException):
    """An error that is no Exception, as some libraries throw for cancellation."""


def _mute(told: Order, folder: Path) -> None:
    raise Mute


def _unpicklable(told: Order, folder: Path) -> None:
    raise Unpicklable("it holds an open file")


def _foreign(told: Order, folder: Path) -> None:
    raise Foreign("cancelled")


def _half_a_character(told: Order, folder: Path) -> None:
    raise ValueError("the file \udcff.bin is broken")


def _many_words(told: Order, folder: Path) -> None:
    raise ValueError("x" * 5_000_000)


def _names_a_home(told: Order, folder: Path) -> None:
    raise FileNotFoundError(2, "No such file", f"{Path.home()}/secret/model.bin")


# Files that are not what they should be


def _wrong_type(told: Order, folder: Path) -> None:
    raw = msgspec.json.encode(_reading(told)).replace(b'"work":', b'"work":"many","was":')
    (folder / f"reading-{told.rank}.json").write_bytes(raw)


def _oversized(told: Order, folder: Path) -> None:
    with (folder / f"reading-{told.rank}.json").open("wb") as file:
        file.truncate(100 * 2**20)


def _too_deep(told: Order, folder: Path) -> None:
    (folder / f"reading-{told.rank}.json").write_bytes(b"[" * 1_000_000)


def _pipe(told: Order, folder: Path) -> None:
    os.mkfifo(folder / f"reading-{told.rank}.json")


def _folder_for_a_reading(told: Order, folder: Path) -> None:
    (folder / f"reading-{told.rank}.json").mkdir()


def _link_to_nowhere_near(told: Order, folder: Path) -> None:
    (folder / f"reading-{told.rank}.json").symlink_to("/dev/zero")


def _empty_reading(told: Order, folder: Path) -> None:
    (folder / f"reading-{told.rank}.json").touch()


def _torn_error(told: Order, folder: Path) -> int:
    (folder / f"error-{told.rank}.json").write_text('{"rank": 0, "time')
    return 1


def _error_of_no_kind(told: Order, folder: Path) -> int:
    fact = RankError(rank=told.rank, time_ns=1, kind="raised", secondary=False, message="?", trace=())
    raw = msgspec.json.encode(fact).replace(b'"raised"', b'"tired"')
    (folder / f"error-{told.rank}.json").write_bytes(raw)
    return 1


def _error_of_another(told: Order, folder: Path) -> int:
    fact = RankError(rank=told.rank + 1, time_ns=1, kind="raised", secondary=False, message="?", trace=())
    (folder / f"error-{told.rank}.json").write_bytes(msgspec.json.encode(fact))
    return 1


def _pipe_for_a_heart(told: Order, folder: Path) -> None:
    os.mkfifo(folder / f"beat-{told.rank}")
    time.sleep(0.3)
    _leave(told, folder)


def _no_steps(told: Order, folder: Path) -> None:
    _leave(told, folder, steps=0)


def _other_units(told: Order, folder: Path) -> None:
    odd = msgspec.structs.replace(_reading(told), work_unit="rows")
    (folder / f"reading-{told.rank}.json").write_bytes(msgspec.json.encode(odd))


def _negative_clock(told: Order, folder: Path) -> None:
    sound = _reading(told)
    odd = msgspec.structs.replace(
        sound, window_start_ns=sound.window_end_ns, window_end_ns=sound.window_start_ns
    )
    (folder / f"reading-{told.rank}.json").write_bytes(msgspec.json.encode(odd))


def _negative_step(told: Order, folder: Path) -> None:
    odd = msgspec.structs.replace(_reading(told), step_ns=(1000,) * 9 + (-1,))
    (folder / f"reading-{told.rank}.json").write_bytes(msgspec.json.encode(odd))


def _negative_work(told: Order, folder: Path) -> None:
    _leave(told, folder, work=-10)


# What is printed, and where


def _floods_its_log(told: Order, folder: Path) -> None:
    for _ in range(400):
        os.write(1, b"the same line again and again\n" * 2000)
    raise ValueError("after much talk")


def _prints_no_text(told: Order, folder: Path) -> None:
    os.write(1, b"\xff\xfe\x00\x80 no text\n")
    raise ValueError("after bytes that are no text")


def _closes_its_mouth(told: Order, folder: Path) -> None:
    sys.stdout.close()
    sys.stderr.close()
    os.close(1)
    os.close(2)
    raise ValueError("said without a mouth")


def _replaces_its_mouth(told: Order, folder: Path) -> None:
    sys.stdout = sys.stderr = None
    raise ValueError("said with no stream")


def _deletes_its_folder(told: Order, folder: Path) -> None:
    shutil.rmtree(folder)
    raise ValueError("nowhere to say it")


def _leaves_its_folder(told: Order, folder: Path) -> None:
    os.chdir("/")
    raise ValueError("said from elsewhere")


# What is started and left


def _daemon(told: Order, folder: Path) -> None:
    """Fork twice, as daemons do: the process belongs to nobody that is known any more."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(300)
        os._exit(0)
    os.wait()
    _leave(told, folder)


def _child_in_its_own_session(told: Order, folder: Path) -> None:
    if os.fork() == 0:
        os.setsid()
        time.sleep(300)
        os._exit(0)
    os._exit(9)


def _child_with_a_port(told: Order, folder: Path) -> None:
    if os.fork() == 0:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            time.sleep(300)
        os._exit(0)
    os.kill(os.getpid(), signal.SIGKILL)


def _child_with_shared_memory(told: Order, folder: Path) -> None:
    ready, say = os.pipe()
    if os.fork() == 0:
        held = shared_memory.SharedMemory(create=True, size=4096)
        held.buf[0] = 1
        os.write(say, b"x")
        time.sleep(300)
        os._exit(0)
    os.read(ready, 1)
    os.kill(os.getpid(), signal.SIGKILL)


def _child_that_ignores(told: Order, folder: Path) -> None:
    subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"])
    _hang(told, folder)


def _raises_with_a_child(told: Order, folder: Path) -> None:
    _grandchild(told, folder, own_session=True)
    raise ValueError("and a child stays")


# Standing still


def _stopped(told: Order, folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def _silent(told: Order, folder: Path) -> None:
    """Three steps of the window, then never another."""
    heart = Heart(folder, told.rank)
    heart.expect(1e6)
    heart.enter(WINDOW)
    for done in range(1, 4):
        heart.words[1] = done
        time.sleep(0.01)
    _hang(told, folder)


def _silent_and_stubborn(told: Order, folder: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _silent(told, folder)


def _waits_at_the_barrier(told: Order, folder: Path) -> None:
    """A healthy rank that comes to the barrier and waits there, as long as its order says."""
    FileGroup(told).barrier()
    _leave(told, folder)


def _runs_ahead(told: Order, folder: Path) -> None:
    """Queue all steps at once and wait for the device in one go, as a GPU's host does: no fault at all."""
    heart = Heart(folder, told.rank)
    heart.expect(3e9)
    heart.enter(WINDOW)
    heart.words[1] = 10
    time.sleep(2.0)
    heart.enter(3)
    _leave(told, folder)


def _slow_to_end(told: Order, folder: Path) -> None:
    _leave(told, folder)
    time.sleep(0.8)


# Meeting


def _dies_before_joining(told: Order, folder: Path) -> None:
    os._exit(11)


def _dies_at_the_barrier(told: Order, folder: Path) -> None:
    FileGroup(told).barrier()
    os.kill(os.getpid(), signal.SIGKILL)


def _meets_twice(told: Order, folder: Path) -> int:
    """Come to both meetings, and be the echo of whoever does not come to the second."""
    group = FileGroup(told)
    group.barrier()
    try:
        group.max(1.0)
    except (ConnectionError, TimeoutError) as error:
        _error(told, folder, "raised", str(error), secondary=True)
        return 1
    _leave(told, folder)
    return 0


def _raises_in_the_reduction(told: Order, folder: Path) -> int:
    group = FileGroup(told)
    group.barrier()
    _error(told, folder, "raised", "RuntimeError: no sum today")
    return 1


def _port_is_taken(told: Order, folder: Path) -> int:
    _error(told, folder, "launch", "The ranks could not meet: EADDRINUSE")
    return 4


def _port_is_taken_once(told: Order, folder: Path) -> int:
    mark = folder.parent.parent / "was-here"
    if mark.exists():
        _leave(told, folder)
        return 0
    mark.touch()
    return _port_is_taken(told, folder)


def _kills_its_server_once(told: Order, folder: Path) -> None:
    mark = folder.parent.parent / "was-here"
    if mark.exists():
        _leave(told, folder)
        return
    mark.touch()
    os.kill(os.getppid(), signal.SIGKILL)
    _hang(told, folder)


# Two at once


def _crashes_a_moment_later(told: Order, folder: Path) -> None:
    time.sleep(0.25)
    os.kill(os.getpid(), signal.SIGSEGV)


def _raises_first(told: Order, folder: Path) -> int:
    _error(told, folder, "raised", "ValueError: the first of two")
    return 1


# Memory and environment


def _address_space(told: Order, folder: Path) -> None:
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + (64 << 20),) * 2)
    bytearray(1 << 30)


def _is_poisoned(told: Order, folder: Path) -> None:
    found = {name: os.environ[name] for name in POISON if os.environ.get(name, "3") != "3"}
    if found:
        raise ValueError(f"inherited: {found}")
    _leave(told, folder)


def _reporting_fails(told: Order, folder: Path) -> None:
    """The error file cannot be written: a folder stands in its place."""
    with contextlib.suppress(FileExistsError):
        (folder / f"error-{told.rank}.part").mkdir()
    sys.stderr = io.StringIO()
    raise ValueError("cannot be told")


DOES = {
    **fake_worker.DOES,
    **{
        what.__name__.removeprefix("_"): what
        for what in (
            _sigbus, _sigabrt, _sigill, _sigfpe, _sigterm, _sys_exit_with_words, _sys_exit_without_a_code,
            _ends_at_once, _keyboard_interrupt, _recursion, _mute, _unpicklable, _foreign, _half_a_character,
            _many_words, _names_a_home, _wrong_type, _oversized, _too_deep, _pipe, _folder_for_a_reading,
            _link_to_nowhere_near, _empty_reading, _torn_error, _error_of_no_kind, _error_of_another,
            _pipe_for_a_heart, _no_steps, _other_units, _negative_clock, _negative_step, _negative_work,
            _floods_its_log, _prints_no_text, _closes_its_mouth, _replaces_its_mouth, _deletes_its_folder,
            _leaves_its_folder, _daemon, _child_in_its_own_session, _child_with_a_port,
            _child_with_shared_memory, _child_that_ignores, _raises_with_a_child, _stopped, _silent,
            _silent_and_stubborn, _waits_at_the_barrier, _runs_ahead, _slow_to_end, _dies_before_joining,
            _dies_at_the_barrier, _meets_twice, _raises_in_the_reduction, _port_is_taken, _port_is_taken_once,
            _kills_its_server_once, _crashes_a_moment_later, _raises_first, _address_space, _is_poisoned,
            _reporting_fails,
        )
    },
}  # fmt: skip
