"""How much room a chart's words need: the plan of every panel, before anything is drawn.

Wide, panels stand side by side, and categories stand left of their rows. Narrow, panels stand one above
another and a row's label stands above it. Margins are as large as the texts in them; nothing is scaled.
"""

from collections.abc import Sequence
from typing import NamedTuple

from study.domain.figure import Axis, Bar, Figure, Line, Panel, Points, Rule, Whisker
from study.domain.text import Text
from study.press.axes import Scale, part, position_step, scale
from study.press.language import Language
from study.press.sentence import said
from study.press.sheet import LINE, Box, Sheet

WIDE, NARROW = 820, 358
ROW_LABEL = 18.0
"""The height of a row's label where it stands above its row."""
_GAP = 34.0
_BETWEEN = 14.0
_SHORT_UNIT = 5


class Ends(NamedTuple):
    """The label at a line's end: its lines, its token, and the point to which it belongs."""

    lines: tuple[str, ...]
    token: str
    x: float
    y: float


class Entry(NamedTuple):
    """A legend's entry: whose mark it explains, its words, and its place in the legend."""

    mark: Line | Points
    text: str
    offset: float
    row: int


class Plan(NamedTuple):
    """What a panel needs around its plot, in pixels, and the words that stand there."""

    panel: Panel
    x: Scale
    y: Scale
    title: tuple[str, ...]
    y_title: str
    x_title: str
    x_labels: tuple[tuple[str, ...], ...]
    x_mark: str
    y_labels: tuple[tuple[str, ...], ...]
    legend: tuple[Entry, ...]
    ends: tuple[Ends, ...]
    left: float
    right: float
    top: float
    bottom: float
    rows: float


def plans_of(figure: Figure, speech: Language, *, narrow: bool) -> list[Plan]:
    """The plan of every panel; beside each other, panels share their upper and lower edge."""
    ruler = Sheet(WIDE, 100)
    if narrow:
        return [_plan(ruler, panel, NARROW - 4.0, speech, narrow=True) for panel in figure.panels]
    room = WIDE - 4.0 - _GAP * (len(figure.panels) - 1)
    shares = sum(panel.share for panel in figure.panels)
    plans = [
        _plan(ruler, panel, room * panel.share / shares, speech, narrow=False) for panel in figure.panels
    ]
    top, bottom = max(plan.top for plan in plans), max(plan.bottom for plan in plans)
    return [plan._replace(top=top, bottom=bottom) for plan in plans]


def _plan(ruler: Sheet, panel: Panel, room: float, speech: Language, *, narrow: bool) -> Plan:
    x, y = scale(panel, "x", speech.numbers), scale(panel, "y", speech.numbers)
    title = tuple(ruler.wrapped(said(panel.title, speech), room, 2, bold=True)) if panel.title.frame else ()
    ends = _ends(ruler, panel, room, speech)
    above_rows = narrow and bool(y.categories)
    y_texts, y_mark, y_unit = _labels(panel.y, y, speech)
    y_title = _with_unit(said(panel.y.title, speech), y_unit)
    if title and y_title == " ".join(title):
        y_title = ""
    if y.categories:
        y_labels = tuple(
            (ruler.fitted(text, room),) if above_rows else tuple(ruler.wrapped(text, 0.42 * room, 2))
            for text in y_texts
        )
    else:
        y_labels = tuple((text,) for text in (*y_texts[:-1], *(text + y_mark for text in y_texts[-1:])))
    longest = max((ruler.width_of(line) for lines in y_labels for line in lines), default=0.0)
    left = 4.0 if above_rows else longest + 10.0
    right = max(
        [10.0, *(max(ruler.width_of(line) for line in e.lines) + 16.0 for e in ends if part(e.x, x) > 0.6)]
    )
    x_texts, x_mark, x_unit = _labels(panel.x, x, speech)
    slot = (room - left - right) / max(1, x.categories)
    if x.categories:
        x_labels = tuple(tuple(ruler.wrapped(text, slot - 6, 3)) for text in x_texts)
    else:
        x_labels = tuple((text,) for text in x_texts)
        last = ruler.width_of(x_labels[-1][0] + x_mark) / 2 if x_labels else 0.0
        right = max(
            right, last - (1 - part(x.ticks[-1], x)) * (room - left - right) + 2.0 if x.ticks else 0.0
        )
    legend = _legend(ruler, panel, room, speech)
    rule_labels = any(isinstance(m, Rule) and m.along == "x" and m.label for m in panel.marks)
    value_rows = any(isinstance(m, Whisker | Bar) and m.along == "y" and m.value_label for m in panel.marks)
    x_title = _with_unit(said(panel.x.title, speech), x_unit)
    rows = len(title) + (1 if y_title else 0) + (1 + max(entry.row for entry in legend) if legend else 0)
    return Plan(
        panel=panel,
        x=x,
        y=y,
        title=title,
        y_title=ruler.fitted(y_title, room, size=12) if y_title else "",
        x_title=ruler.fitted(x_title, room, size=12) if x_title else "",
        x_labels=x_labels,
        x_mark=x_mark,
        y_labels=y_labels,
        legend=legend,
        ends=ends,
        left=left,
        right=right,
        top=rows * (LINE + 3) + 10.0 + (LINE if rule_labels else 0.0) + (6.0 if value_rows else 0.0),
        bottom=10.0
        + max((len(lines) for lines in x_labels), default=1) * LINE
        + (LINE + 4 if x_title else 4),
        rows=_room_for_rows(panel, y, narrow=narrow),
    )


def _room_for_rows(panel: Panel, y: Scale, *, narrow: bool) -> float:
    """The least height of the plot: enough for every row's marks, and its label when narrow."""
    if not y.categories:
        return 190.0 if narrow else 150.0
    each = 1.0 / position_step(panel.marks, "x")
    return (
        y.categories * max(ROW_LABEL + 11.0 * each + 8, 42.0)
        if narrow
        else y.categories * max(15.0 * each, 30.0)
    )


def height_of(figure: Figure, plans: Sequence[Plan], *, narrow: bool) -> float:
    """The height of the whole chart: as asked, or as much as its rows need."""
    if not narrow:
        return max([float(figure.height), *(_need(plan) for plan in plans)])
    least = sum(_need(plan) for plan in plans) + _BETWEEN * (len(plans) - 1)
    return max(float(figure.narrow_height), least)


def frames_of(plans: Sequence[Plan], width: float, height: float, *, narrow: bool) -> list[Box]:
    """Where each panel stands on the sheet, with all that belongs to it."""
    if narrow:
        return _stacked(plans, width, height)
    shares = sum(plan.panel.share for plan in plans)
    room = width - 4.0 - _GAP * (len(plans) - 1)
    frames, left = [], 2.0
    for plan in plans:
        right = left + room * plan.panel.share / shares
        frames.append(Box(left, 0.0, right, height))
        left = right + _GAP
    return frames


def _stacked(plans: Sequence[Plan], width: float, height: float) -> list[Box]:
    """One above another; height to spare goes to panels without rows, or to all if all have rows."""
    spare = height - sum(_need(plan) for plan in plans) - _BETWEEN * (len(plans) - 1)
    takers = [plan for plan in plans if not plan.y.categories] or list(plans)
    frames, top = [], 0.0
    for plan in plans:
        bottom = top + _need(plan) + (spare / len(takers) if plan in takers else 0.0)
        frames.append(Box(2.0, top, width - 2.0, bottom))
        top = bottom + _BETWEEN
    return frames


def _need(plan: Plan) -> float:
    """The least height of a panel."""
    return plan.top + plan.rows + plan.bottom


def _labels(axis: Axis, made: Scale, speech: Language) -> tuple[tuple[str, ...], str, str]:
    """The words at an axis's ticks, the unit for the last of them, and the unit for the axis's title.

    A short unit stands at the last tick only, a long one in the title.
    """
    if made.categories:
        return tuple(said(slot, speech) for slot in axis.categories), "", ""
    digits, unit = speech.numbers.ticks(made.ticks, axis.style, axis.unit)
    if len(unit) <= _SHORT_UNIT:
        return tuple(digits), unit, ""
    return tuple(digits), "", unit.strip()


def _with_unit(title: str, unit: str) -> str:
    if not unit or unit in title:
        return title
    return f"{title}, {unit}" if title else unit


def _ends(ruler: Sheet, panel: Panel, room: float, speech: Language) -> tuple[Ends, ...]:
    """What is written at the ends of lines: their end labels, or their names where no legend says them."""
    result = []
    for mark in panel.marks:
        if not isinstance(mark, Line) or not mark.x:
            continue
        words: Text | None = mark.end_label or (None if panel.legend else mark.label)
        if words is None:
            continue
        lines = ruler.wrapped(said(words, speech), max(96.0, 0.36 * room), 2)
        last = max(range(len(mark.x)), key=lambda i: (mark.x[i], i))
        result.append(Ends(tuple(lines), mark.token, mark.x[last], mark.y[last]))
    return tuple(result)


def _legend(ruler: Sheet, panel: Panel, room: float, speech: Language) -> tuple[Entry, ...]:
    """The legend's entries, in rows as wide as the panel; points are named there in any case."""
    entries: list[Entry] = []
    offset, row = 0.0, 0
    for mark in panel.marks:
        if not isinstance(mark, Line | Points) or mark.label is None:
            continue
        if not panel.legend and isinstance(mark, Line):
            continue
        text = ruler.fitted(said(mark.label, speech), room - 30.0)
        width = 28.0 + ruler.width_of(text) + 18.0
        if offset and offset + width - 18.0 > room:
            offset, row = 0.0, row + 1
        entries.append(Entry(mark, text, offset, row))
        offset += width
    return tuple(entries)
