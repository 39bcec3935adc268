"""Warm-up by steps and by time, and the length of the window, agreed between ranks."""

from itertools import chain, repeat

import pytest

from study.domain.study import Protocol
from study.worker.warmup import WarmUp, warm_up, window_steps


def test_warm_up_takes_the_steps_if_they_last_long_enough(fake_machine, fake_job):
    """Five steps of 0.1 s satisfy five steps and 0.4 s."""
    machine = fake_machine()

    warm = warm_up(fake_job(machine, repeat(0.1)), Protocol(warmup_steps=5, warmup_s=0.4), machine, machine)

    assert warm.step_ns == (100_000_000,) * 5
    assert warm.first == 1


def test_warm_up_goes_on_until_its_seconds_are_over(fake_machine, fake_job):
    """Steps of 0.1 s go on past the second five until 2 s are over, and no further."""
    machine = fake_machine()

    warm = warm_up(fake_job(machine, repeat(0.1)), Protocol(warmup_steps=5, warmup_s=2.0), machine, machine)

    assert len(warm.step_ns) == 20


def test_a_quick_first_step_cannot_make_warm_up_endless(fake_machine, fake_job):
    """A first step of a nanosecond asks for millions more, and gets no more than doubling."""
    machine = fake_machine()
    job = fake_job(machine, chain([1e-9], repeat(0.1)))

    warm = warm_up(job, Protocol(warmup_steps=1, warmup_s=0.4), machine, machine)

    assert len(warm.step_ns) <= 8


def test_a_rank_that_is_done_goes_on_with_one_that_is_not(fake_machine, fake_job):
    """What another rank still needs is done by all, or they would wait for each other for ever."""
    machine = fake_machine(answers=[3, 0])

    warm = warm_up(fake_job(machine, repeat(0.1)), Protocol(warmup_steps=5, warmup_s=0.0), machine, machine)

    assert len(warm.step_ns) == 8


@pytest.mark.parametrize(
    ("protocol", "slowest_ns", "steps"),
    [
        (Protocol(window_s=1.0, min_steps=2), 0.0, 10),
        (Protocol(window_s=1.0, min_steps=2), 300_000_000.0, 4),
        (Protocol(window_s=1.0, min_steps=25), 0.0, 25),
        (Protocol(window_s=1.0, min_steps=25, window_steps=3), 0.0, 3),
    ],
    ids=["own pace", "a slower rank's", "at least", "as told"],
)
def test_window_is_as_long_as_the_study_says(fake_machine, protocol, slowest_ns, steps):
    """A window fills its seconds at the slowest rank's pace, has its least steps, or those it was told."""
    machine = fake_machine(answers=[slowest_ns])

    assert window_steps(protocol, WarmUp(step_ns=(100_000_000,) * 4, first=None), machine) == steps
