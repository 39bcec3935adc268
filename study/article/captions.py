"""Captions that name the marks which a figure has, and no others."""

from collections.abc import Iterable

from study.article.words import in_a_row
from study.domain.figure import Mark, Panel, Points, Whisker
from study.domain.text import Text, said

RINGS = said("Small rings are trials.")
WHISKERS = said("Whiskers are pointwise confidence intervals.")
BARE = said("Where an estimate has no whiskers, there were too few trials for an interval.")
HOLLOW = said(
    "At hollow marks more threads ran than the machine has cores; they do not show how devices scale."
)


def caption(panels: Iterable[Panel], *first: Text, rings: bool = True) -> Text:
    """What a figure has of its own to say, then what its rings, whiskers and hollow marks are.

    Without `rings` the figure has said itself what they are.
    """
    marks: list[Mark] = [mark for panel in panels for mark in panel.marks]
    whiskers = [mark for mark in marks if isinstance(mark, Whisker)]
    named = (
        (RINGS, rings and any(isinstance(mark, Points) and mark.small for mark in marks)),
        (WHISKERS, any(whisker.estimate.low is not None for whisker in whiskers)),
        (BARE, any(whisker.estimate.method == "none" for whisker in whiskers)),
        (HOLLOW, any(whisker.hollow for whisker in whiskers)),
    )
    return in_a_row(*first, *(sentence for sentence, drawn in named if drawn))
