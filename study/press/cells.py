"""Tables as the page and the Markdown show them: one unit a column in its head, intervals beneath values."""

from typing import NamedTuple

from study.domain.figure import Column, Missing, Table, TableCell
from study.domain.text import Est, Num, Slot
from study.press.language import Language
from study.press.numbers import Measure
from study.press.sentence import said


class Head(NamedTuple):
    """A column's head."""

    title: Slot
    unit: str
    numeric: bool


class Entry(NamedTuple):
    """A cell: its text if it is a number, else the slot to say; `sort` is the number to sort by."""

    slot: Slot | None
    digits: str
    interval: str
    sort: str
    reason: Slot | None


class Grid(NamedTuple):
    """A table laid out."""

    heads: tuple[Head, ...]
    rows: tuple[tuple[Entry, ...], ...]


def grid(table: Table, speech: Language) -> Grid:
    """Lay a table out in a language."""
    measures: list[Measure | None] = []
    heads = []
    for position, column in enumerate(table.columns):
        measure, unit = _measure(column, [row[position] for row in table.rows], speech)
        measures.append(measure)
        known = said(column.title, speech)
        heads.append(Head(column.title, "" if unit in known else unit, column.numeric))
    rows = tuple(
        tuple(
            _entry(cell, column, measure, speech)
            for cell, column, measure in zip(row, table.columns, measures, strict=True)
        )
        for row in table.rows
    )
    return Grid(tuple(heads), rows)


def _measure(column: Column, cells: list[TableCell], speech: Language) -> tuple[Measure | None, str]:
    held = [_value(cell) for cell in cells if isinstance(cell, Num | Est) and _fits(cell, column)]
    if column.style == "rate" and not column.unit:
        return None, ""
    return speech.numbers.column(held, column.style, column.unit)


def _entry(cell: TableCell, column: Column, measure: Measure | None, speech: Language) -> Entry:
    numbers = speech.numbers
    match cell:
        case Missing():
            return Entry(None, "–", "", "", cell.reason)
        case Num():
            own = measure if _fits(cell, column) else None
            digits = numbers.number(cell.value, cell.style, cell.unit, tight=True, column=own)
            return Entry(None, digits, "", repr(cell.value), None)
        case Est():
            own = measure if _fits(cell, column) else None
            held = cell.estimate
            shown = numbers.estimate(held, cell.style, cell.unit, tight=True, column=own)
            interval = shown.interval if cell.show != "value" else ""
            if interval and held.level != 0.95:
                interval = f"{numbers.number(held.level, 'percent')}: {interval}"
            if not interval and held.method != "exact" and cell.show != "value" and held.low is None:
                interval = speech.gettext("n = {n}, no interval").format(n=numbers.number(held.n, "integer"))
            elif interval and cell.show == "value_interval_n":
                interval += f"; n\u00a0=\u00a0{numbers.number(held.n, 'integer')}"
            return Entry(None, shown.value, interval, repr(held.value), None)
        case _:
            return Entry(cell, "", "", "", None)


def _fits(cell: Num | Est, column: Column) -> bool:
    return cell.style == column.style and cell.unit == column.unit


def _value(cell: Num | Est) -> float:
    return cell.value if isinstance(cell, Num) else cell.estimate.value
