"""Captions that name what is drawn."""

from study.article.captions import caption
from study.domain.figure import Axis, Panel, Points, Whisker
from study.domain.text import said

BLUE = "s1"


def panel(*marks):
    """A panel with these marks."""
    axis = Axis(title=said("a"))
    return Panel(title=said("p"), x=axis, y=axis, marks=marks)


def test_marks_that_are_drawn_are_named_in_order(make, say):
    """What the figure says itself comes first, then rings, whiskers, bare and hollow marks."""
    ring = Points(x=(1.0,), y=(1.0,), token=BLUE, hollow=True, small=True)
    sure = Whisker(at=1.0, estimate=make.estimate(1.0), token=BLUE)
    bare = Whisker(at=2.0, estimate=make.bare(1.0), token=BLUE, hollow=True)

    words = say(caption([panel(ring, sure), panel(bare)], said("First.")))

    starts = ["First.", "Small rings", "Whiskers are", "Where an estimate has no whiskers", "At hollow marks"]
    places = [words.index(start) for start in starts]
    assert places == sorted(places)


def test_marks_that_are_not_drawn_are_not_named(make, say):
    """A base is exact: it has no whiskers, and that is no lack."""
    base = Whisker(at=1.0, estimate=make.exact(1.0), token=BLUE)

    assert say(caption([panel(base)], said("First."))) == "First."
