"""A worker without torch, started as real processes: does as the cell's options say, also the worst.

`do` is what rank `at` does; the other ranks do `others` (`measure` unless said).
"""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from study.domain.record import Numerics, RankError, Reading
from study.domain.trial import Order


def serve(order: bytes) -> int:
    """The entry: what the worker's own keeps, this keeps, until it is told otherwise."""
    told = msgspec.json.decode(order, type=Order)
    options = told.cell.options
    mine = told.rank == options.get("at", 0)
    what = str(options.get("do", "measure") if mine else options.get("others", "measure"))
    folder = Path(told.folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    (folder / f"pid-rank-{told.rank}").write_text(str(os.getpid()))
    print(f"rank {told.rank} does {what}")
    return DOES[what](told, folder) or 0


def _reading(told: Order, *, steps: int = 10, work: int | None = None) -> Reading:
    now = time.perf_counter_ns()
    return Reading(
        rank=told.rank,
        device="cpu",
        threads=1,
        start_method="forkserver",
        window_start_ns=now - steps * 1000,
        window_end_ns=now,
        warmup_step_ns=(1000,),
        step_ns=(1000,) * steps,
        work=steps * told.cell.batch // told.world_size if work is None else work,
        work_unit="items",
        loss_first=None,
        loss=(),
        first_token_ns=(),
        token_ns=(),
        parameters=None,
        peak_memory_bytes=None,
        cpu_ns=1,
        numerics=Numerics(
            matmul_tf32=None, convolution_tf32=None, reduced_precision_accumulation=None, deterministic=True
        ),
    )


def _leave(told: Order, folder: Path, **differently: int) -> None:
    (folder / f"reading-{told.rank}.json").write_bytes(msgspec.json.encode(_reading(told, **differently)))


def _error(told: Order, folder: Path, kind: str, message: str, *, secondary: bool = False) -> None:
    fact = {
        "rank": told.rank, "time_ns": time.perf_counter_ns(), "kind": kind,
        "secondary": secondary, "message": message, "trace": (),
    }  # fmt: skip
    path = folder / f"error-{told.rank}.json"
    path.write_bytes(msgspec.json.encode(msgspec.convert(fact, RankError)))


def _measure(told: Order, folder: Path) -> None:
    _leave(told, folder)


def _few_steps(told: Order, folder: Path) -> None:
    _leave(told, folder, steps=9)


def _wrong_work(told: Order, folder: Path) -> None:
    _leave(told, folder, work=10 * told.cell.batch // told.world_size + 1)


def _garbage(told: Order, folder: Path) -> None:
    (folder / f"reading-{told.rank}.json").write_text('{"rank": 0, "device"')


def _not_a_number(told: Order, folder: Path) -> None:
    text = msgspec.json.encode(_reading(told)).decode().replace('"loss":[]', '"loss":[NaN]')
    (folder / f"reading-{told.rank}.json").write_text(text)


def _another_rank(told: Order, folder: Path) -> None:
    wrong = msgspec.structs.replace(_reading(told), rank=told.rank + 1)
    (folder / f"reading-{told.rank}.json").write_bytes(msgspec.json.encode(wrong))


def _nothing(told: Order, folder: Path) -> None:
    """End normally without a word."""


def _raises(told: Order, folder: Path) -> None:
    raise ValueError("the width must be even")


def _memory_error(told: Order, folder: Path) -> None:
    raise MemoryError("no room for 3 GB")


def _out_of_memory(told: Order, folder: Path) -> int:
    _error(told, folder, "out_of_memory", "RuntimeError: can't allocate memory: 8 GB")
    return 2


def _invalid(told: Order, folder: Path) -> int:
    _error(told, folder, "invalid", "The loss is not a number.")
    return 3


def _raises_late(told: Order, folder: Path) -> int:
    """Fail after the others have noticed that this rank is failing, as a slow traceback does."""
    time.sleep(0.2)
    _error(told, folder, "raised", "ValueError: the true cause")
    return 1


def _says_and_hangs(told: Order, folder: Path) -> None:
    _error(told, folder, "raised", "ValueError: said before hanging")
    _hang(told, folder)


def _echo(told: Order, folder: Path) -> int:
    _error(told, folder, "raised", "Connection closed by peer", secondary=True)
    return 1


def _killed(told: Order, folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _sys_exit(told: Order, folder: Path) -> None:
    sys.exit(3)


def _os_exit(told: Order, folder: Path) -> None:
    os._exit(7)


def _os_exit_255(told: Order, folder: Path) -> None:
    os._exit(255)


def _segfault(told: Order, folder: Path) -> None:
    ctypes.string_at(0)


def _hang(told: Order, folder: Path) -> None:
    (folder / f"hangs-{told.rank}").touch()
    while True:
        time.sleep(60)


def _stubborn(told: Order, folder: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _hang(told, folder)


def _grandchild(told: Order, folder: Path, *, own_session: bool = False) -> None:
    child = subprocess.Popen(["sleep", "300"], start_new_session=own_session)
    (folder / f"pid-grandchild-{told.rank}").write_text(str(child.pid))


def _leaves_grandchild(told: Order, folder: Path) -> None:
    _grandchild(told, folder)
    _leave(told, folder)


def _leaves_daemon(told: Order, folder: Path) -> None:
    _grandchild(told, folder, own_session=True)
    _leave(told, folder)


def _hangs_with_grandchildren(told: Order, folder: Path) -> None:
    _grandchild(told, folder)
    again = subprocess.Popen(["sleep", "300"], start_new_session=True)
    (folder / f"pid-daemon-{told.rank}").write_text(str(again.pid))
    _hang(told, folder)


def _kills_its_server(told: Order, folder: Path) -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    _hang(told, folder)


def _shows_itself(told: Order, folder: Path) -> None:
    shown = {
        "environment": dict(os.environ),
        "session_leader": os.getsid(0) == os.getpid(),
        "folder": str(Path.cwd()),
        "main": getattr(sys.modules["__main__"], "__file__", None),
        "torch": "torch" in sys.modules,
        "order": msgspec.to_builtins(told),
    }
    (folder / f"shown-{told.rank}.json").write_text(json.dumps(shown))
    _leave(told, folder)


def _prints(told: Order, folder: Path) -> None:
    print("\x1b[31mred\x1b[0m plain")
    subprocess.run(["echo", "from a child process"], check=True)
    sys.stderr.write("HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz\n")
    _leave(told, folder)


def _computes(told: Order, folder: Path) -> None:
    until = time.process_time() + 0.5
    while time.process_time() < until:
        pass
    _leave(told, folder)


DOES = {
    what.__name__.removeprefix("_"): what
    for what in (
        _measure, _few_steps, _wrong_work, _garbage, _not_a_number, _another_rank, _nothing, _raises,
        _memory_error, _out_of_memory, _invalid, _raises_late, _says_and_hangs, _echo, _killed, _sys_exit,
        _os_exit, _os_exit_255, _segfault, _hang, _stubborn, _leaves_grandchild, _leaves_daemon,
        _hangs_with_grandchildren, _kills_its_server, _shows_itself, _prints, _computes,
    )
}  # fmt: skip


def describe() -> bytes:
    """Worker facts of a machine with two GPUs; something is printed, as libraries do."""
    print("a warning of some library")
    return json.dumps(
        {
            "torch": "2.9.1", "torch_git": None, "cuda": "12.8", "cudnn": "91002", "nccl": "2.27.5",
            "devices": {"cpu": ["a CPU"], "cuda": ["NVIDIA H200", "NVIDIA H200"]}, "cpu_capability": "AVX2",
            "unknown": {"torch_git": "a test"},
        }
    ).encode()  # fmt: skip


def describe_without_torch() -> bytes:
    """The probe where torch is not installed."""
    raise ModuleNotFoundError("No module named 'torch'")


def describe_in_riddles() -> bytes:
    """The probe of another version of this program."""
    return b'{"torch": 2}'


def describe_never() -> bytes:
    """The probe where a device hangs."""
    child = subprocess.Popen(["sleep", "300"])
    Path(os.environ["HOME"], "pid-grandchild").write_text(str(child.pid))
    while True:
        time.sleep(60)
