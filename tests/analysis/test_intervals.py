"""Student t intervals on logs, against closed forms, scipy and a by-hand table."""

import math

import numpy as np
import pytest
from scipy import stats

from study.analysis import reasons
from study.analysis.intervals import (
    LogMean,
    estimate,
    exact,
    mapped,
    of_cell,
    of_values,
    p_value,
    paired,
    quantile,
    welch,
)

A = [101.0, 99.0, 103.0, 98.0, 100.5]
B = [50.2, 49.7, 50.9, 50.0, 48.8, 50.4]


def test_the_value_is_total_work_over_total_time(repeats_of):
    """For equal work that is the harmonic mean: 2/(1/10 + 1/30) is 15, not 20."""
    cell = repeats_of([10.0, 30.0])

    assert cell.rate == pytest.approx(15.0)
    assert of_cell(cell).value == pytest.approx(15.0)


def test_t_interval_by_hand(repeats_of):
    """Logs 0, 1, 2: mean 1, sd 1, t(0.975, 2) = 4.302653, so exp(1 ± 4.302653/sqrt 3)."""
    cell = repeats_of([1.0, math.e, math.e**2])

    found = estimate(of_cell(cell))

    half = 4.302652729696142 / math.sqrt(3)
    assert found.low == pytest.approx(math.exp(1 - half), rel=1e-10)
    assert found.high == pytest.approx(math.exp(1 + half), rel=1e-10)
    assert (found.n, found.method, found.level) == (3, "t_log", 0.95)


def test_t_interval_agrees_with_scipy(repeats_of):
    """The interval of five trials is scipy's t interval of the logs, at another level too."""
    logs = np.log(A)

    for level in (0.95, 0.99):
        low, high = stats.t.interval(level, 4, logs.mean(), stats.sem(logs))
        found = estimate(of_cell(repeats_of(A)), level=level)
        assert (found.low, found.high) == pytest.approx((math.exp(low), math.exp(high)), rel=1e-9)


@pytest.mark.parametrize(("df", "table"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)])
def test_quantiles_of_student_are_those_of_the_printed_tables(df, table):
    """t(0.975) to the three decimals of the tables."""
    assert quantile(0.975, df) == pytest.approx(table, abs=5e-4)


def test_welch_agrees_with_scipy(repeats_of):
    """Interval and p of the ratio are those of scipy's Welch test on the logs."""
    result = stats.ttest_ind(np.log(A), np.log(B), equal_var=False)
    interval = result.confidence_interval(0.95)

    ratio = welch(repeats_of(A), repeats_of(B))
    found = estimate(ratio)

    assert (found.low, found.high) == pytest.approx(
        (math.exp(interval.low), math.exp(interval.high)), rel=1e-9
    )
    assert p_value(ratio) == pytest.approx(result.pvalue, rel=1e-6)
    assert ratio.df == pytest.approx(result.df)
    assert (found.n, found.method) == (5, "welch_log")


def test_paired_agrees_with_scipy(repeats_of):
    """Interval and p of the paired ratio are those of scipy's test of the differences of logs."""
    b = [50.1, 49.0, 51.3, 49.2, 49.9]
    result = stats.ttest_rel(np.log(A), np.log(b))
    interval = result.confidence_interval(0.95)

    ratio = paired(repeats_of(A), repeats_of(b))
    found = estimate(ratio)

    assert (found.low, found.high) == pytest.approx(
        (math.exp(interval.low), math.exp(interval.high)), rel=1e-9
    )
    assert p_value(ratio) == pytest.approx(result.pvalue, rel=1e-6)
    assert found.method == "paired_t_log"


def test_pairs_are_made_by_block(repeats_of):
    """Blocks decide what is paired, not positions; a block of one side alone is left out."""
    a = repeats_of([10.0, 20.0, 40.0, 7.0], blocks=[1, 2, 3, 9])
    b = repeats_of([20.0, 5.0, 10.0, 3.0], blocks=[3, 1, 2, 8])

    ratio = paired(a, b)

    assert (ratio.n, estimate(ratio).low) == (3, pytest.approx(2.0))
    assert estimate(ratio).high == estimate(ratio).low


def test_pairing_takes_out_what_both_sides_share(repeats_of):
    """Drift that moves both cells alike leaves a paired interval of no width; Welch's is wide."""
    drift = [1.0, 1.1, 1.3, 0.9, 1.2]
    a, b = repeats_of([30 * d for d in drift]), repeats_of([10 * d for d in drift])

    narrow, wide = estimate(paired(a, b)), estimate(welch(a, b))

    assert narrow.high - narrow.low < 1e-9
    assert wide.high / wide.low > 1.5


def test_cells_without_a_common_block_are_not_paired(repeats_of):
    """No pair, no ratio."""
    assert paired(repeats_of([1.0], blocks=[1]), repeats_of([1.0], blocks=[2])) is None


@pytest.mark.parametrize("rates", [[10.0], [10.0, 11.0]])
def test_fewer_than_three_trials_have_no_interval_and_say_so(repeats_of, rates):
    """One or two trials give a point and the reason in words, for cells and both kinds of ratio."""
    cell = repeats_of(rates)

    for found, words in (
        (of_cell(cell), reasons.TOO_FEW),
        (welch(cell, repeats_of(A)), reasons.TOO_FEW),
        (paired(cell, cell), reasons.TOO_FEW_PAIRS),
    ):
        shown = estimate(found)
        assert (shown.low, shown.high, shown.refusal, shown.method) == (None, None, words, "none")
        assert p_value(found) is None


def test_trials_without_spread_have_an_interval_of_no_width(repeats_of):
    """Equal trials: both ends are the value; the ratio differs from one for certain or not at all."""
    flat, half = repeats_of([2.0, 2.0, 2.0]), repeats_of([1.0, 1.0, 1.0])

    found = estimate(welch(flat, half))

    assert (found.low, found.value, found.high) == (2.0, 2.0, 2.0)
    assert p_value(welch(flat, half)) == 0.0
    assert p_value(welch(flat, flat)) == 1.0


def test_one_side_without_spread_leaves_the_other_sides_freedom(repeats_of):
    """Welch's degrees of freedom are then those of the side that varies."""
    assert welch(repeats_of(A), repeats_of([7.0] * 9)).df == pytest.approx(4.0)


def test_the_geometric_mean_is_the_point_of_plain_values():
    """One value a trial, 1 and 4 and 16, has the mean 4."""
    assert of_values([1.0, 4.0, 16.0]).value == pytest.approx(4.0)


def test_a_falling_function_swaps_the_ends():
    """1 - x of 0.8 (0.7 to 0.9) is 0.2 (0.1 to 0.3)."""
    source = LogMean(value=0.8, mean=math.log(0.8), error=0.01, df=4, n=5, method="t_log")
    before = estimate(source)

    after = mapped(before, lambda x: 1 - x)

    assert (after.low, after.high) == (1 - before.high, 1 - before.low)
    assert (after.n, after.method, after.level) == (5, "t_log", 0.95)


def test_exact_values_have_no_interval_and_need_no_excuse():
    """A count or truth is exact."""
    assert exact(1.0, 5).method == "exact"
    assert mapped(exact(1.0, 5), lambda x: x / 2).low is None
