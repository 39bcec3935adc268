"""What the person waiting sees: a live table with time left on a terminal, plain lines elsewhere."""

import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from study.cli.cell_words import trial_words
from study.cli.plan import duration, many
from study.domain.event import Decided, Ended, Event, Started, TrialEnded, TrialStarted
from study.domain.record import (
    Failed,
    Interrupted,
    Measured,
    OutOfMemory,
    Record,
    Skipped,
    TimedOut,
    memory_was_in_use,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from study.archive import RunFolder

Tell = Callable[[Event], None]
RECENT = 6
NARROW = 18
"""So many columns a result has at least."""
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
    words = trial_words(folder.run.plan)

    def tell(event: Event) -> None:
        nonlocal total
        if isinstance(event, Started):
            click.echo(_opening(folder, event), err=True)
        elif isinstance(event, Decided):
            total = event.trials
            click.echo(_decided(folder, event), err=True)
        elif isinstance(event, TrialEnded):
            left = f", {_left(event.left_s)}" if event.left_s else ""
            disturbed = f" ({why})" if (why := _disturbed(event.record)) else ""
            click.echo(
                f"[{event.position}/{total}] {words[event.record.role, event.record.cell_id]}: "
                f"{result(event.record)}{disturbed}{_again(event)}{left}",
                err=True,
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
            elif isinstance(event, Decided):
                live.console.print(_decided(folder, event), markup=False)
            elif isinstance(event, TrialEnded) and not isinstance(event.record.outcome, Measured):
                told = f"{event.record.trial}: {result(event.record)}{_again(event)}"
                live.console.print(told, markup=False)
            view.note(event)

        yield tell


class _View:
    """What the live display shows now."""

    def __init__(self, folder: "RunFolder") -> None:
        from time import monotonic

        self._clock = monotonic
        self._total = len(folder.run.plan.trials)
        self._blocks = max(trial.block for trial in folder.run.plan.trials)
        self._words = trial_words(folder.run.plan)
        self._recent: deque[Record] = deque(maxlen=RECENT)
        self._failed: list[Record] = []
        self._position = 0
        self._block = 0
        self._cell = ""
        self._left_s: float | None = None
        self._since = monotonic()

    def note(self, event: Event) -> None:
        if isinstance(event, TrialStarted):
            self._position, self._block, self._cell = (
                event.position,
                event.block,
                self._words[event.role, event.cell_id],
            )
            self._left_s, self._since = event.left_s, self._clock()
        elif isinstance(event, Started):
            self._position, self._left_s = event.done + 1, event.predicted_s
        elif isinstance(event, TrialEnded):
            self._recent.append(event.record)
            if isinstance(event.record.outcome, Failed | OutOfMemory | TimedOut):
                self._failed.append(event.record)
            self._left_s, self._since = event.left_s, self._clock()
        elif isinstance(event, Decided):
            self._total = event.trials
            self._blocks = event.decision.after_block + (event.decision.verdict == "more")
        elif isinstance(event, Ended):
            self._cell = ""

    def render(self) -> "RenderableType":
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True, overflow="ellipsis")
        # what came of it is read first: the name gives way where the terminal is narrow
        table.add_column(no_wrap=True, overflow="ellipsis", min_width=NARROW)
        for record in self._recent:
            words = self._words[record.role, record.cell_id]
            table.add_row(Text(words, style="dim"), Text(result(record)))
        left = None if self._left_s is None else max(0.0, self._left_s - (self._clock() - self._since))
        line = Table.grid(padding=(0, 2))
        line.add_row(
            ProgressBar(total=self._total, completed=max(0, self._position - 1), width=24),
            Text(f"{self._position}/{self._total}, block {self._block or 1}/{self._blocks}"),
            Text(_left(left)),
        )
        now = Text(f"now: {self._cell}" if self._cell else "", style="bold")
        return Group(table, *self._so_far(), line, now)

    def _so_far(self) -> "list[RenderableType]":
        """What disturbed the last trial; how many attempts failed so far, and why the last of them did."""
        from rich.text import Text

        lines: list[RenderableType] = []
        if self._recent and (why := _disturbed(self._recent[-1])):
            lines.append(Text(f"{why} during the last trial", style="yellow"))
        if self._failed:
            last = self._failed[-1]
            words = self._words[last.role, last.cell_id]
            told = f"failed so far: {len(self._failed)}; the last, {words}: {result(last)}"
            lines.append(Text(told, style="red"))
        return lines


def _opening(folder: "RunFolder", event: Started) -> str:
    start = f"{folder.path}: {many(event.trials, 'trial')}"
    done = f", {event.done} done before" if event.done else ""
    if not event.chosen:
        return f"{start}{done}; nothing left to do."
    left = f", {event.chosen} to go" if event.chosen < event.trials else ""
    time = f", {duration(event.predicted_s)} or more" if event.predicted_s else ""
    return f"{start}{done}{left}{time}."


def _decided(folder: "RunFolder", event: Decided) -> str:
    from study.cli.decided import line

    return line(event.decision, folder.run.plan)


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
            silent = outcome.silent_s
            hung = f"hung: no step for {silent:g} s" if silent is not None else ""
            return hung or f"timed out after {outcome.limit_s:g} s"
        case Skipped():
            return f"skipped: {outcome.reason}"
        case Interrupted():
            return f"interrupted by {outcome.by}"


def _again(event: TrialEnded) -> str:
    return " It is tried once more." if event.again else ""


def _disturbed(record: Record) -> str:
    """A warning while something can still be done about it."""
    others = record.surroundings.foreign_processes
    if others and isinstance(record.outcome, Measured):
        return "excluded, since another program used its device"
    if memory_was_in_use(record.surroundings) and isinstance(record.outcome, Measured):
        return "excluded, since memory of its device was in use when it began"
    share = record.surroundings.foreign_cpu_share
    if share is None or share < DISTURBED or not isinstance(record.outcome, Measured):
        return ""
    return f"other programs took {share:.0%} of the processor"


def _rate(measured: Measured) -> str:
    """Work over wall time, as a sign of life; the desk computes what is published."""
    readings = measured.readings
    wall_ns = max(r.window_end_ns for r in readings) - min(r.window_start_ns for r in readings)
    work = sum(r.work for r in readings)
    rate = work / wall_ns * 1e9
    digits = f"{rate:,.0f}" if rate >= 1000 else f"{rate:.4g}"
    return f"{digits} {readings[0].work_unit}/s"
