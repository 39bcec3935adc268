"""The timing loop against a clock that only fake steps move."""

from itertools import repeat

import pytest

from study.domain.heartbeat import CHECKS, OPENING, WINDOW, beat_file, read_beat
from study.worker.heartbeat import Heart
from study.worker.timing import measure, pace_ns, step_ns


def test_throughput_of_a_known_load_is_exact(fake_machine, fake_job):
    """100 steps of 0.1 s at a batch of 2 on each of 2 ranks are 40 per second, from work and window."""
    windows, work = [], 0
    for _ in range(2):
        machine = fake_machine()
        job = fake_job(machine, repeat(0.1), work_per_step=2)
        windows.append(measure(job, 100, machine, machine, clock=machine.clock))
        work += 100 * job.work_per_step

    wall_ns = max(w.end_ns for w in windows) - min(w.start_ns for w in windows)

    assert work * 1e9 / wall_ns == 40.0


def test_the_device_is_waited_for_at_the_ends_alone(fake_machine, fake_job):
    """Barrier, synchronise, clock; steps and marks in turn; synchronise, clock, barrier."""
    machine = fake_machine()

    measure(fake_job(machine, repeat(0.1)), 3, machine, machine, clock=machine.clock)

    opening = ["begin", "barrier", "synchronise", "clock", "mark"]
    assert machine.log == [*opening, *["step", "mark"] * 3, "synchronise", "clock", "barrier"]


def test_step_times_are_told_one_by_one_and_fill_the_window(fake_machine, fake_job):
    """Each step has its own time, the first from the opening of the window, and notes are kept in order."""
    machine = fake_machine()
    window = measure(fake_job(machine, [0.3, 0.1, 0.2]), 3, machine, machine, clock=machine.clock)

    times = step_ns(window, machine)

    assert times == (300_000_000, 100_000_000, 200_000_000)
    assert sum(times) == window.end_ns - window.start_ns
    assert window.notes == [1, 2, 3]


def test_processor_time_is_of_the_window_alone(fake_machine, fake_job):
    """The processor's clock is read at both ends and told as a difference."""
    machine = fake_machine()
    readings = iter([5_000, 12_000])

    window = measure(fake_job(machine, repeat(0.1)), 2, machine, machine, cpu_clock=lambda: next(readings))

    assert window.cpu_ns == 7_000


def test_the_heart_beats_in_the_window_alone(fake_machine, fake_job, tmp_path):
    """Every step is told when it ends; before the opening barrier and at the closing one nothing beats."""
    machine, heart, seen = fake_machine(), Heart(tmp_path, 0), []
    job = fake_job(machine, repeat(0.1))
    step, barrier = job.step, machine.barrier

    def look() -> None:
        seen.append(tuple(read_beat(beat_file(tmp_path, 0).read_bytes()))[:2])

    job.step = lambda: (look(), step())
    machine.barrier = lambda: (look(), barrier())
    measure(job, 3, machine, machine, clock=machine.clock, heart=heart)

    assert seen == [(OPENING, 0), (WINDOW, 0), (WINDOW, 1), (WINDOW, 2), (CHECKS, 0)]


def test_pace_leaves_start_up_behind():
    """The pace is the median of the later half, so that slow first steps do not count."""
    assert pace_ns((9_000, 8_000, 100, 102, 104)) == 102
    assert pace_ns((50,)) == 50
    assert pace_ns((9_000, 10, 20)) == pytest.approx(15)
