"""How series share panels: at most four in one, and which colour and marker each has."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from study.domain.figure import Marker, Token
from study.domain.summary import Analysis, SeriesSummary
from study.article.words import count
from study.domain.text import Name, Text, said

LOOKS: tuple[tuple[Token, Marker], ...] = (
    ("s1", "circle"),
    ("s2", "square"),
    ("s3", "diamond"),
    ("s4", "triangle"),
)
"""Colours in the order in which they stay apart for every colour vision; shapes tell the rest."""

REFERENCE: Token = "muted"
"""Lines that nothing was measured for, such as the ideal."""

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def look(position: int) -> tuple[Token, Marker]:
    """The colour and the marker of the series at this position of its panel."""
    return LOOKS[position % len(LOOKS)]


def grouped(things: Sequence[T], key: Callable[[T], K]) -> list[tuple[T, ...]]:
    """The things in groups of equal key, in the order in which the keys first appear."""
    groups: dict[K, list[T]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return [tuple(group) for group in groups.values()]


def in_chunks(things: Sequence[T], size: int = len(LOOKS)) -> list[tuple[T, ...]]:
    """The things in rows of at most `size`."""
    return [tuple(things[at : at + size]) for at in range(0, len(things), size)]


def shown_series(analysis: Analysis) -> tuple[SeriesSummary, ...]:
    """The series that the article compares: known truths stand under the checks and not here."""
    return tuple(series for series in analysis.series if series.task != "check")


def series_panels(series: Sequence[SeriesSummary]) -> list[tuple[SeriesSummary, ...]]:
    """Series in panels: strong and weak scaling apart; beyond four, one panel a model and task."""
    panels: list[tuple[SeriesSummary, ...]] = []
    for same_scaling in grouped(series, lambda s: s.series.scaling):
        if len(same_scaling) <= len(LOOKS):
            panels.append(same_scaling)
            continue
        for same_model in grouped(same_scaling, lambda s: (s.workload, s.size, s.task)):
            panels.extend(in_chunks(same_model))
    return panels


def panel_title(panel: Sequence[SeriesSummary]) -> Text:
    """What a panel's series have in common."""
    strong = panel[0].series.scaling == "strong"
    if len({s.label for s in panel}) > 1:
        return said("Strong scaling") if strong else said("Weak scaling")
    label = Name(text=panel[0].label)
    if strong:
        return said("Strong scaling: {series}", series=label)
    return said("Weak scaling: {series}", series=label)


def series_labels(panel: Sequence[SeriesSummary], analysis: Analysis) -> list[Text]:
    """For every series of a panel the shortest name that tells it from the others."""
    wordings: tuple[Callable[[SeriesSummary], Text], ...] = (
        lambda one: said("{strategy}", strategy=Name(text=one.series.strategy)),
        lambda one: said("{series}", series=Name(text=one.label)),
        lambda one: said(
            "{series}, {strategy}", series=Name(text=one.label), strategy=Name(text=one.series.strategy)
        ),
        lambda one: said(
            "{series}, {strategy}, batch {batch}",
            series=Name(text=one.label),
            strategy=Name(text=one.series.strategy),
            batch=count(_batch(one, analysis)),
        ),
    )
    if len({one.label for one in panel}) > 1 or len(panel) == 1:
        wordings = wordings[1:]  # beside another model, a strategy alone names nothing
    for wording in wordings:
        labels = [wording(one) for one in panel]
        if all(labels.count(label) == 1 for label in labels):
            return labels
    return [said("{series}", series=Name(text=one.series.key)) for one in panel]


def _batch(one: SeriesSummary, analysis: Analysis) -> int:
    """The batch of a series' smallest member: what is held under strong scaling, and names it under weak."""
    return next((s.cell.batch for s in analysis.cells if s.cell_id == one.series.members[0]), 0)
