"""The accelerator `cpu`: every rank is a process with its share of the cores, ranks talk through gloo.

Operations end before they return, so the host's clock is the device's clock.
"""

import os
import platform
import re
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from study.domain.record import Numerics

FACTS = {
    "summary": "The machine's own cores; ranks talk through gloo.",
    "backend": "gloo",
    "precisions": ("fp32", "bf16"),
    "startup_s": 0.15,
}

STATUS = Path("/proc/self/status")
CLEAR_REFS = Path("/proc/self/clear_refs")


def open_device(local_rank: int, threads: int, precision: str) -> Any:  # noqa: ARG001 - the shelf's contract
    """The CPU as a torch device with `threads` threads per operation; None where torch is not loaded."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    return torch.device("cpu")


def device_name() -> str:
    """The processor's model name as the kernel tells it, else its architecture."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.machine()


def threads() -> int | None:
    """Threads per operation as torch reports them."""
    torch = sys.modules.get("torch")
    return None if torch is None else torch.get_num_threads()


mark = time.perf_counter_ns


def elapsed_ns(earlier: int, later: int) -> int:
    """Nanoseconds between two marks."""
    return later - earlier


def synchronise() -> None:
    """Nothing is pending on a CPU."""


def reset_peak_memory() -> str:
    """Begin a new peak of resident memory; returns why that is not possible here, or "".

    Writing 5 to clear_refs resets VmHWM (proc_pid_clear_refs(5)). `ru_maxrss` is no substitute: a
    process inherits it from whoever executed it.
    """
    try:
        CLEAR_REFS.write_text("5")
        peak_memory_bytes()
    except OSError as error:
        return f"the peak of resident memory cannot be reset here ({error.strerror})"
    except LookupError as error:
        return str(error)
    return ""


def peak_memory_bytes() -> int:
    """The largest resident size since the reset (VmHWM), the interpreter and its libraries included.

    Raises:
        LookupError: this kernel does not tell it.
    """
    found = re.search(r"^VmHWM:\s*(\d+) kB$", STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise LookupError("this kernel does not tell the peak of resident memory (VmHWM)")
    return int(found.group(1)) * 1024


def autocast(precision: str) -> AbstractContextManager[Any]:
    """bf16 by autocast; fp32 plain."""
    if precision == "fp32":
        return nullcontext()
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16)


def numerics() -> Numerics:
    """The rounding switches: a CPU has none of CUDA's."""
    torch = sys.modules.get("torch")
    absent = "a switch of CUDA devices"
    return Numerics(
        matmul_tf32=None,
        convolution_tf32=None,
        reduced_precision_accumulation=None,
        deterministic=torch is not None and torch.are_deterministic_algorithms_enabled(),
        unknown={
            "matmul_tf32": absent,
            "convolution_tf32": absent,
            "reduced_precision_accumulation": absent,
        },
    )


def visible_devices() -> tuple[str, ...]:
    """One entry for each logical CPU that this process may use: as many ranks of one thread fit."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return (device_name(),) * usable


SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "x86_pkg_temp", "soc_thermal")
"""Names under which kernels show the sensor of a processor: Intel's, AMD's (2), boards' thermal zones."""


def temperature_c() -> tuple[float | None, str]:
    """The hottest sensor of the processors; virtual machines seldom have one."""
    try:
        import psutil

        chips: dict[str, Any] = psutil.sensors_temperatures()
    except Exception as error:  # no psutil, no such function on this system, a sensor that cannot be read
        return None, f"the sensors of this system cannot be read ({type(error).__name__})"
    degrees = [one.current for name in SENSORS for one in chips.get(name, ()) if one.current > 0]
    return (max(degrees), "") if degrees else (None, "the system shows no sensor of the processor")
