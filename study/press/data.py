"""Data files beside the article: every table as CSV (RFC 4180, UTF-8, line feeds).

Text is quoted in every cell, and what a spreadsheet would take for a formula gets an apostrophe before it
(OWASP ASVS 5.0, 1.2.10); numbers are written as they are held and never altered. What is missing is empty.
"""

from collections.abc import Sequence
from decimal import Decimal

from study.domain.figure import Column, Missing, Table, TableCell
from study.domain.text import Est, Num
from study.press import clean
from study.press.language import Language
from study.press.numbers import exact
from study.press.sentence import said

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\0", "\u2212", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_FACTOR = {
    "_ns": (("seconds", "milliseconds", "duration"), Decimal(10**9)),
    "_us": (("seconds", "milliseconds", "duration"), Decimal(10**6)),
    "_ms": (("seconds", "milliseconds", "duration"), Decimal(1000)),
    "_percent": (("percent", "percent_points"), Decimal(100)),
    "_mib": (("bytes",), 1 / Decimal(2**20)),
    "_gib": (("bytes",), 1 / Decimal(2**30)),
}
"""A key's ending names the unit of its column; without one the value is written as held (s, B, shares)."""


def csv(table: Table, speech: Language) -> bytes:
    """The table; a column with estimates takes four: value, low, high, n."""
    estimates = [
        any(isinstance(row[position], Est) for row in table.rows) for position in range(len(table.columns))
    ]
    head: list[str] = []
    for column, wide in zip(table.columns, estimates, strict=True):
        head.append(_text(column.key))
        if wide:
            head += [_text(f"{column.key}_{part}") for part in ("low", "high", "n")]
    lines = [",".join(head)]
    for row in table.rows:
        cells: list[str] = []
        for cell, column, wide in zip(row, table.columns, estimates, strict=True):
            cells += _cells(cell, column, speech, width=4 if wide else 1)
        lines.append(",".join(cells))
    return ("\n".join(lines) + "\n").encode()


def _cells(cell: TableCell, column: Column, speech: Language, *, width: int) -> list[str]:
    match cell:
        case Missing():
            found: Sequence[str] = ("",)
        case Num():
            found = (_number(cell.value, column),)
        case Est():
            held = cell.estimate
            ends = ("" if x is None else _number(x, column) for x in (held.value, held.low, held.high))
            found = (*ends, str(held.n))
        case _:
            found = (_text(said(cell, speech)),)
    return [*found, *[""] * (width - len(found))]


def _number(value: float, column: Column) -> str:
    decimal = exact(value)
    for ending, (styles, factor) in _FACTOR.items():
        if column.key.endswith(ending) and column.style in styles:
            decimal = (decimal * factor).normalize()
    if decimal == decimal.to_integral_value() and abs(decimal) < 10**15:
        return str(int(decimal))
    return str(decimal).replace("E", "e")


def _text(text: str) -> str:
    text = clean.one_line(text, 2000)
    if text.lstrip(" ;,").startswith(_FORMULA):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"'
