"""Whole sentences and terms for what other rooms name: tasks, scalings, outcomes, what is missing."""

from collections.abc import Iterable
from hashlib import sha256
from string import ascii_lowercase
from typing import TypeVar

from study.domain.estimate import Estimate
from study.domain.figure import Column, Missing, TableCell
from study.domain.record import Record
from study.domain.strategy_words import strategy_words
from study.domain.summary import CellSummary, SeriesSummary
from study.domain.text import Est, Name, Num, Show, Slot, Style, Term, Text, said
from study.domain.trial import Cell

S = TypeVar("S")

TASKS: dict[str, Term] = {
    "train": Term(text="training"),
    "infer": Term(text="inference"),
    "check": Term(text="check"),
}

SCALINGS = {"strong": Term(text="strong scaling"), "weak": Term(text="weak scaling")}

OUTCOMES = {
    "measured": Term(text="measured"),
    "out_of_memory": Term(text="out of memory"),
    "failed": Term(text="failed"),
    "timed_out": Term(text="timed out"),
    "skipped": Term(text="skipped"),
    "interrupted": Term(text="interrupted"),
    "excluded": Term(text="excluded"),
}

EVENTS = {
    "compilation": Term(text="compilation"),
    "memory growth": Term(text="growth of a device's memory"),
    "memory retry": Term(text="an allocation that had to be tried again"),
    "bucket rebuild": Term(text="gradients arranged anew for sending"),
}
"""What should be over when a window opens."""

UNTITLED = Text(frame="")
"""The title of an axis whose labels say all."""

NOT_MEASURED = said("Not measured.")
NO_REASON = said("Not recorded, and the records do not say why.")
STRONG_ONLY = said("Defined for strong scaling only.")
WEAK_ONLY = said("Defined for weak scaling only.")
ONE_DEVICE = said("Not defined at one device.")


def alone(slot: Slot) -> Text:
    """A slot where a sentence is asked for."""
    return said("{alone}", alone=slot)


def in_a_row(*sentences: Text) -> Text:
    """Whole sentences, one after the other: a frame without words, which no language need translate."""
    slots = dict(zip(ascii_lowercase, sentences, strict=False))
    return Text(frame=" ".join(f"{{{name}}}" for name in slots), slots=dict(slots))


def because(reason: str) -> Text:
    """What was not recorded, with the reason: it is said, never dropped."""
    return said("Not recorded: {reason}", reason=Term(text=reason)) if reason else NO_REASON


def known(value: Slot | None, field: str, unknown: dict[str, str]) -> Slot:
    """The value, or the sentence that says why it is not there."""
    return because(unknown.get(field, "")) if value is None else value


def text_or_reason(value: str | None, field: str, unknown: dict[str, str]) -> Slot:
    """A string as a name, or the sentence that says why it is not there."""
    return known(None if value is None else Name(text=value), field, unknown)


def number(value: float | None, style: Style = "plain", unit: str = "") -> Num | None:
    """A number as a slot, or nothing."""
    return None if value is None else Num(value=float(value), style=style, unit=unit)


def count(value: int) -> Num:
    """A whole number as a slot."""
    return Num(value=float(value), style="integer")


def estimate(
    value: Estimate | None, style: Style = "plain", unit: str = "", show: Show = "value_interval"
) -> Est | None:
    """An estimate as a slot, or nothing."""
    return None if value is None else Est(estimate=value, style=style, unit=unit, show=show)


def entry(value: Slot | None, reason: str, otherwise: Text = NOT_MEASURED) -> TableCell:
    """A table cell: the value, or the reason for its absence."""
    if value is not None:
        return value
    return Missing(reason=alone(Term(text=reason)) if reason else otherwise)


def model(summary: CellSummary) -> Name:
    """Workload and size of a cell, as a name."""
    return Name(text=f"{summary.cell.workload} {summary.cell.size}".strip())


def strategy(cell: Cell, among: Iterable[CellSummary], *, code: bool = True) -> Name:
    """The strategy of a cell, with those options that a reader has to know among these cells."""
    return Name(text=strategy_words(cell, (other.cell for other in among)), code=code)


def series_model(one: SeriesSummary) -> Name:
    """Workload and size of a series, as a name."""
    return Name(text=f"{one.workload} {one.size}".strip())


def shared_unit(units: set[str]) -> str:
    """The unit of a column: the one that all its cells have, or none."""
    return units.pop() if len(units) == 1 else ""


def unit_column() -> Column:
    """The column that names the unit of a row's rates: without it a file of numbers says nothing."""
    return Column(key="unit", title=said("Unit"), numeric=False)


def a_second(unit: str) -> Text:
    """A unit of work a second, as such a column has it."""
    return said("{unit}/s", unit=Term(text=unit))


def results_digest(records: Iterable[Record]) -> str:
    """SHA-256 over the records' own hashes: which results an article was made from."""
    hashes = sorted(record.content_sha256 for record in records)
    return sha256("\n".join(hashes).encode()).hexdigest()


def distinct(slots: Iterable[S]) -> tuple[S, ...]:
    """The slots without repetitions, in order; sentences have slots and cannot be hashed."""
    found: list[S] = []
    for slot in slots:
        if slot not in found:
            found.append(slot)
    return tuple(found)
