"""Before each trial the machine comes back to where it was before the first one; who else is on its GPUs.

A driver may hold memory for a moment after a process has gone (vllm-omni issue 4165), and what is held is
not there for the next trial. So each launch waits, for ten seconds at most, until memory in use on its
devices and memory available on the host are back. What is not back by then is not waited for again.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from study.domain.fact import Fact
from study.domain.record import DEVICE_MEMORY_TOLERANCE_BYTES
from study.domain.trial import Cell
from study.lab.clock import Clock
from study.lab.nvml import Cards
from study.lab.stop import StopRequest
from study.lab.visible import in_torchs_order

What = Literal["device_memory", "host_memory"]

LONGEST_S = 10.0
POLL_S = 0.1
GONE_S = 2.0
"""So long a driver may still list a process that has ended."""
HOST_SHARE = 0.02
HOST_LEAST_BYTES = 256 * 2**20
"""The host's memory counts as back within 2 % of all there is, at least 256 MiB: other programs breathe."""

NO_GPU = "the trial uses no GPU"
UNMATCHED = "the trial's GPUs could not be told from the others"
GONE = "a device was gone"


class Look(Fact, frozen=True, kw_only=True):
    """Devices and host memory at one moment."""

    cards: Cards
    available_bytes: int | None
    whole_bytes: int | None


class Waited(Fact, frozen=True, kw_only=True):
    """How long a launch waited, what had not come back by then, and the last look before it."""

    seconds: float
    not_back: tuple[What, ...]
    look: Look


class Seen(Fact, frozen=True, kw_only=True):
    """What `study.domain.record.Surroundings` tells of rest and of foreign processes."""

    waited_s: float | None
    not_back: tuple[What, ...]
    memory_available_bytes: int | None
    device_memory_used_bytes: tuple[int, ...] | None
    device_memory_base_bytes: tuple[int, ...] | None
    foreign_processes: int | None
    foreign_processes_elsewhere: int | None
    unknown: dict[str, str] = {}


class Rest:
    """Waits before launches and looks around after them; one for a session.

    `cards` looks at the devices, `memory` gives the host's available and whole memory in bytes, or nothing.
    """

    def __init__(
        self,
        *,
        cards: Callable[[], Cards],
        stop: StopRequest,
        clock: Clock,
        memory: Callable[[], tuple[int, int] | None] | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._cards = cards
        self._stop = stop
        self._clock = clock
        self._memory = memory or host_memory
        self._environ = environ
        self._base: Look | None = None
        self._level: Look | None = None

    def before(self, cell: Cell) -> Waited:
        """Wait until all that `cell` uses is back, for long enough, or until somebody asks to stop."""
        began_ns = self._clock.now_ns()
        now = self._look()
        if self._base is None or self._level is None:
            self._base = self._level = now
        mine, _ = _devices(cell, now.cards, self._environ)
        while missing := not_back(now, self._level, mine):
            if self._waited_s(began_ns) >= LONGEST_S or self._stop.requested:
                self._level = now
                break
            self._clock.sleep(POLL_S)
            now = self._look()
        return Waited(seconds=round(self._waited_s(began_ns), 3), not_back=missing, look=now)

    def after(self, cell: Cell, waited: Waited) -> Seen:
        """What is recorded of an attempt of `cell` that has ended; `waited` is what `before()` gave."""
        began_ns = self._clock.now_ns()
        now = self._cards()
        while _listed(now) > _listed(waited.look.cards) and self._waited_s(began_ns) < GONE_S:
            self._clock.sleep(POLL_S)
            now = self._cards()
        base = (self._base or waited.look).cards
        mine, why = _devices(cell, waited.look.cards, self._environ)
        return seen(waited, base, now, mine, why)

    def _look(self) -> Look:
        found = self._memory()
        return Look(
            cards=self._cards(),
            available_bytes=None if found is None else found[0],
            whole_bytes=None if found is None else found[1],
        )

    def _waited_s(self, began_ns: int) -> float:
        return (self._clock.now_ns() - began_ns) / 1e9


def not_back(now: Look, level: Look, devices: Sequence[int]) -> tuple[What, ...]:
    """What of these devices and of the host is not back to `level`; what is not known is not waited for."""
    found: list[What] = []
    pairs = list(zip(now.cards.cards, level.cards.cards, strict=False))
    mine = [pairs[index] for index in devices if index < len(pairs)]
    if any(_above(card.memory_used_bytes, before.memory_used_bytes) for card, before in mine):
        found.append("device_memory")
    if now.available_bytes is not None and level.available_bytes is not None:
        room = max(HOST_LEAST_BYTES, HOST_SHARE * (level.whole_bytes or 0))
        if now.available_bytes < level.available_bytes - room:
            found.append("host_memory")
    return tuple(found)


def seen(waited: Waited, base: Cards, after: Cards, mine: tuple[int, ...], why: str) -> Seen:
    """What is told of the trial's devices `mine`, unknown where `why` says so, and of the others.

    Before a launch and after it none of our processes is on a device. Of those that draw a screen, the ones
    that were there before the first trial are the machine's own.
    """
    before = waited.look.cards
    others = tuple(index for index in range(len(before.cards)) if index not in mine)
    on_mine: dict[str, tuple[object, str]] = {
        "device_memory_used_bytes": _memory(before, mine),
        "device_memory_base_bytes": _memory(base, mine),
        "foreign_processes": _foreign(before, after, base, mine),
    }
    answers = {
        "memory_available_bytes": (
            waited.look.available_bytes,
            "the system does not tell its available memory",
        ),
        **(dict.fromkeys(on_mine, (None, why)) if why else on_mine),
        "foreign_processes_elsewhere": _foreign(before, after, base, others),
    }
    values = {name: value for name, (value, _) in answers.items()}
    return msgspec.convert(
        {
            "waited_s": waited.seconds,
            "not_back": waited.not_back,
            **values,
            "unknown": {name: cause for name, (value, cause) in answers.items() if value is None},
        },
        Seen,
    )


def host_memory() -> tuple[int, int] | None:
    """Available and whole memory of the host in bytes, or nothing where it cannot be read."""
    import psutil

    try:
        found = psutil.virtual_memory()
    except Exception:  # whatever a broken /proc makes of it
        return None
    return found.available, found.total


def _devices(cell: Cell, cards: Cards, environ: Mapping[str, str]) -> tuple[tuple[int, ...], str]:
    """The library's numbers of the devices that the trial's ranks stand on, in order of ranks."""
    if cell.accelerator == "cpu":
        return (), NO_GPU
    if not cards.cards:
        return (), cards.reason
    order = in_torchs_order([card.uuid for card in cards.cards], environ)[: cell.devices]
    found = tuple(index for index in order if index is not None)
    return (found, "") if len(found) == cell.devices else ((), UNMATCHED)


def _memory(cards: Cards, chosen: tuple[int, ...]) -> tuple[tuple[int, ...] | None, str]:
    answers = [cards.cards[index] for index in chosen if index < len(cards.cards)]
    known = [card.memory_used_bytes for card in answers if card.memory_used_bytes is not None]
    if len(known) == len(chosen):
        return tuple(known), ""
    return None, next((card.unknown["memory_used_bytes"] for card in answers if card.unknown), cards.reason)


def _foreign(before: Cards, after: Cards, base: Cards, chosen: tuple[int, ...]) -> tuple[int | None, str]:
    """The larger number of foreign processes in two looks; null if one look could not tell."""
    counts = []
    for cards in (before, after):
        if not cards.cards or any(index >= len(cards.cards) for index in chosen):
            return None, cards.reason or GONE
        found: set[int] = set()
        for index in chosen:
            card = cards.cards[index]
            if card.compute is None:
                return None, card.unknown["compute"]
            known = base.cards[index].graphics if index < len(base.cards) else None
            # A compositor may compute as well, and is then in both lists.
            found |= (card.compute | (card.graphics or frozenset())) - (known or frozenset())
        counts.append(len(found - {os.getpid()}))
    return max(counts), ""


def _listed(cards: Cards) -> int:
    return sum(len(card.compute or ()) for card in cards.cards)


def _above(now: int | None, before: int | None) -> bool:
    return now is not None and before is not None and now > before + DEVICE_MEMORY_TOLERANCE_BYTES
