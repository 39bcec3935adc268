"""A cell's two means: total over total, and the centre of its interval."""

import pytest
from fakes.records import fake_run

from study.analysis import analyse


@pytest.mark.parametrize(("cv", "differ"), [(0.001, False), (0.2, True)])
def test_the_geometric_mean_is_kept_and_flagged_where_it_is_another_number(cv: float, differ: bool) -> None:
    """Its place is the middle of the interval on the log scale; the two part by half of CV squared."""
    found = [cell for cell in analyse(*fake_run(seed=3, cv=cv)).cells if cell.rate]

    for cell in found:
        assert cell.geometric_mean == pytest.approx((cell.rate.low * cell.rate.high) ** 0.5)
    assert any(cell.means_differ for cell in found) == differ
