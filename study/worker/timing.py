"""The one timing loop: fixed work between two barriers, step ends marked on the device.

    barrier, synchronise, host clock, N × (step, mark), synchronise, host clock, barrier

Nothing in between waits for the device: a synchronise per step would remove the host's run-ahead
and the overlap of communication with computation, and so change what is measured. A host timer
without the marks would time launches. Marks are turned into nanoseconds after the window.
What the loop does beside is one store into mapped memory a step, by which the lab sees that it goes on.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from statistics import median
from typing import Any, Protocol

from study.domain.heartbeat import CHECKS, STEPS, WINDOW, WORDS
from study.worker.contracts import Job, Mark, Window
from study.worker.heartbeat import Heart


class Marker(Protocol):
    """The part of an accelerator that the loop needs."""

    def mark(self) -> Mark: ...
    def elapsed_ns(self, earlier: Mark, later: Mark) -> int: ...
    def synchronise(self) -> None: ...


class Meeting(Protocol):
    """The part of a group that the loop needs."""

    def barrier(self) -> None: ...


def measure(
    job: Job,
    steps: int,
    accelerator: Marker,
    group: Meeting,
    *,
    heart: Heart | None = None,
    clock: Callable[[], int] = time.perf_counter_ns,
    cpu_clock: Callable[[], int] = time.process_time_ns,
) -> Window:
    """Run `steps` steps of `job` as one window; every rank must ask for the same number.

    `heart` is given for the timed window alone: warm-up has no silence that would mean a hang.
    """
    step, mark = job.step, accelerator.mark
    notes: list[Any] = [None] * steps
    marks: list[Any] = [None] * (steps + 1)
    beats: Any = [0] * WORDS if heart is None else heart.words
    job.begin()
    group.barrier()
    accelerator.synchronise()
    if heart is not None:
        heart.enter(WINDOW)
    cpu_start_ns = cpu_clock()
    start_ns = clock()
    marks[0] = mark()
    for done in range(1, steps + 1):
        notes[done - 1] = step()
        marks[done] = mark()
        beats[STEPS] = done
    accelerator.synchronise()
    end_ns = clock()
    cpu_ns = cpu_clock() - cpu_start_ns
    if heart is not None:
        heart.enter(CHECKS)  # the closing barrier is no step: whoever waits there waits for another
    group.barrier()
    return Window(start_ns=start_ns, end_ns=end_ns, cpu_ns=cpu_ns, marks=marks, notes=notes)


def step_ns(window: Window, accelerator: Marker) -> tuple[int, ...]:
    """Nanoseconds of each step: from the end of the step before it (or the opening mark) to its end."""
    return tuple(accelerator.elapsed_ns(a, b) for a, b in pairwise(window.marks))


def pace_ns(warmup_step_ns: tuple[int, ...]) -> float:
    """This rank's pace: the median of the later half of its warm-up steps, which start-up has left."""
    return float(median(warmup_step_ns[len(warmup_step_ns) // 2 :]))
