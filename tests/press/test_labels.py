"""Labels pushed apart."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from study.press.labels import pushed_apart


def test_labels_with_room_stay_where_they_want() -> None:
    """Nothing moves without need."""
    assert pushed_apart([10.0, 50.0], [10.0, 10.0], 0.0, 100.0) == [10.0, 50.0]


def test_two_that_collide_give_way_equally() -> None:
    """Each moves by half of what is missing."""
    assert pushed_apart([50.0, 52.0], [10.0, 10.0], 0.0, 100.0) == [46.0, 56.0]


def test_a_chain_of_three_is_centred_on_what_it_wants() -> None:
    """A block stands at the mean of its members' wishes, also when it grew by merging."""
    assert pushed_apart([50.0, 50.0, 50.0], [10.0] * 3, 0.0, 100.0) == [40.0, 50.0, 60.0]


@given(
    st.lists(st.floats(-20, 220), min_size=1, max_size=12),
    st.floats(5, 16),
)
def test_labels_never_overlap_and_never_leave(wanted: list[float], height: float) -> None:
    """Order is kept, distances are at least a label's height, and all are inside."""
    low, high = 0.0, 200.0

    centres = pushed_apart(wanted, [height] * len(wanted), low, high)

    ordered = [centres[i] for i in sorted(range(len(wanted)), key=lambda i: (wanted[i], i))]
    assert all(b - a >= height - 1e-6 for a, b in pairwise(ordered))
    assert min(ordered) - height / 2 >= low - 1e-6
    assert max(ordered) + height / 2 <= high + 1e-6
