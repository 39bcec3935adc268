"""Tables as the page and the Markdown show them: one unit a column in its head, intervals beneath values.

A table is laid out narrow: a column that says the same in every row moves into the caption, and the reason
for a missing value stands once beneath the table, under a letter. The CSV keeps every column.
"""

from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import NamedTuple

from study.domain.figure import Column, Missing, Table, TableCell
from study.domain.text import Est, Listing, Num, Slot, Text
from study.domain.text import said as sentence
from study.press.language import Language
from study.press.numbers import Measure
from study.press.sentence import number_words, said

UNIT = "unit"
"""The key of the column that names the unit of its row's rates."""


class Head(NamedTuple):
    """A column's head."""

    title: Slot
    unit: str
    numeric: bool


class Entry(NamedTuple):
    """A cell: its text if it is a number, else the slot to say; `sort` is the number to sort by.

    `mark` is the letter of the note that says why a value is missing.
    """

    slot: Slot | None
    digits: str
    interval: str
    sort: str
    mark: str


class Note(NamedTuple):
    """Why values under this letter are missing."""

    mark: str
    reason: Text


class Grid(NamedTuple):
    """A table laid out; `shared` are the sentences about the columns that were the same in every row."""

    heads: tuple[Head, ...]
    rows: tuple[tuple[Entry, ...], ...]
    shared: tuple[Text, ...]
    notes: tuple[Note, ...]


def grid(table: Table, speech: Language) -> Grid:
    """Lay a table out in a language."""
    shown = [p for p in range(len(table.columns)) if p == 0 or not _is_shared(table, p)]
    named = any(table.columns[p].key == UNIT for p in shown)
    measures: dict[int, Measure | None] = {}
    heads = []
    for position in shown:
        column = table.columns[position]
        measures[position], unit = _measure(
            column, [row[position] for row in table.rows], speech, named=named
        )
        known = said(column.title, speech)
        heads.append(Head(column.title, "" if unit in known else unit, column.numeric))
    reasons = _distinct(
        cell.reason for row in table.rows for p in shown if isinstance(cell := row[p], Missing)
    )
    marks = [_letter(i) for i in range(len(reasons))]
    rows = tuple(
        tuple(
            _entry(row[p], table.columns[p], measures[p], speech)._replace(
                mark=marks[reasons.index(cell.reason)] if isinstance(cell := row[p], Missing) else ""
            )
            for p in shown
        )
        for row in table.rows
    )
    return Grid(
        tuple(heads),
        rows,
        tuple(_shared(table, shown)),
        tuple(Note(mark, reason) for mark, reason in zip(marks, reasons, strict=True)),
    )


def _is_shared(table: Table, position: int) -> bool:
    """Whether a column says the same in every row; a single row is all that there is to say.

    A unit that all rates have stands in their heads and needs no column.
    """
    cells = [row[position] for row in table.rows]
    alike = all(cell == cells[0] for cell in cells)
    if table.columns[position].key == UNIT:
        return alike and all(column.unit for column in table.columns if column.style == "rate")
    return alike and len(cells) > 1


def _shared(table: Table, shown: Sequence[int]) -> Iterable[Text]:
    """What the columns that do not stand have in every row; a unit is in the heads of the rates."""
    left = [(c, table.rows[0][p]) for p, c in enumerate(table.columns) if p not in shown and c.key != UNIT]
    facts = tuple(
        Text(frame="{column} {value}", slots={"column": column.title, "value": cell})
        for column, cell in left
        if not isinstance(cell, Missing)
    )
    if facts:
        yield sentence("In all rows: {facts}.", facts=Listing(items=facts))
    for column, cell in left:
        if isinstance(cell, Missing):
            yield sentence(
                "No row has a value under “{column}”: {reason}", column=column.title, reason=cell.reason
            )


def _measure(
    column: Column, cells: list[TableCell], speech: Language, *, named: bool
) -> tuple[Measure | None, str]:
    """The measure of a column and the unit in its head; `named` if a column beside it names the units."""
    if column.style == "rate" and not column.unit:
        return (speech.numbers.measure("plain", "", 0.0), "") if named else (None, "")
    held = [_value(cell) for cell in cells if isinstance(cell, Num | Est) and _fits(cell, column)]
    return speech.numbers.column(held, column.style, column.unit)


def _entry(cell: TableCell, column: Column, measure: Measure | None, speech: Language) -> Entry:
    numbers = speech.numbers
    match cell:
        case Missing():
            return Entry(None, "–", "", "", "")
        case Num():
            own = measure if _fits(cell, column) else None
            return Entry(None, number_words(cell, speech, tight=True, column=own), "", repr(cell.value), "")
        case Est():
            own = measure if _fits(cell, column) else None
            held = cell.estimate
            shown = numbers.estimate(
                held, cell.style, cell.unit, tight=True, column=own, neutral=cell.neutral
            )
            interval = shown.interval if cell.show != "value" else ""
            if interval and held.level != 0.95:
                interval = f"{numbers.level(held.level)}: {interval}"
            if not interval and held.method != "exact" and cell.show != "value" and held.low is None:
                interval = speech.gettext("n = {n}, no interval").format(n=numbers.number(held.n, "integer"))
            elif interval and cell.show == "value_interval_n":
                interval += f"; n\u00a0=\u00a0{numbers.number(held.n, 'integer')}"
            return Entry(None, shown.value, interval, repr(held.value), "")
        case _:
            return Entry(cell, "", "", "", "")


def _fits(cell: Num | Est, column: Column) -> bool:
    """Whether a number can be shown in its column's measure; a rate's unit may stand beside it."""
    mixed = column.style == "rate" and not column.unit
    return cell.style == column.style and (mixed or cell.unit == column.unit)


def _value(cell: Num | Est) -> float:
    return cell.value if isinstance(cell, Num) else cell.estimate.value


def _distinct(reasons: Iterable[Text]) -> list[Text]:
    found: list[Text] = []
    for reason in reasons:
        if reason not in found:
            found.append(reason)
    return found


def _letter(position: int) -> str:
    """a to z, then aa, ab and so on."""
    rounds, letter = divmod(position, len(ascii_lowercase))
    return (ascii_lowercase[rounds - 1] if rounds else "") + ascii_lowercase[letter]
