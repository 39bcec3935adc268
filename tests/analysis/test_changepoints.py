"""Changes of level are found where they lie, at the price that was asked."""

import numpy as np
import pytest

from study.analysis.changepoints import FINEST, change_points


def cost(values, cuts, penalty):
    """Sum of squares about the mean of each segment, and the penalty for every cut."""
    parts = np.split(values, cuts)
    return sum(float(((part - part.mean()) ** 2).sum()) for part in parts) + penalty * len(cuts)


def every_cutting(length, shortest):
    """All ways to cut a series into segments that are long enough."""
    yield ()
    for last in range(shortest, length - shortest + 1):
        yield from ((*before, last) for before in every_cutting(last, shortest))


@pytest.mark.parametrize("shortest", [1, 2, 3, 5])
@pytest.mark.parametrize("penalty", [0.5, 3.0, 12.0])
def test_no_other_cutting_costs_less(shortest, penalty):
    """On short series, all of them can be tried."""
    random = np.random.default_rng(shortest)
    for length in (2, 7, 11, 14):
        values = random.normal(size=length) + 3 * (np.arange(length) >= random.integers(length))

        found = change_points(values, penalty, shortest)

        least = min(cost(values, cuts, penalty) for cuts in every_cutting(length, shortest))
        assert found in set(every_cutting(length, shortest))
        assert cost(values, found, penalty) == pytest.approx(least)


def test_a_change_is_found_if_it_explains_more_than_it_costs():
    """Two levels of m and k values, d apart, explain d^2 m k / (m + k)."""
    values = np.repeat([0.0, 2.0], [30, 10])
    explained = 2.0**2 * 30 * 10 / 40

    assert change_points(values, explained * 1.001, 5) == ()
    assert change_points(values, explained * 0.999, 5) == (30,)


def test_segments_are_not_shorter_than_asked():
    """A peak of three values becomes a segment of five."""
    values = np.zeros(60)
    values[40:43] = 10.0

    cuts = change_points(values, 1.0, 5)

    assert len(cuts) == 2
    assert cuts[1] - cuts[0] == 5
    assert cuts[0] <= 40
    assert cuts[1] >= 43


def test_the_longest_last_segment_wins_a_tie():
    """Without a penalty, equal values could be cut anywhere."""
    assert change_points(np.ones(100), 0.0, 5) == ()


@pytest.mark.parametrize("length", [1, 5, 9])
def test_what_is_shorter_than_two_segments_has_no_change(length):
    """There is no room for one."""
    assert change_points(np.arange(length, dtype=float), 1e-9, 5) == ()


def test_small_changes_on_a_large_offset_are_not_lost():
    """Sums of a hundred million could not hold them."""
    values = 1e8 + np.repeat([0.0, 1e-3], [400, 600])

    assert change_points(values, 1e-6, 20) == (400,)


@pytest.mark.parametrize("length", [FINEST - 1, FINEST, FINEST + 1, 5 * FINEST + 3])
def test_long_series_are_cut_to_a_two_thousandth_of_their_length(length):
    """A change is found as near as the grid allows, and no segment is too short on it."""
    random = np.random.default_rng(1)
    change = length * 3 // 5
    values = random.normal(size=length) * 0.2
    values[change:] += 1.0

    cuts = change_points(values, 30.0, length // 40)

    assert len(cuts) == 1
    assert abs(cuts[0] - change) <= max(1, length / FINEST)
