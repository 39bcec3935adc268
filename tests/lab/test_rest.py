"""Tests of waiting for the machine to come to rest, and of who else is on its devices."""

import itertools
import os
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from study.domain.fact import require_reasons
from study.domain.trial import Cell
from study.lab import rest
from study.lab.nvml import Card, Cards
from study.lab.rest import Rest, Seen, host_memory
from study.lab.stop import StopRequest
from study.lab.surroundings import surroundings

MIB = 2**20
GIB = 2**30


class FakeClock:
    """Time that passes only when somebody sleeps."""

    time_ns = 0

    def now_ns(self) -> int:
        return self.time_ns

    def sleep(self, seconds: float) -> None:
        self.time_ns += round(seconds * 1e9)


def card(used: int | None = 0, compute: Iterable[int] | None = (), graphics: Iterable[int] = ()) -> Card:
    """A card with so much memory in use, and these processes on it."""
    unknown = {"memory_used_bytes": "no memory"} if used is None else {}
    unknown |= {"compute": "no list"} if compute is None else {}
    return Card(
        uuid=None,
        bus_id=None,
        memory_used_bytes=used,
        compute=None if compute is None else frozenset(compute),
        graphics=frozenset(graphics),
        unknown=unknown,
    )


class Bench:
    """A rest over looks at cards and at available memory that follow one another; the last one stays."""

    def __init__(self, cards: list[tuple[Card, ...]], available: list[int | None], reason: str = "") -> None:
        self.clock = FakeClock()
        self.stop = StopRequest()
        looks = itertools.chain(cards, itertools.repeat(cards[-1]))
        memory = itertools.chain(available, itertools.repeat(available[-1]))
        self.rest = Rest(
            cards=lambda: Cards(cards=next(looks), reason=reason),
            memory=lambda: None if (now := next(memory)) is None else (now, 64 * GIB),
            stop=self.stop,
            clock=self.clock,
            environ={},
        )

    def trial(self, cell: Cell) -> Seen:
        return self.rest.after(cell, self.rest.before(cell))


@pytest.fixture
def on_gpus(cell: Callable[..., Cell]) -> Callable[[int], Cell]:
    """Make a cell on so many GPUs."""
    return lambda devices: msgspec.structs.replace(cell(devices), accelerator="cuda")


def test_a_machine_at_rest_is_not_waited_for(on_gpus: Callable[[int], Cell]) -> None:
    """The first launch sets the base; small changes of both memories are no reason to wait."""
    bench = Bench([(card(GIB),), (card(GIB + 200 * MIB),)], [40 * GIB, 39 * GIB])

    waits = [bench.rest.before(on_gpus(1)) for _ in range(2)]

    assert [(waited.seconds, waited.not_back) for waited in waits] == [(0.0, ()), (0.0, ())]


def test_memory_of_a_device_is_waited_for(on_gpus: Callable[[int], Cell]) -> None:
    """It comes back at the third look after the trial: two pauses of a tenth of a second."""
    full = (card(GIB), card(9 * GIB))
    bench = Bench([(card(GIB), card(GIB)), full, full, (card(GIB), card(GIB))], [GIB])
    bench.rest.before(on_gpus(2))

    waited = bench.rest.before(on_gpus(2))

    assert (waited.seconds, waited.not_back) == (0.2, ())


def test_what_does_not_come_back_is_named_and_waited_for_once(on_gpus: Callable[[int], Cell]) -> None:
    """Ten seconds, then the trial begins all the same, and the next one does not wait again."""
    bench = Bench([(card(GIB),), (card(9 * GIB),)], [40 * GIB, 30 * GIB])
    bench.rest.before(on_gpus(1))

    waited, again = bench.rest.before(on_gpus(1)), bench.rest.before(on_gpus(1))

    assert waited.seconds == pytest.approx(10.0, abs=0.11)
    assert waited.not_back == ("device_memory", "host_memory")
    assert (again.seconds, again.not_back) == (0.0, ())


def test_a_device_that_the_trial_does_not_use_is_not_waited_for(
    cell: Callable[..., Cell], on_gpus: Callable[[int], Cell]
) -> None:
    """A stranger fills the second card: nothing to a trial on the first, or on the processor."""
    bench = Bench([(card(GIB), card(GIB)), (card(GIB), card(40 * GIB))], [GIB])
    bench.rest.before(on_gpus(1))

    assert [bench.rest.before(of).seconds for of in (on_gpus(1), cell(1))] == [0.0, 0.0]
    assert bench.rest.before(on_gpus(2)).not_back == ("device_memory",)


def test_a_screen_that_computes_as_well_is_the_machines_own(on_gpus: Callable[[int], Cell]) -> None:
    """A compositor of before the first trial stands in both lists; one that came later counts."""
    desktop = card(GIB, compute=[7], graphics=[7])
    crowded = card(GIB, compute=[7, 8], graphics=[7, 8])

    assert Bench([(desktop,)], [GIB]).trial(on_gpus(1)).foreign_processes == 0
    assert Bench([(desktop,), (crowded,)], [GIB]).trial(on_gpus(1)).foreign_processes == 1


def test_a_request_to_stop_ends_the_waiting(on_gpus: Callable[[int], Cell]) -> None:
    """Ctrl-C is heard within one pause."""
    bench = Bench([(card(GIB),), (card(9 * GIB),)], [None])
    bench.rest.before(on_gpus(1))
    bench.stop.request("SIGINT")

    assert bench.rest.before(on_gpus(1)).seconds == 0.0


@pytest.mark.parametrize(
    ("before", "after", "count"),
    [
        ((), (), 0),
        ((11,), (11, 12), 2),  # the larger of two looks
        ((11, 12), (), 2),
        ((os.getpid(),), (os.getpid(),), 0),  # ourselves
    ],
)
def test_processes_of_others_are_counted(
    on_gpus: Callable[[int], Cell], before: tuple[int, ...], after: tuple[int, ...], count: int
) -> None:
    """Before the launch and after it none of our ranks lives, so all that is listed is foreign."""
    bench = Bench([(card(compute=before),), (card(compute=after),)], [GIB])

    found = bench.trial(on_gpus(1))

    assert (found.foreign_processes, found.foreign_processes_elsewhere) == (count, 0)


def test_a_process_that_is_just_going_is_given_two_seconds(on_gpus: Callable[[int], Cell]) -> None:
    """A driver may still list a rank that has ended."""
    gone = Bench([(card(),), (card(compute=[7]),), (card(),)], [GIB])
    stays = Bench([(card(),), (card(compute=[7]),)], [GIB])

    assert gone.trial(on_gpus(1)).foreign_processes == 0
    assert stays.trial(on_gpus(1)).foreign_processes == 1
    assert stays.clock.time_ns == pytest.approx(2e9, abs=2e8)


def test_who_draws_the_screen_is_the_machines_own(on_gpus: Callable[[int], Cell]) -> None:
    """A display server that was there before the first trial counts for nothing; a game that began counts."""
    bench = Bench([(card(graphics=[1]),), (card(graphics=[1]),), (card(graphics=[1, 2]),)], [GIB])

    assert [bench.trial(on_gpus(1)).foreign_processes for _ in range(2)] == [0, 1]


def test_devices_of_the_trial_and_others_are_told_apart(on_gpus: Callable[[int], Cell]) -> None:
    """Two of three cards are the trial's; their memory is told in order of ranks."""
    bench = Bench([(card(1), card(2, [5]), card(3, [6, 7]))], [GIB])

    found = bench.trial(on_gpus(2))

    assert (found.foreign_processes, found.foreign_processes_elsewhere) == (1, 2)
    assert found.device_memory_used_bytes == found.device_memory_base_bytes == (1, 2)


def test_memory_grown_under_a_container_is_told_with_its_base(on_gpus: Callable[[int], Cell]) -> None:
    """Where no process can be seen, what is in use before a launch and was before the first one speaks."""
    bench = Bench([(card(GIB),), (card(GIB),), (card(5 * GIB),)], [GIB])
    bench.trial(on_gpus(1))

    found = bench.trial(on_gpus(1))

    assert (found.device_memory_base_bytes, found.device_memory_used_bytes) == ((GIB,), (5 * GIB,))
    assert found.not_back == ("device_memory",)


@pytest.mark.parametrize(
    ("bench", "field", "reason"),
    [
        (Bench([()], [GIB], "no driver"), "foreign_processes", "no driver"),
        (Bench([()], [GIB], "no driver"), "foreign_processes_elsewhere", "no driver"),
        (Bench([(card(None),)], [GIB]), "device_memory_used_bytes", "no memory"),
        (Bench([(card(compute=None),)], [GIB]), "foreign_processes", "no list"),
        (Bench([(card(),)], [None]), "memory_available_bytes", "does not tell"),
        (Bench([(card(),), ()], [GIB]), "foreign_processes", rest.GONE),
    ],
    ids=["no driver", "no driver elsewhere", "no memory", "no list", "no host memory", "dies meanwhile"],
)
def test_what_cannot_be_known_has_its_reason(
    on_gpus: Callable[[int], Cell], bench: Bench, field: str, reason: str
) -> None:
    """A driver that is dead, dumb, or dies during the trial leaves nulls; the trial is not harmed."""
    found = bench.trial(on_gpus(1))
    told = surroundings(None, None, None, found)

    assert getattr(told, field) is None
    assert reason in told.unknown[field]
    require_reasons(told, told.unknown)


def test_a_trial_on_the_host_has_no_devices(cell: Callable[..., Cell]) -> None:
    """Who is on the GPUs is then told as elsewhere."""
    found = Bench([(card(1, [5]),)], [GIB]).trial(cell())

    assert found.unknown["foreign_processes"] == found.unknown["device_memory_used_bytes"] == rest.NO_GPU
    assert found.foreign_processes_elsewhere == 1


def test_gpus_that_cannot_be_told_apart_say_so(on_gpus: Callable[[int], Cell]) -> None:
    """More devices are asked for than the library lists, as with parts of one GPU."""
    found = Bench([(card(),)], [GIB]).trial(on_gpus(2))

    assert found.unknown["foreign_processes"] == rest.UNMATCHED


def test_the_hosts_memory_is_really_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Available is less than all, and a system that does not tell makes no error."""
    available, whole = host_memory() or (0, 0)
    assert 0 < available < whole

    def broken() -> Any:
        raise OSError

    monkeypatch.setattr("psutil.virtual_memory", broken)
    assert host_memory() is None
