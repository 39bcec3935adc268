"""What the person waiting sees: a live table with time left on a terminal, plain lines elsewhere."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from study.cli.plan import duration
from study.domain.event import Ended, Event, Started, TrialEnded, TrialStarted
from study.domain.record import Failed, Interrupted, Measured, OutOfMemory, Record, Skipped, TimedOut

if TYPE_CHECKING:
    from rich.console import RenderableType

    from study.archive import RunFolder

Tell = Callable[[Event], None]
RECENT = 6


@contextmanager
def progress(folder: "RunFolder") -> Iterator[Tell]:
    """A function that shows events on stderr, as the terminal allows, until the block ends."""
    if sys.stderr.isatty():
        with _live(folder) as tell:
            yield tell
    else:
        yield _plain(folder)


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
            ProgressBar(total=self._total, completed=max(0, self._position - 1), width=32),
            Text(f"trial {self._position} of {self._total}, block {self._block} of {self._blocks}"),
            Text(_left(left)),
        )
        return Group(table, line, Text(f"now: {self._cell}" if self._cell else "", style="bold"))


def _opening(folder: "RunFolder", event: Started) -> str:
    left = event.trials - event.done
    start = f"{folder.path}: {event.trials} trials"
    resumed = f", {event.done} of them done before, {left} to go" if event.done else ""
    time = f", about {duration(event.predicted_s)}" if event.predicted_s else ""
    return f"{start}{resumed}{time}."


def _left(seconds: float | None) -> str:
    return "time left not known yet" if seconds is None else f"{duration(seconds)} left"


def result(record: Record) -> str:
    """One attempt's outcome in words, with its rate if it was measured."""
    outcome = record.outcome
    match outcome:
        case Measured():
            return _rate(outcome)
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


def _rate(measured: Measured) -> str:
    """Work over wall time, as a sign of life; the desk computes what is published."""
    readings = measured.readings
    wall_ns = max(r.window_end_ns for r in readings) - min(r.window_start_ns for r in readings)
    work = sum(r.work for r in readings)
    return f"{work / wall_ns * 1e9:,.4g} {readings[0].work_unit}/s"
