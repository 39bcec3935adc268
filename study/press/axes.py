"""Axes: from what a panel's marks span to where each axis starts, ends and has its ticks.

The result does not depend on the width of the drawing, so the wide and the narrow chart, and the sentence
about a cut axis, agree.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from study.domain.errors import OurFault
from study.domain.figure import Axis, Band, Bar, Figure, Line, Mark, Panel, Points, Rule, Span, Whisker
from study.domain.text import Num, Style, Text, said
from study.press.numbers import Numbers

Side = Literal["x", "y"]

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_WHOLE_STEPS = (1.0, 2.0, 5.0, 10.0)


class Scale(NamedTuple):
    """An axis made definite: its ends and ticks in held units. Positions of categories are 0, 1, 2."""

    start: float
    end: float
    ticks: tuple[float, ...]
    log: bool
    categories: int


def scale(panel: Panel, side: Side, numbers: Numbers) -> Scale:
    """The scale of one side of a panel.

    Raises:
        OurFault: a logarithmic axis has nothing above zero to show, or an axis nothing at all.
    """
    axis = panel.x if side == "x" else panel.y
    count = len(axis.categories)
    if count:
        return Scale(-0.5, count - 0.5, tuple(float(i) for i in range(count)), False, count)
    bars = any(isinstance(mark, Bar) and mark.along == side for mark in panel.marks)
    log = axis.scale == "log" and not bars
    values = [v for v in _spanned(panel.marks, side) if math.isfinite(v) and (v > 0 or not log)]
    values += [end for end in (axis.start, axis.end) if end is not None and (end > 0 or not log)]
    if not values:
        raise OurFault(f"the {side} axis of the panel {panel.title.frame[:60]!r} has nothing to show")
    if log:
        return _logarithmic(axis, min(values), max(values))
    return _linear(axis, values, panel, side, numbers)


def part(value: float, made: Scale) -> float:
    """How far along its axis a value lies: 0 at the start, 1 at the end."""
    if made.log:
        if value <= 0:
            return 0.0
        return math.log(value / made.start) / math.log(made.end / made.start)
    return (value - made.start) / (made.end - made.start)


def value_sides(panel: Panel) -> tuple[Side, ...]:
    """On which axes the panel's values lie: y, unless marks are laid along x or y holds categories."""
    along_x = any(isinstance(mark, Whisker | Bar) and mark.along == "x" for mark in panel.marks)
    if panel.y.categories or (along_x and not _has_values_along_y(panel)):
        return ("x",) if not panel.x.categories else ()
    return ("y",)


def axis_notes(figure: Figure, numbers: Numbers) -> tuple[Text, ...]:
    """A sentence for every value axis that is cut or logarithmic, each once."""
    notes: list[Text] = []
    for panel in figure.panels:
        for side in value_sides(panel):
            axis = panel.x if side == "x" else panel.y
            made = scale(panel, side, numbers)
            title = axis.title if axis.title.frame else panel.title
            start = Num(value=made.start, style=axis.style, unit=axis.unit)
            if made.log:
                note = said("The axis “{axis}” is logarithmic.", axis=title)
            elif made.start > 0 and not made.categories:
                note = said("The axis “{axis}” starts at {start}, not at zero.", axis=title, start=start)
            else:
                continue
            if note not in notes:
                notes.append(note)
    return tuple(notes)


def position_step(marks: Iterable[Mark], along: Side) -> float:
    """The smallest distance between neighbouring marks laid along one axis, at most one."""
    at = sorted({m.at for m in marks if isinstance(m, Bar | Whisker) and m.along == along})
    return min([1.0, *(b - a for a, b in pairwise(at))])


def _has_values_along_y(panel: Panel) -> bool:
    return any(
        isinstance(mark, Line | Points | Band) or (isinstance(mark, Whisker | Bar) and mark.along == "y")
        for mark in panel.marks
    )


def _spanned(marks: Iterable[Mark], side: Side) -> Iterator[float]:
    for mark in marks:
        match mark:
            case Line() | Points():
                yield from mark.x if side == "x" else mark.y
            case Band():
                yield from mark.x if side == "x" else (*mark.low, *mark.high)
            case Whisker() if mark.along == side:
                held = mark.estimate
                yield from (v for v in (held.value, held.low, held.high) if v is not None)
            case Bar() if mark.along == side:
                yield from (0.0, mark.value)
            case Whisker() | Bar():
                yield from (mark.at - 0.5, mark.at + 0.5) if isinstance(mark, Bar) else (mark.at,)
            case Rule() if mark.along == side:
                yield mark.at
            case Span() if side == "x":
                yield from (mark.low, mark.high)
            case _:
                pass


def _linear(axis: Axis, values: list[float], panel: Panel, side: Side, numbers: Numbers) -> Scale:
    low, high = min(values), max(values)
    is_value = side in value_sides(panel)
    bars = any(isinstance(mark, Bar) and mark.along == side for mark in panel.marks)
    if low == high:
        low, high = (min(low, 0.0), max(high, 0.0)) if low else (0.0, 1.0)
    if bars:
        low, high = min(low, 0.0), max(high, 0.0)
    elif is_value and axis.start is None and 0 <= low <= 0.55 * high:
        low = 0.0
    if axis.start is not None and not bars:
        low = axis.start
    if axis.end is not None and (not bars or axis.end >= max(values)):
        high = axis.end
    if high <= low:
        high = low + (abs(low) or 1.0)
    unit = float(numbers.measure(axis.style, axis.unit, max(abs(low), abs(high))).factor)
    step = nice_step((high - low) * unit, 5, whole=axis.style == "integer") / unit
    given = tuple(t for t in axis.ticks if low - 1e-9 * abs(low) <= t <= high + 1e-9 * abs(high))
    if is_value:
        if axis.start is None and low != 0:
            low = math.floor(low / step + 1e-9) * step
        last = math.floor(high / step + 1e-9) * step
        if axis.end is None and high > last + 0.35 * step:
            high = last + step
        elif axis.end is None:
            high = max(high + 0.04 * (high - low), last)
    elif axis.end is None and 0 < math.ceil(high / step) * step - high < 0.04 * (high - low):
        high = math.ceil(high / step) * step
    ticks = given or _distinct(values, axis, low, high) or multiples(low, high, step)
    if not is_value and axis.start is None and _marked(panel.marks):
        pad = 0.03 * (high - low)
        low, high = low - pad, (high if axis.end is not None else high + pad)
    return Scale(low, high, ticks, False, 0)


def _logarithmic(axis: Axis, low: float, high: float) -> Scale:
    low, high = (axis.start or low), (axis.end or high)
    if high <= low:
        low, high = low / 2, high * 2
    pad = (high / low) ** 0.04
    start = low if axis.start else low / pad
    end = high if axis.end else high * pad
    if axis.ticks:
        return Scale(start, end, tuple(t for t in axis.ticks if start <= t <= end), True, 0)
    if end / start < 8:
        step = nice_step(end - start, 5)
        return Scale(start, end, multiples(start, end, step), True, 0)
    within = [
        factor * 10.0**power
        for power in range(math.floor(math.log10(start)), math.ceil(math.log10(end)) + 1)
        for factor in ((1.0, 2.0, 5.0) if end / start < 300 else (1.0,))
        if start <= factor * 10.0**power <= end
    ]
    every = max(1, math.ceil(len(within) / 8))
    return Scale(start, end, tuple(within[::every]), True, 0)


def nice_step(span: float, count: int, *, whole: bool = False) -> float:
    """The distance of ticks that makes about `count` parts: 1, 2, 2.5 or 5 times a power of ten."""
    raw = span / count
    magnitude = 10.0 ** math.floor(math.log10(raw))
    steps = _WHOLE_STEPS if whole else _STEPS
    step = min(steps, key=lambda s: abs(math.log(s * magnitude / raw))) * magnitude
    return max(1.0, round(step)) if whole else step


def multiples(low: float, high: float, step: float) -> tuple[float, ...]:
    """The multiples of a step between two values, free of the dust of binary fractions."""
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(float(f"{i * step:.12g}") for i in range(first, last + 1))


def _distinct(values: Sequence[float], axis: Axis, low: float, high: float) -> tuple[float, ...]:
    """For counts, such as devices, the values themselves are the ticks if they are few."""
    style: Style = axis.style
    found = sorted({v for v in values if low <= v <= high})
    few = style == "integer" and 1 < len(found) <= 6 and all(v == round(v) for v in found)
    return tuple(found) if few else ()


def _marked(marks: Iterable[Mark]) -> bool:
    """Whether marks have a body that an axis's end would cut in half."""
    return any(isinstance(m, Whisker) or (isinstance(m, Line | Points) and m.marker != "none") for m in marks)
