"""A strategy in words, with the options that a reader has to know: "pipeline (1f1b, 8 micro-batches)"."""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from study.domain.fact import Level
from study.domain.shelf import StrategyFacts, facts, module_names
from study.domain.trial import Cell

_ONE = re.compile(r"(?<=ch)es$|s$")
"""What a plural has more than its singular: micro-batches, chunks."""


def strategy_words(cell: Cell, among: Iterable[Cell]) -> str:
    """The strategy, and behind it the options that are not at their default or differ among like cells.

    Like cells have the same workload, task and strategy.
    """
    this = (cell.workload, cell.task, cell.strategy)
    alike = [other for other in among if (other.workload, other.task, other.strategy) == this]
    defaults = _defaults(cell.strategy)
    shown = [
        _option(name, value)
        for name, value in sorted(cell.strategy_options.items(), key=_words_first)
        if value != defaults.get(name, value)
        or any(other.strategy_options.get(name, value) != value for other in alike)
    ]
    return f"{cell.strategy} ({', '.join(shown)})" if shown else cell.strategy


@cache
def _defaults(strategy: str) -> Mapping[str, Level]:
    """The default options of a strategy; none of one that is not on the shelf any more."""
    known = strategy in module_names("strategies")
    return facts("strategies", strategy, StrategyFacts).options if known else {}


def _words_first(option: tuple[str, Level]) -> tuple[bool, str]:
    """A schedule is named before the numbers that belong to it."""
    name, value = option
    return not isinstance(value, str), name


def _option(name: str, value: Level) -> str:
    """A word as it is, a switch by its name, a count before its noun, a number behind its name."""
    if isinstance(value, str):
        return value
    words = name.replace("micro_", "micro-").replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"no {words}"
    if not words.endswith("s"):
        return f"{words} {value:g}"
    return f"{value:g} {_ONE.sub('', words) if value == 1 else words}"
