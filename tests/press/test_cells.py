"""Tables as they are laid out: one unit a column, intervals beneath, reasons for what is missing."""

from types import ModuleType
from typing import Any

from study.domain.estimate import Estimate
from study.domain.figure import Column, Missing, Table, TableCell
from study.domain.text import Est, Num, Slot, name, said
from study.press.cells import Grid, grid
from study.press.language import language
from study.press.sentence import said as spoken


def said_in(slot: Slot) -> str:
    """A slot in plain English."""
    return spoken(slot, language("en"))


N = "\u00a0"


def test_a_unit_stands_in_the_head_and_not_in_the_cells(sample: ModuleType) -> None:
    """Rates share one unit; signs stay with their numbers."""
    laid = grid(sample.memory_figure().table, language("en"))

    assert [head.unit for head in laid.heads] == ["", "GiB", "tokens/s", ""]
    assert [cell.digits for cell in laid.rows[1][1:3]] == ["38.6", "2,386"]
    assert laid.rows[1][2].interval == "2,346–2,426"


def test_one_column_has_one_unit_of_bytes() -> None:
    """Large and small amounts of memory are told in the unit of the largest."""
    column = Column(key="memory_bytes", title=said("Memory"), style="bytes")
    rows = tuple((Num(value=v, style="bytes"),) for v in (2.0**33, 2.0**28))

    laid = grid(Table(key="t", caption=said("c"), columns=(column,), rows=rows), language("en"))

    assert laid.heads[0].unit == "GiB"
    assert [row[0].digits for row in laid.rows] == ["8", "0.250"]


def test_what_has_another_unit_than_its_column_says_so(sample: ModuleType) -> None:
    """Images and tokens in one column keep their units."""
    laid = grid(sample.base_table(), language("en"))

    assert laid.heads[1].unit == ""
    assert laid.rows[0][1].digits == f"438.0{N}images/s"
    assert laid.rows[2][2].digits == f"25,600{N}tokens/s"


def test_a_unit_that_the_title_names_is_not_repeated() -> None:
    """A head says its unit once."""
    column = Column(key="power_w", title=said("Power, W"), style="watt")
    rows: tuple[tuple[Slot, ...], ...] = ((Num(value=3.0, style="watt"),),)

    assert (
        grid(Table(key="t", caption=said("c"), columns=(column,), rows=rows), language("en")).heads[0].unit
        == ""
    )


def test_what_is_missing_has_a_reason_and_no_number(sample: ModuleType) -> None:
    """A dash is never a zero, and sorts as no number."""
    laid = grid(sample.memory_figure().table, language("en"))

    cell = laid.rows[0][2]
    assert (cell.digits, cell.sort, cell.mark) == ("–", "", "a")
    assert [(note.mark, note.reason) for note in laid.notes] == [
        ("a", reason.reason)
        for row in sample.memory_figure().table.rows
        for reason in row
        if isinstance(reason, Missing)
    ][:1]


def column(key: str, **more: Any) -> Column:
    """A column under its key."""
    return Column(key=key, title=said(key), **more)


def laid_out(*columns: Column, rows: tuple[tuple[TableCell, ...], ...]) -> Grid:
    """A table of these columns, laid out in English."""
    return grid(Table(key="t", caption=said("c"), columns=columns, rows=rows), language("en"))


def test_a_reason_stands_once_under_its_letter() -> None:
    """Equal reasons share a letter, others have the next."""
    few, none = Missing(reason=said("Too few.")), Missing(reason=said("None."))
    laid = laid_out(column("who"), column("a"), column("b"), rows=(
        (name("x"), few, Num(value=1.0)), (name("y"), none, few), (name("z"), few, Num(value=2.0)),
    ))  # fmt: skip

    assert [[cell.mark for cell in row] for row in laid.rows] == [
        ["", "a", ""],
        ["", "b", "a"],
        ["", "a", ""],
    ]
    assert [(note.mark, note.reason.frame) for note in laid.notes] == [("a", "Too few."), ("b", "None.")]


def test_letters_go_on_after_z() -> None:
    """The twenty-seventh reason is under aa."""
    rows = tuple((name(str(i)), Missing(reason=said("{i}.", i=name(str(i))))) for i in range(28))

    notes = laid_out(column("who"), column("a"), rows=rows).notes

    assert [note.mark for note in notes[25:]] == ["z", "aa", "ab"]


def test_what_is_the_same_in_all_rows_is_said_once() -> None:
    """Such a column stands in the caption; the first column and a table of one row stay whole."""
    gone = Missing(reason=said("Nobody looked."))
    columns = (column("who"), column("n"), column("m"), column("rate"))
    rows = tuple((name("x"), Num(value=5.0), gone, Num(value=v)) for v in (1.0, 2.0))

    laid, single = laid_out(*columns, rows=rows), laid_out(*columns, rows=rows[:1])

    assert [said_in(head.title) for head in laid.heads] == ["who", "rate"]
    assert [said_in(text) for text in laid.shared] == [
        "In all rows: n 5.",
        "No row has a value under “m”: Nobody looked.",
    ]
    assert laid.notes == ()
    assert len(single.heads) == 4
    assert single.shared == ()


def test_a_column_of_units_takes_them_out_of_the_cells() -> None:
    """Mixed rates stand bare beside their units; one unit stands in the heads and needs no column."""

    def rate(value: float, unit: str) -> Num:
        return Num(value=value, style="rate", unit=unit)

    unit = Column(key="unit", title=said("Unit"), numeric=False)
    mixed = laid_out(column("who"), column("rate", style="rate"), unit, rows=(
        (name("x"), rate(12.0, "images"), name("images/s")),
        (name("y"), rate(34.0, "tokens"), name("tokens/s")),
    ))  # fmt: skip
    shared = laid_out(column("who"), column("rate", style="rate", unit="tokens"), unit, rows=(
        (name("x"), rate(12.0, "tokens"), name("tokens/s")),
        (name("y"), rate(34.0, "tokens"), name("tokens/s")),
    ))  # fmt: skip

    assert [row[1].digits for row in mixed.rows] == ["12", "34"]
    assert len(mixed.heads) == 3
    assert [head.unit for head in shared.heads] == ["", "tokens/s"]
    assert shared.shared == ()


def test_shares_have_the_same_places_down_a_column() -> None:
    """81% does not stand beside 59.4%, with an interval or without; whole ones need no place."""

    def shares(*values: float) -> list[str]:
        wide = [Est(estimate=Estimate(value=v, low=v - 0.1, high=v + 0.1, n=5, unit="", method="t_log"),
                    style="percent") for v in values]  # fmt: skip
        bare = [Num(value=v, style="percent") for v in values]
        rows = tuple((name(str(i)), *pair) for i, pair in enumerate(zip(wide, bare, strict=True)))
        laid = laid_out(column("who"), column("a", style="percent"), column("b", style="percent"), rows=rows)
        return [cell.digits for row in laid.rows for cell in row[1:]]

    assert shares(0.81, 0.594) == ["81.0%", "81.0%", "59.4%", "59.4%"]
    assert shares(0.81, 0.59) == ["81%", "81%", "59%", "59%"]


def test_a_simultaneous_level_stands_in_the_cell() -> None:
    """An interval at another level than its column's says so."""
    held = Estimate(value=1.5, low=1.4, high=1.6, n=5, unit="", method="t_log", level=0.975)
    rows = ((name("x"), Est(estimate=held, style="ratio")),)
    laid = laid_out(column("who"), column("r", style="ratio"), rows=rows)

    assert laid.rows[0][1].interval == "97.5%: 1.40–1.60"


def test_too_few_trials_are_told_in_the_cell(sample: ModuleType) -> None:
    """A refused interval is named where the interval would stand."""
    laid = grid(sample.thermal_figure().table, language("en"))

    assert laid.rows[1][3].interval == f"n{N}={N}2, no interval"
