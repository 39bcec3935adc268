"""CSV: numbers as held, text quoted, formulas defused."""

import csv as reader
from io import StringIO
from types import ModuleType

import pytest

from study.domain.figure import Column, Missing, Table
from study.domain.text import Est, Num, name, said
from study.press.data import csv
from study.press.language import language

EN = language("en")


def table(*columns: Column, rows: tuple[tuple[object, ...], ...]) -> Table:
    """A table of these columns."""
    return Table(key="t", caption=said("c"), columns=columns, rows=rows)  # type: ignore[arg-type]


def test_an_estimate_takes_four_columns(sample: ModuleType) -> None:
    """Value, low, high and n stand apart; without an interval two of them are empty."""
    held = table(
        Column(key="who", title=said("Who"), numeric=False),
        Column(key="rate", title=said("Rate"), style="rate", unit="tokens"),
        rows=(
            (name("a"), sample.est(25.5, 0.5, "rate", "tokens")),
            (name("b"), sample.est(24.0, None, "rate", "tokens", n=2)),
            (name("c"), Missing(reason=said("Out of memory."))),
        ),
    )

    assert csv(held, EN).decode() == (
        '"who","rate","rate_low","rate_high","rate_n"\n"a",25.5,25,26,5\n"b",24,,,2\n"c",,,,\n'
    )


@pytest.mark.parametrize(
    ("key", "style", "value", "written"),
    [
        ("step_ms", "milliseconds", 0.2311, "231.1"),
        ("step_s", "seconds", 0.2311, "0.2311"),
        ("loss", "percent", -0.102, "-0.102"),
        ("loss_percent", "percent", -0.102, "-10.2"),
        ("memory_gib", "bytes", 48 * 2.0**30, "48"),
        ("memory_bytes", "bytes", 48 * 2.0**30, "51539607552"),
        ("tiny", "plain", 1.5e-9, "1.5e-9"),
    ],
)
def test_a_key_names_the_unit_of_its_column(key: str, style: str, value: float, written: str) -> None:
    """Numbers are never prefixed, and scaled in decimal, so that 231.1 ms stays 231.1."""
    held = table(Column(key=key, title=said("x"), style=style), rows=((Num(value=value, style=style),),))  # type: ignore[arg-type]

    assert csv(held, EN).decode().splitlines()[1] == written


def test_text_is_quoted_and_formulas_are_defused(hostile: ModuleType) -> None:
    """A spreadsheet sees text, whatever the cell begins with, and one line a row."""
    payloads = [*hostile.PAYLOADS, "+1", "@sum", "\t=1", " =1", ";=1", "−1", "＝1", 'a,"b"']
    held = table(
        Column(key="text", title=said("T"), numeric=False),
        Column(key="n", title=said("N")),
        rows=tuple((name(p), Num(value=-1.5)) for p in payloads),
    )

    rows = list(reader.reader(StringIO(csv(held, EN).decode())))

    assert len(rows) == len(payloads) + 1
    assert {row[1] for row in rows[1:]} == {"-1.5"}
    for text, _ in rows[1:]:
        assert text.lstrip(" ;,")[:1] not in tuple("=+-@−＝"), text
    assert rows[-1][0] == 'a,"b"'


def test_an_estimate_beside_numbers_keeps_the_columns_aligned(sample: ModuleType) -> None:
    """Every row has as many cells as the head."""
    for one in (sample.base_table(), sample.speedup_figure().table, sample.trials_table()):
        rows = list(reader.reader(StringIO(csv(one, EN).decode())))
        assert {len(row) for row in rows} == {len(rows[0])}
        assert any(isinstance(cell, Est | Num) for row in one.rows for cell in row)
