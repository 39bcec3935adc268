"""All attempts as one pandas frame."""

import msgspec
import pytest
from fakes.records import failed

from study.analysis.frame import frame


def test_one_row_an_attempt(quick):
    """Every attempt has a row; only the one that counts is marked."""
    _, records = quick
    again = msgspec.structs.replace(records[0], attempt=2)

    table = frame([failed(records[0]), again, *records[1:]])

    rows = table[table.trial == records[0].trial]
    assert len(table) == len(records) + 1
    assert list(rows.counts) == [False, True]


def test_a_failed_attempt_has_missing_numbers(quick):
    """Missing never becomes zero, and its outcome and fault are there."""
    _, records = quick

    row = frame([failed(records[0])]).iloc[0]

    assert row[["rate_per_s", "wall_s", "work", "steps", "peak_memory_bytes"]].isna().all()
    assert (row.outcome, row.fault) == ("failed", "RuntimeError: the loss is not finite")


def test_rows_hold_work_over_wall_time(quick):
    """The rate of each row is its work over its wall time, in the units that the names say."""
    _, records = quick

    table = frame(records)

    assert (table.work / table.wall_s - table.rate_per_s).abs().max() == pytest.approx(0, abs=1e-9)
    assert (table.step_mean_s * table.steps / table.wall_s - 1).abs().max() < 1e-3


def test_the_order_of_records_does_not_matter(quick):
    """Reversed records give the same frame."""
    _, records = quick

    assert frame(records).equals(frame(records[::-1]))


def test_no_records_give_an_empty_frame():
    """Nothing measured is an empty table."""
    assert frame([]).empty
