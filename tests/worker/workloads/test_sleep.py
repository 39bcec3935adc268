"""The instrument check: its schedule against Amdahl's law, on a clock of its own."""

import math
from statistics import fmean, stdev

import pytest

from study.worker.workloads.sleep import Sleeping, step_duration_ns, trial_factor


class Clock:
    """A clock that ticks a microsecond each time it is read, and sleeps a set time too long."""

    def __init__(self, late_ns: int = 0) -> None:
        """`late_ns` is added to every sleep."""
        self.now_ns = 5_000_000_000
        self.late_ns = late_ns

    def __call__(self) -> int:
        self.now_ns += 1_000
        return self.now_ns

    def sleep(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9) + self.late_ns


def ends_of(clock: Clock, step_ns: float, steps: int) -> list[int]:
    """When each step of a fresh window ends, from its first reading of the clock."""
    job = Sleeping(step_ns=step_ns, work_per_step=1, clock=clock, sleep=clock.sleep)
    job.begin()
    start_ns = clock.now_ns
    ends = []
    for _ in range(steps):
        job.step()
        ends.append(clock.now_ns - start_ns)
    return ends


@pytest.mark.parametrize(("devices", "speedup"), [(1, 1.0), (2, 1.8181818), (4, 3.0769231), (8, 4.7058824)])
def test_true_speedup_is_amdahls(devices, speedup):
    """With a serial share of a tenth the speed-ups are the published table's: 1.82, 3.08, 4.71."""
    one, many = step_duration_ns(20.0, 0.1, 1), step_duration_ns(20.0, 0.1, devices)

    assert one == pytest.approx(20_000_000)
    assert one / many == pytest.approx(speedup, rel=1e-7)


def test_all_serial_never_speeds_up():
    """A serial share of one leaves a step as it was, one of nothing divides it."""
    assert step_duration_ns(20.0, 1.0, 8) == 20_000_000
    assert step_duration_ns(20.0, 0.0, 8) == 2_500_000


@pytest.mark.parametrize("late_ns", [0, 100_000, 2_000_000])
def test_lateness_does_not_add_up(late_ns):
    """However late each sleep wakes, a hundred steps end within one lateness of their due time."""
    ends = ends_of(Clock(late_ns), 11_000_000.5, 100)

    assert 0 <= ends[-1] - 100 * 11_000_000.5 <= late_ns + 10_000
    assert ends[-1] / (100 * 11_000_000.5) - 1 < 0.002


def test_each_step_ends_when_it_is_due():
    """The short final spin makes up for a sleep that wakes 0.1 ms late."""
    ends = ends_of(Clock(100_000), 11_000_000, 20)

    for step, end in enumerate(ends, 1):
        assert 0 <= end - step * 11_000_000 <= 5_000


def test_a_new_window_starts_a_new_chain():
    """Time between two windows, such as a barrier, is not made up for."""
    clock = Clock()
    job = Sleeping(step_ns=1_000_000, work_per_step=1, clock=clock, sleep=clock.sleep)
    job.step()
    clock.now_ns += 50_000_000
    job.begin()
    start_ns = clock.now_ns

    job.step()

    assert clock.now_ns - start_ns == pytest.approx(1_000_000, abs=5_000)


def test_jitter_is_a_known_noise_on_the_trial():
    """Logs of the factors of many trials have mean zero and the jitter as standard deviation."""
    logs = [math.log(trial_factor(seed, 0.01)) for seed in range(4000)]

    # Standard errors at n = 4000: 0.01/sqrt(n) = 0.00016, and 0.01/sqrt(2n) = 0.00011 of the deviation.
    assert fmean(logs) == pytest.approx(0.0, abs=0.0006)
    assert stdev(logs) == pytest.approx(0.01, abs=0.0005)


def test_no_jitter_is_no_noise():
    """Without jitter every trial is the same, and a seed gives the same factor each time."""
    assert {trial_factor(seed, 0.0) for seed in range(9)} == {1.0}
    assert trial_factor(7, 0.02) == trial_factor(7, 0.02) != trial_factor(8, 0.02)
