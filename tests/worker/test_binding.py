"""A rank is bound before anything else, all its threads with it, and what came of that is read back."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from study.worker import binding
from study.worker.switches import switches

affinity = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="affinities are Linux's")


@affinity
def test_a_bound_process_takes_its_threads_along():
    """One thread before and one after: both may run on the one CPU only, and this is read back."""
    code = (
        "import os, threading\n"
        "from study.worker.binding import bind, bound\n"
        "stop = threading.Event()\n"
        "threading.Thread(target=stop.wait, daemon=True).start()\n"
        "one = min(os.sched_getaffinity(0))\n"
        "assert bind([one]) == ''\n"
        "threading.Thread(target=stop.wait, daemon=True).start()\n"
        "assert bound() == ((one,), ''), bound()\n"
        "stop.set()\n"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@affinity
def test_a_cpu_that_is_not_there_is_refused_with_the_reason():
    """The rank goes on unbound, and says why."""
    before = os.sched_getaffinity(0)

    assert binding.bind([4000]).startswith("the system refused to bind the process (")
    assert os.sched_getaffinity(0) == before


def test_a_system_without_affinities_says_so(monkeypatch):
    """As on macOS and Windows."""
    monkeypatch.delattr("os.sched_setaffinity", raising=False)
    monkeypatch.delattr("os.sched_getaffinity", raising=False)

    assert binding.bind([0]) == "this system cannot bind a process to processors"
    assert binding.bound()[0] is None


@affinity
def test_a_thread_that_ends_meanwhile_is_no_error(monkeypatch):
    """Of two threads one is gone when it is asked; a refusal is a reason."""
    monkeypatch.setattr(binding, "_threads", lambda: [2**22 - 7, threading.get_native_id()])
    found, why = binding.bound()

    def refuse(_):
        raise PermissionError(1, "not allowed")

    monkeypatch.setattr("os.sched_getaffinity", refuse)

    assert found
    assert why == ""
    assert binding.bound() == (None, "the system did not tell on which processors it may run (not allowed)")


def test_nodes_are_those_of_the_cpus(tmp_path: Path):
    """CPUs 1 and 5 lie on nodes 0 and 2; a CPU on no node makes them unknown."""
    for node, cpu in ((0, 1), (2, 5), (2, 6)):
        (tmp_path / f"node{node}/cpu{cpu}").mkdir(parents=True)

    assert binding.nodes_of([1, 5, 6], tmp_path) == ((0, 2), "")
    assert binding.nodes_of([1, 7], tmp_path)[0] is None
    assert binding.nodes_of([], tmp_path)[0] is None


def test_without_proc_the_calling_thread_is_asked(monkeypatch, tmp_path: Path):
    """Zero is the calling thread's own number."""
    monkeypatch.setattr(binding, "TASKS", tmp_path / "none")

    assert binding._threads() == [0]


@affinity
def test_a_rank_is_bound_where_its_order_says(launch):
    """A real rank reads back the CPU that it was given; one that is not there leaves it free."""
    one = min(os.sched_getaffinity(0))
    (bound,) = launch("sleep", "check", size="amdahl", step_ms=1.0, serial_share=0.5, jitter=0.0, cpus=(one,))
    (free,) = launch("sleep", "check", size="amdahl", step_ms=1.0, serial_share=0.5, jitter=0.0, cpus=(4000,))

    assert (bound.reading.cpus, bound.reading.pinned, bound.reading.not_pinned) == ((one,), True, "")
    assert (free.reading.pinned, "refused" in free.reading.not_pinned) == (False, True)


def test_switches_of_libraries_are_recorded_and_nothing_else():
    """No folder, no name, no serial number; a preloaded library is told without its path."""
    environ = {
        "HOME": "/h", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "GPU-1",
        "TORCHINDUCTOR_CACHE_DIR": "/c", "LD_PRELOAD": "/x.so", "PYTHONHASHSEED": "0",
        "MALLOC_ARENA_MAX": "2", "PATH": "/bin",
    }  # fmt: skip

    assert switches(environ) == {
        "LD_PRELOAD": "set",
        "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
    }
