"""Preheating: until the temperature is level, for a limited time, on all ranks together."""

from itertools import repeat

import pytest

from study.domain.record import Preheat
from study.domain.study import Protocol
from study.worker.heat import is_level, preheat, slope_c_per_min


def heated(fake_machine, fake_job, degrees, *, answers=(), seconds=300.0):
    """Preheat with a sensor that tells `degrees(t)` after t seconds of work; and how many steps it took."""
    machine = fake_machine(answers=answers)
    began = machine.now_ns
    job = fake_job(machine, repeat(0.1))

    def now():
        return (machine.now_ns - began) / 1e9

    def read():
        found = degrees(now())
        return (found, "") if found is not None else (None, "no sensor")

    protocol = Protocol(preheat_s=seconds, preheat_slope_c_per_min=1.0)
    found, last = preheat(job, protocol, machine, machine, pace_ns=1e8, read=read, clock=now)
    return found, last, job.steps


def test_off_is_off(fake_machine, fake_job):
    """A study that asks for none gets none: no step, no question to the sensor or to other ranks."""
    found, last, steps = heated(fake_machine, fake_job, lambda _: 1 / 0, seconds=0.0)

    assert (found, last, steps) == (Preheat(seconds=0.0, ended="off"), (), 0)


def test_a_device_that_is_level_waits_the_least_time(fake_machine, fake_job):
    """A slope needs ten seconds to be seen; the last round's steps are handed on."""
    found, last, _ = heated(fake_machine, fake_job, lambda _: 60.0)

    assert found == Preheat(seconds=10.0, ended="level")
    assert last == (100_000_000,) * 10


def test_a_rising_temperature_is_waited_for(fake_machine, fake_job):
    """It rises by 6 °C a minute for a minute: then a whole minute of the fit has to be nearly flat."""
    found, _, _ = heated(fake_machine, fake_job, lambda t: 40.0 + min(t, 60.0) / 10)

    assert found.ended == "level"
    assert 100 < found.seconds < 120


def test_cooling_is_waited_for_too(fake_machine, fake_job):
    """A load that cools its device down is not level either."""
    found, _, _ = heated(fake_machine, fake_job, lambda t: 80.0 - t / 10, seconds=20.0)

    assert found == Preheat(seconds=20.0, ended="limit")


def test_it_ends_at_the_limit(fake_machine, fake_job):
    """Two and a half seconds are not enough for a slope, and no step more is done."""
    found, _, steps = heated(fake_machine, fake_job, lambda _: 60.0, seconds=2.5)

    assert (found, steps) == (Preheat(seconds=2.5, ended="limit"), 25)


def test_without_a_sensor_it_does_not_wait(fake_machine, fake_job):
    """Nor with one that stops telling."""
    assert heated(fake_machine, fake_job, lambda _: None)[0] == Preheat(seconds=0.0, ended="no_sensor")
    lost, _, _ = heated(fake_machine, fake_job, lambda t: 60.0 if t < 5 else None)
    assert lost == Preheat(seconds=5.0, ended="no_sensor")


def test_a_rank_goes_on_with_one_that_is_not_level(fake_machine, fake_job):
    """Without a sensor it does the steps that another rank asks for, and says that it cannot tell."""
    found, _, steps = heated(fake_machine, fake_job, lambda _: None, answers=[7, 7, 0])

    assert (found, steps) == (Preheat(seconds=1.4, ended="no_sensor"), 14)


@pytest.mark.parametrize(
    ("seen", "level"),
    [
        ([], False),
        ([(0.0, 50.0)], False),
        ([(0.0, 50.0), (9.0, 50.0)], False),
        ([(0.0, 50.0), (10.0, 50.0)], True),
        ([(0.0, 50.0), (10.0, 50.2)], False),
        ([(0.0, 20.0), (70.0, 50.0), (90.0, 50.0), (129.0, 50.0)], True),  # the first is too long ago
    ],
)
def test_level_is_judged_over_the_last_minute(seen, level):
    """Ten seconds at least, sixty at most."""
    assert is_level(seen, 1.0) is level


def test_the_slope_is_that_of_least_squares():
    """A line is found again; of three points the middle one changes nothing."""
    line = [(float(t), 40.0 + t / 30) for t in range(60)]

    assert slope_c_per_min(line) == pytest.approx(2.0)
    assert slope_c_per_min([(0.0, 1.0), (1.0, 3.0), (2.0, 2.0)]) == pytest.approx(30.0)
