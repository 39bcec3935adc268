"""What should be over when the window opens: counted, waited for within bounds, and told if it was not."""

from itertools import repeat
from types import SimpleNamespace

import pytest

from study.domain.record import MOST_EXTRA_ROUNDS, CountedEvent
from study.domain.study import Protocol
from study.worker import events
from study.worker.events import counted, happened, look_at
from study.worker.timing import measure
from study.worker.warmup import warm_up

ROUNDS_OF_2 = Protocol(warmup_steps=2, warmup_s=0.0)


class FakeCounter:
    """A counter that rises with certain steps of a job."""

    def __init__(self, job, steps):
        """`steps` are the numbers of the steps, from 1, with which it rises."""
        self._job = job
        self._steps = steps

    def __call__(self):
        return {"growth": sum(step <= self._job.steps for step in self._steps)}


@pytest.mark.parametrize(
    ("at", "steps"),
    [
        ([], 4),  # a first round, and the least of three steps
        ([1], 4),
        ([3], 6),
        ([1, 4, 6, 8], 10),
        ([1, 7], 4),  # the seventh would have come later; nothing can know
    ],
)
def test_warm_up_goes_on_until_a_round_was_quiet(fake_machine, fake_job, at, steps):
    """Rounds of two steps, until one has none of the events."""
    machine = fake_machine()
    job = fake_job(machine, repeat(0.1))

    warm = warm_up(job, ROUNDS_OF_2, machine, machine, look=FakeCounter(job, at))

    assert len(warm.step_ns) == steps


def test_an_endless_event_is_not_waited_for_for_ever(fake_machine, fake_job):
    """A load that compiles in every step opens its window after twenty rounds more."""
    machine = fake_machine()
    job = fake_job(machine, repeat(0.1))

    warm = warm_up(job, ROUNDS_OF_2, machine, machine, look=FakeCounter(job, range(10_000)))

    assert len(warm.step_ns) == 2 * (1 + MOST_EXTRA_ROUNDS)


def test_half_of_the_time_is_left_to_the_window(fake_machine, fake_job):
    """With steps of 1 s and 8 s after the window's own 2 s, no round is begun after 4 s."""
    machine = fake_machine()
    job = fake_job(machine, repeat(1.0))
    protocol = Protocol(warmup_steps=2, warmup_s=0.0, window_s=2.0, time_limit_s=10.0)

    warm = warm_up(job, protocol, machine, machine, look=FakeCounter(job, range(10_000)))

    assert len(warm.step_ns) == 4


def test_a_quiet_rank_goes_on_with_one_that_is_not(fake_machine, fake_job):
    """Another rank asks for two rounds more; to the question about time none asks for any."""
    machine = fake_machine(answers=[0, 1, 0, 1, 0, 0])
    job = fake_job(machine, repeat(0.1))

    warm = warm_up(job, Protocol(warmup_steps=4, warmup_s=0.0), machine, machine, look=FakeCounter(job, []))

    assert len(warm.step_ns) == 12


def test_events_are_counted_before_the_window_and_in_it():
    """Only what happened is told, by name."""
    found = counted({"a": 1, "c": 5}, {"a": 3, "b": 1, "c": 5}, {"a": 3, "b": 2, "c": 5, "d": 4})

    assert found == (
        CountedEvent(name="a", warmup=2, window=0),
        CountedEvent(name="b", warmup=1, window=1),
        CountedEvent(name="d", warmup=0, window=4),
    )
    assert happened({"a": 1}, {"a": 1}) == {}


def test_without_torch_nothing_is_counted():
    """A rank that sleeps has no compiler, and shelves need not count."""
    assert events.compilations({}) == {}
    assert events.nothing() == {}
    assert events.compilations({"torch._dynamo.utils": SimpleNamespace(counters={})}) == {"compilation": 0}


def test_every_part_is_asked_that_counts():
    """An accelerator and a strategy with counters, one without; the model is asked for when it is there."""
    models = []
    look = look_at(
        SimpleNamespace(events=lambda _: {"growth": 3}),
        SimpleNamespace(),
        SimpleNamespace(events=lambda model: {} if model is None else {"rebuild": model}),
        runner=lambda: models[-1] if models else None,
    )

    before = dict(look())
    models.append(7)

    assert "rebuild" not in before
    assert before["growth"] == 3
    assert look()["rebuild"] == 7


def test_the_allocator_tells_segments_and_retries():
    """Its statistics are empty before the first allocation."""
    stats = {"segment.all.allocated": 4, "num_alloc_retries": 1, "segment.all.freed": 2}

    assert events.allocator(stats) == {"memory growth": 4, "memory retry": 1}
    assert events.allocator({}) == {"memory growth": 0, "memory retry": 0}


def test_a_model_without_buckets_rebuilds_none():
    """Nor does one whose log says nothing of it yet."""
    assert events.rebuilds(object()) == {}
    assert events.rebuilds(SimpleNamespace(_get_ddp_logging_data=dict)) == {"bucket rebuild": 0}


@pytest.mark.torch
def test_a_recompilation_in_the_warm_up_is_waited_for(fake_machine, fake_job):
    """A compiled function meets a new shape in step 4: it is compiled again there, and not in the window."""
    import torch

    torch.compiler.reset()
    machine = fake_machine()
    job = fake_job(machine, repeat(0.1))
    double = torch.compile(lambda x: x * 2, backend="eager")
    plain_step = job.step
    job.step = lambda: (plain_step(), double(torch.ones(3) if job.steps < 4 else torch.ones(3, 4)))
    look = look_at(runner=lambda: None)
    begin = look()

    warm = warm_up(job, ROUNDS_OF_2, machine, machine, look=look)
    opening = look()
    measure(job, 3, machine, machine)

    assert len(warm.step_ns) == 6
    assert counted(begin, opening, look()) == (CountedEvent(name="compilation", warmup=2, window=0),)


@pytest.mark.torch
def test_a_compilation_in_the_window_is_counted_there(fake_machine, fake_job):
    """A new shape that only the window brings."""
    import torch

    torch.compiler.reset()
    machine = fake_machine()
    job = fake_job(machine, repeat(0.1))
    double = torch.compile(lambda x: x * 2, backend="eager")
    job.step = lambda: double(torch.ones(5))
    look = look_at(runner=lambda: None)

    opening = look()
    measure(job, 3, machine, machine)

    assert counted(opening, opening, look()) == (CountedEvent(name="compilation", warmup=0, window=1),)


@pytest.mark.torch
def test_ddp_really_rebuilds_its_buckets_in_the_warm_up(readings):
    """One rank under ddp: its buckets are rebuilt once, and never in the window."""
    (reading,) = readings("gpt", "train", strategy="ddp", sequence=16)

    assert CountedEvent(name="bucket rebuild", warmup=1, window=0) in reading.events
