"""Tables as they are laid out: one unit a column, intervals beneath, reasons for what is missing."""

from types import ModuleType

from study.domain.figure import Column, Missing, Table
from study.domain.text import Num, Slot, said
from study.press.cells import grid
from study.press.language import language

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
    cell = grid(sample.memory_figure().table, language("en")).rows[0][2]

    assert isinstance(cell.reason, type(Missing(reason=said("x")).reason))
    assert (cell.digits, cell.sort) == ("–", "")


def test_too_few_trials_are_told_in_the_cell(sample: ModuleType) -> None:
    """A refused interval is named where the interval would stand."""
    laid = grid(sample.thermal_figure().table, language("en"))

    assert laid.rows[1][3].interval == f"n{N}={N}2, no interval"
