"""How series share panels: at most four in one, and which colour and marker each has."""

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from study.article.words import TASKS, series_model
from study.domain.figure import Marker, Token
from study.domain.summary import Analysis, SeriesSummary
from study.domain.text import Text, said

LOOKS: tuple[tuple[Token, Marker], ...] = (
    ("s1", "circle"),
    ("s2", "square"),
    ("s3", "diamond"),
    ("s4", "triangle"),
)
"""Colours in the order in which they stay apart for every colour vision; shapes tell the rest."""

REFERENCE: Token = "muted"
"""Lines that nothing was measured for, such as the ideal."""

Look = tuple[Token, Marker]

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def look(position: int) -> Look:
    """The colour and the marker at this position: all colours, then all again with other markers."""
    rounds, place = divmod(position, len(LOOKS))
    return LOOKS[place][0], LOOKS[(place + rounds) % len(LOOKS)][1]


def looks(series: Sequence[SeriesSummary]) -> dict[str, Look]:
    """One look a series, by its key, the same in every panel and figure that shows these series."""
    ordered = [one for panel in series_panels(series) for one in panel]
    return {one.series.key: look(position) for position, one in enumerate(ordered)}


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
    """Series in panels of at most four: strong and weak scaling apart, one model and task together."""
    panels: list[tuple[SeriesSummary, ...]] = []
    for same_scaling in grouped(series, lambda s: s.series.scaling):
        filling: tuple[SeriesSummary, ...] = ()
        for same_model in grouped(same_scaling, lambda s: (s.workload, s.size, s.task)):
            for chunk in in_chunks(same_model):
                if len(filling) + len(chunk) > len(LOOKS):
                    panels.append(filling)
                    filling = ()
                filling += chunk
        panels.append(filling)
    return panels


def panel_title(panel: Sequence[SeriesSummary]) -> Text:
    """What a panel's series have in common."""
    strong = panel[0].series.scaling == "strong"
    first = panel[0]
    if len({(s.workload, s.size, s.task) for s in panel}) > 1:
        return said("Strong scaling") if strong else said("Weak scaling")
    model, task = series_model(first), TASKS[first.task]
    if strong:
        return said("Strong scaling: {model}, {task}", model=model, task=task)
    return said("Weak scaling: {model}, {task}", model=model, task=task)
