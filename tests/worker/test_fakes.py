"""The fakes that other tests stand on do what they say."""

import pytest


def test_a_fake_clock_moves_by_work_and_sleep_alone(fake_machine, fake_job):
    """Reading the clock or marking takes no time; a step takes its duration, a sleep its own."""
    machine = fake_machine()
    job = fake_job(machine, [0.25])
    start = machine.clock()

    machine.mark()
    machine.synchronise()
    assert machine.clock() == start
    assert job.step() == 1
    machine.sleep(0.5)

    assert machine.elapsed_ns(start, machine.clock()) == 750_000_000


def test_a_fake_group_hears_the_slowest_rank(fake_machine):
    """What others bring counts while there are answers; afterwards the rank hears itself."""
    machine = fake_machine(answers=[3.0, 0.0])

    assert [machine.max(1.0), machine.max(1.0), machine.max(1.0)] == [3.0, 1.0, 1.0]


def test_a_fake_job_ends_with_its_durations(fake_machine, fake_job):
    """A step for which no duration was given is an error of the test, not a step of no time."""
    job = fake_job(fake_machine(), [])

    with pytest.raises(StopIteration):
        job.step()
