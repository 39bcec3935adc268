"""What the person waiting sees: a live table with time left on a terminal, plain lines elsewhere."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from study.cli.plan import duration, many
from study.domain.event import Ended, Event, Started, TrialEnded, TrialStarted
from study.domain.record import Failed, Interrupted, Measured, OutOfMemory, Record, Skipped, TimedOut

if TYPE_CHECKING:
    from rich.console import RenderableType

    from study.archive import RunFolder

Tell = Callable[[Event], None]
RECENT = 6
DISTURBED = 0.10
"""From this share of the processor in other hands on, the person waiting is told."""


@contextmanager
def progress(folder: "RunFolder") -> Iterator[Tell]:
    """A function that shows events on stderr, as the terminal allows, until the block ends."""
    if sys.stderr.isatty():
        with _live(folder) as tell:
            yield _unless_deaf(tell)
    else:
        yield _unless_deaf(_plain(folder))


def _unless_deaf(tell: Tell) -> Tell:
    """Nobody may be left to listen (`| head`, a lost terminal): the measuring goes on without words."""
    deaf = False

    def tell_or_not(event: Event) -> None:
        nonlocal deaf
        if deaf:
            return
        try:
            tell(event)
        except (OSError, ValueError):  # a closed pipe, a closed file
            deaf = True

    return tell_or_not


def _plain(folder: "RunFolder") -> Tell:
    total = len(folder.run.plan.trials)

    def tell(event: Event) -> None:
        if isinstance(event, Started):
            click.echo(_opening(folder, event), err=True)
        elif isinstance(event, TrialEnded):
            left = f", {_left(event.left_s)}" if event.left_s else ""
            click.echo(
                f"[{event.position}/{total}] {event.record.cell_id}: {result(event.record)}{left}", err=True
            )

    return tell


@contextmanager
def _live(folder: "RunFolder") -> Iterator[Tell]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    view = _View(folder)
    with Live(console=console, refresh_per_second=4, transient=True, get_renderable=view.render) as live:

        def tell(event: Event) -> None:
            if isinstance(event, Started):
                live.console.print(_opening(folder, event), markup=False)
            elif isinstance(event, TrialEnded) and not isinstance(event.record.outcome, Measured):
                live.console.print(f"{event.record.trial}: {result(event.record)}", markup=False)
            view.note(event)

        yield tell


class _View:
    """What the live display shows now."""

    def __init__(self, folder: "RunFolder") -> None:
        from time import monotonic

        self._clock = monotonic
        self._total = len(folder.run.plan.trials)
        self._blocks = folder.run.plan.protocol.blocks
        self._recent: deque[Record] = deque(maxlen=RECENT)
        self._position = 0
        self._block = 0
        self._cell = ""
        self._left_s: float | None = None
        self._since = monotonic()

    def note(self, event: Event) -> None:
        if isinstance(event, TrialStarted):
            self._position, self._block, self._cell = event.position, event.block, event.cell_id
            self._left_s, self._since = event.left_s, self._clock()
        elif isinstance(event, Started):
            self._position, self._left_s = event.done + 1, event.predicted_s
        elif isinstance(event, TrialEnded):
            self._recent.append(event.record)
            self._left_s, self._since = event.left_s, self._clock()
        elif isinstance(event, Ended):
            self._cell = ""

    def render(self) -> "RenderableType":
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        for record in self._recent:
            table.add_row(Text(record.cell_id, style="dim"), Text(result(record)))
        left = None if self._left_s is None else max(0.0, self._left_s - (self._clock() - self._since))
        line = Table.grid(padding=(0, 2))
        line.add_row(
            ProgressBar(total=self._total, completed=max(0, self._position - 1), width=24),
            Text(f"{self._position}/{self._total}, block {self._block or 1}/{self._blocks}"),
            Text(_left(left)),
        )
        return Group(table, line, Text(f"now: {self._cell}" if self._cell else "", style="bold"))


def _opening(folder: "RunFolder", event: Started) -> str:
    start = f"{folder.path}: {many(event.trials, 'trial')}"
    done = f", {event.done} done before" if event.done else ""
    if not event.chosen:
        return f"{start}{done}; nothing left to do."
    left = f", {event.chosen} to go" if event.chosen < event.trials else ""
    time = f", {duration(event.predicted_s)} or more" if event.predicted_s else ""
    return f"{start}{done}{left}{time}."


def _left(seconds: float | None) -> str:
    return "time left not known yet" if seconds is None else f"{duration(seconds)} left"


def result(record: Record) -> str:
    """One attempt's outcome in words, with its rate if it was measured."""
    outcome = record.outcome
    match outcome:
        case Measured():
            return _rate(outcome) + _disturbed(record)
        case OutOfMemory():
            return f"out of memory: {outcome.evidence}"
        case Failed():
            return f"failed: {outcome.reason}"
        case TimedOut():
            return f"timed out after {outcome.limit_s:g} s"
        case Skipped():
            return f"skipped: {outcome.reason}"
        case Interrupted():
            return f"interrupted by {outcome.by}"


def _disturbed(record: Record) -> str:
    """A warning while something can still be done about it."""
    share = record.surroundings.foreign_cpu_share
    if share is None or share < DISTURBED:
        return ""
    return f" (other programs took {share:.0%} of the processor)"


def _rate(measured: Measured) -> str:
    """Work over wall time, as a sign of life; the desk computes what is published."""
    readings = measured.readings
    wall_ns = max(r.window_end_ns for r in readings) - min(r.window_start_ns for r in readings)
    work = sum(r.work for r in readings)
    rate = work / wall_ns * 1e9
    digits = f"{rate:,.0f}" if rate >= 1000 else f"{rate:.4g}"
    return f"{digits} {readings[0].work_unit}/s"
