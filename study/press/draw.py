"""A figure as SVG, wide for the page and narrow for the phone: two drawings of the same data."""

import math
from itertools import pairwise
from typing import Literal, NamedTuple

from study.domain.figure import Band, Bar, Figure, Line, Mark, Panel, Points, Rule, Span, Whisker
from study.press import clean
from study.press.axes import Scale, Side, part, position_step, value_sides
from study.press.labels import pushed_apart
from study.press.language import Language
from study.press.plan import NARROW, ROW_LABEL, WIDE, Plan, frames_of, height_of, plans_of
from study.press.sentence import said
from study.press.sheet import LINE, SIZE, Box, Sheet, Spot, drawing_rules
from study.press.svg import finished


class Drawing(NamedTuple):
    """A chart's bytes and its size in CSS pixels; `texts` is where each text stands."""

    svg: bytes
    width: int
    height: int
    texts: tuple[Box, ...]


class Plot:
    """The rectangle in which data stand, and the way from a value to a pixel."""

    def __init__(self, box: Box, x: Scale, y: Scale, *, narrow: bool) -> None:
        self.box, self.x, self.y = box, x, y
        self._label_room = ROW_LABEL if narrow and y.categories else 0.0

    def px(self, value: float) -> float:
        """The pixel of a value on the x axis."""
        return self.box.left + part(value, self.x) * (self.box.right - self.box.left)

    def py(self, value: float) -> float:
        """The pixel of a value on the y axis; categories are counted from the top."""
        height = self.box.bottom - self.box.top
        if not self.y.categories:
            return self.box.bottom - part(value, self.y) * height
        row = height / self.y.categories
        whole = min(max(math.floor(value + 0.5), 0), self.y.categories - 1)
        return (
            self.box.top + whole * row + self._label_room + (row - self._label_room) * (value - whole + 0.5)
        )

    def thickness(self, along: Side, step: float, most: float) -> float:
        """How thick a bar is that leaves air beside it."""
        if along == "x":
            row = (self.box.bottom - self.box.top) / max(1.0, self.y.end - self.y.start)
            return max(4.0, min(most, (row - self._label_room) * step * 0.66))
        slot = (self.box.right - self.box.left) / max(1.0, self.x.end - self.x.start)
        return max(4.0, min(2.4 * most, slot * step * 0.62))


def draw(figure: Figure, speech: Language, *, narrow: bool) -> Drawing:
    """Draw a figure in a language, 820 or 358 pixels wide.

    Raises:
        OurFault: an axis has nothing to show.
    """
    width = NARROW if narrow else WIDE
    with drawing_rules():
        plans = plans_of(figure, speech, narrow=narrow)
        height = round(height_of(figure, plans, narrow=narrow))
        sheet = Sheet(width, height)
        for plan, frame in zip(plans, frames_of(plans, width, height, narrow=narrow), strict=True):
            _panel(sheet, plan, frame, speech, narrow=narrow)
        raw = sheet.svg()
    svg = finished(
        raw,
        key=figure.key + ("-narrow" if narrow else ""),
        title=clean.one_line(said(figure.title, speech)),
        description=clean.one_line(said(figure.alt, speech), 1000),
        lang=speech.code,
    )
    return Drawing(svg, width, height, tuple(sheet.texts))


def _panel(sheet: Sheet, plan: Plan, frame: Box, speech: Language, *, narrow: bool) -> None:
    box = Box(
        frame.left + plan.left, frame.top + plan.top, frame.right - plan.right, frame.bottom - plan.bottom
    )
    plot = Plot(box, plan.x, plan.y, narrow=narrow)
    _head(sheet, plan, frame)
    _grid(sheet, plan, plot)
    _y_labels(sheet, plan, plot, frame, narrow=narrow)
    _x_labels(sheet, plan, plot, frame)
    for mark in plan.panel.marks:
        _mark(sheet, mark, plot, plan.panel)
    _end_labels(sheet, plan, plot)
    for mark in plan.panel.marks:
        _mark_label(sheet, mark, plot, frame, panel=plan.panel, speech=speech)


def _head(sheet: Sheet, plan: Plan, frame: Box) -> None:
    """Title, the y axis's title, and the legend, each on lines of their own."""
    base = frame.top + 13.0
    for words in plan.title:
        sheet.write(words, Spot(frame.left, base), shade="ink", bold=True)
        base += LINE + 3
    if plan.y_title:
        sheet.write(plan.y_title, Spot(frame.left, base), size=12)
        base += LINE + 3
    for entry in plan.legend:
        left, line = frame.left + entry.offset, base + entry.row * (LINE + 3)
        mark = entry.mark
        if isinstance(mark, Line):
            dashes = (5.0, 4.0) if mark.dashed else None
            sheet.stroke([left, left + 22], [line - 4.5] * 2, shade=mark.token, width=2.0, dashes=dashes)
        hollow = isinstance(mark, Points) and mark.hollow
        sheet.stamp([left + 11], [line - 4.5], mark.marker, shade=mark.token, size=7.0, hollow=hollow)
        sheet.write(entry.text, Spot(left + 28, line), shade="ink")


def _grid(sheet: Sheet, plan: Plan, plot: Plot) -> None:
    """Lines across at the ticks of the value axis, and the base line."""
    box = plot.box
    for side in value_sides(plan.panel):
        made = plan.x if side == "x" else plan.y
        for tick in made.ticks if not made.categories else ():
            if side == "y":
                sheet.stroke([box.left, box.right], [plot.py(tick)] * 2, shade="grid", layer=0.2)
            else:
                sheet.stroke([plot.px(tick)] * 2, [box.top, box.bottom], shade="grid", layer=0.2)
    base = plot.py(0.0) if not plan.y.categories and not plan.y.log and plan.y.start <= 0 else box.bottom
    sheet.stroke([box.left, box.right], [base, base], shade="rule", layer=2)
    if plan.x.start <= 0 < plan.x.end and plan.y.categories:
        sheet.stroke([plot.px(0.0)] * 2, [box.top, box.bottom], shade="rule", layer=2)


def _y_labels(sheet: Sheet, plan: Plan, plot: Plot, frame: Box, *, narrow: bool) -> None:
    room = plot.box.bottom + 6.0
    for tick, lines in sorted(zip(plan.y.ticks, plan.y_labels, strict=True), key=lambda t: plot.py(t[0])):
        if plan.y.categories and narrow:
            row = (plot.box.bottom - plot.box.top) / plan.y.categories
            sheet.write(lines[0], Spot(frame.left, plot.box.top + tick * row + 13.0), shade="ink")
            continue
        middle = plot.py(tick) + 0.36 * SIZE
        if plan.y.categories:
            for i, line in enumerate(lines):
                base = middle + (i - (len(lines) - 1) / 2) * (LINE - 1)
                sheet.write(line, Spot(plot.box.left - 8, base, "end"), shade="ink")
            continue
        box = sheet.box_of(lines[0], Spot(plot.box.left - 8, middle, "end"))
        if middle <= room and not any(box.touches(other) for other in sheet.texts):
            sheet.write(lines[0], Spot(plot.box.left - 8, middle, "end"))


def _x_labels(sheet: Sheet, plan: Plan, plot: Plot, frame: Box) -> None:
    """Labels under the ticks, then the axis's title."""
    top = plot.box.bottom
    if plan.x.categories:
        for tick, lines in zip(plan.x.ticks, plan.x_labels, strict=True):
            for i, line in enumerate(lines):
                sheet.write(line, Spot(plot.px(tick), top + 19 + i * LINE, "middle"), shade="ink")
    else:
        for tick in plan.x.ticks:
            sheet.stroke([plot.px(tick)] * 2, [top, top + 4], shade="rule", layer=2)
        for text, spot in _tick_labels(sheet, plan, plot):
            sheet.write(text, spot)
    if plan.x_title:
        base = top + 19 + max(len(lines) for lines in plan.x_labels) * LINE + 3 if plan.x_labels else top + 22
        middle = (plot.box.left + plot.box.right) / 2
        half = sheet.width_of(plan.x_title, size=12) / 2
        middle = max(frame.left + half, min(middle, frame.right - half))
        sheet.write(plan.x_title, Spot(middle, base, "middle"), size=12)


def _tick_labels(sheet: Sheet, plan: Plan, plot: Plot) -> list[tuple[str, Spot]]:
    """As many of the ticks' labels as have room: every one, every second and so on; the last has the unit.

    Where no even choice has room (device counts crowd on the left), labels are taken from the right.
    """
    ticks, words = plan.x.ticks, [lines[0] for lines in plan.x_labels]
    base = plot.box.bottom + 19

    def chosen(indices: list[int]) -> tuple[list[tuple[str, Spot]], bool]:
        texts = [words[i] + (plan.x_mark if i == indices[-1] else "") for i in indices]
        placed = [
            (text, Spot(plot.px(ticks[i]), base, "middle")) for text, i in zip(texts, indices, strict=True)
        ]
        boxes = [sheet.box_of(text, spot) for text, spot in placed]
        return placed, all(a.right + 8 <= b.left for a, b in pairwise(boxes))

    count = len(ticks)
    gaps = [plot.px(b) - plot.px(a) for a, b in pairwise(ticks)]
    if gaps and max(gaps) - min(gaps) < 1.0:
        for stride in range(1, count):
            placed, free = chosen(list(range(0, count, stride)))
            if free:
                return placed
    kept: list[int] = []
    for i in reversed(range(count)):
        if chosen([i, *kept])[1]:
            kept.insert(0, i)
    return chosen(kept)[0] if kept else []


def _mark(sheet: Sheet, mark: Mark, plot: Plot, panel: Panel) -> None:
    match mark:
        case Line():
            _line(sheet, mark, plot)
        case Band():
            xs = [plot.px(x) for x in mark.x]
            low, high = [plot.py(y) for y in mark.low], [plot.py(y) for y in mark.high]
            sheet.area(xs, low, high, shade=mark.token, opacity=0.17, clip=plot.box)
        case Points():
            xs, ys = [plot.px(x) for x in mark.x], [plot.py(y) for y in mark.y]
            size = 4.6 if mark.small else 7.4
            sheet.stamp(xs, ys, mark.marker, shade=mark.token, size=size, hollow=mark.hollow, layer=4)
        case Whisker():
            _whisker(sheet, mark, plot)
        case Bar():
            _bar(sheet, mark, plot, panel)
        case Rule():
            dashes = (5.0, 4.0) if mark.dashed else None
            width = 1.3 if mark.token == "muted" else 1.7  # noqa: S105 - a colour token is not a password
            box = plot.box
            if mark.along == "x":
                xs, ys = [plot.px(mark.at)] * 2, [box.top - 2, box.bottom]
            else:
                xs, ys = [box.left, box.right], [plot.py(mark.at)] * 2
            sheet.stroke(xs, ys, shade=mark.token, width=width, dashes=dashes, layer=3)
            sheet.bodies.append(Box(min(xs) - 1, min(ys) - 1, max(xs) + 1, max(ys) + 1))
        case Span():
            left, right = sorted((plot.px(mark.low), plot.px(mark.high)))
            box = plot.box._replace(left=max(left, plot.box.left), right=min(right, plot.box.right))
            if box.left < box.right:
                sheet.fill(box, shade=mark.token, opacity=0.12, layer=0.1)


def _line(sheet: Sheet, mark: Line, plot: Plot) -> None:
    xs, ys = [plot.px(x) for x in mark.x], [plot.py(y) for y in mark.y]
    box = plot.box
    clip = Box(box.left - 5, box.top - 5, box.right + 5, box.bottom + 5)
    dashes = (5.0, 4.0) if mark.dashed else None
    width = 1.4 if mark.dashed else 2.1
    cap: Literal["butt", "round"] = "butt" if mark.dashed else "round"
    sheet.stroke(xs, ys, shade=mark.token, width=width, dashes=dashes, layer=3, clip=clip, cap=cap)
    sheet.stamp(xs, ys, mark.marker, shade=mark.token, size=7.4, layer=5)


def _whisker(sheet: Sheet, mark: Whisker, plot: Plot) -> None:
    """The value with its interval as a bar with caps; without an interval, the marker alone."""
    held = mark.estimate
    box = plot.box
    if held.low is not None and held.high is not None:
        if mark.along == "y":
            at = plot.px(mark.at)
            low, high = (max(box.top, min(plot.py(v), box.bottom)) for v in (held.low, held.high))
            sheet.stroke([at, at], [low, high], shade=mark.token, width=2.0, layer=4)
            for end in (low, high):
                sheet.stroke([at - 4, at + 4], [end, end], shade=mark.token, width=1.6, layer=4)
            sheet.bodies.append(Box(at - 4, min(low, high), at + 4, max(low, high)))
        else:
            at = plot.py(mark.at)
            low, high = (max(box.left, min(plot.px(v), box.right)) for v in (held.low, held.high))
            sheet.stroke([low, high], [at, at], shade=mark.token, width=2.0, layer=4)
            for end in (low, high):
                sheet.stroke([end, end], [at - 4, at + 4], shade=mark.token, width=1.6, layer=4)
            sheet.bodies.append(Box(min(low, high), at - 4, max(low, high), at + 4))
    x, y = _point(mark, plot)
    sheet.stamp([x], [y], mark.marker, shade=mark.token, size=8.0, hollow=mark.hollow, layer=6)


def _bar(sheet: Sheet, mark: Bar, plot: Plot, panel: Panel) -> None:
    sheet.fill(_bar_box(mark, plot, panel), shade=mark.token, hatched=mark.hatched, layer=2.5, body=True)


def _bar_box(mark: Bar, plot: Plot, panel: Panel) -> Box:
    half = plot.thickness(mark.along, position_step(panel.marks, mark.along), 24.0) / 2
    if mark.along == "x":
        left, right = sorted((plot.px(0.0), plot.px(mark.value)))
        at = plot.py(mark.at)
        return Box(left, at - half, right, at + half)
    top, bottom = sorted((plot.py(mark.value), plot.py(0.0)))
    at = plot.px(mark.at)
    return Box(at - half, top, at + half, bottom)


def _point(mark: Whisker, plot: Plot) -> tuple[float, float]:
    if mark.along == "y":
        return plot.px(mark.at), plot.py(mark.estimate.value)
    return plot.px(mark.estimate.value), plot.py(mark.at)


def _end_labels(sheet: Sheet, plan: Plan, plot: Plot) -> None:
    """Names at the ends of lines, pushed apart; one that had to move keeps a thread to its line."""
    if not plan.ends:
        return
    wanted = [max(plot.box.top, min(plot.py(end.y), plot.box.bottom)) for end in plan.ends]
    heights = [len(end.lines) * LINE + 2.0 for end in plan.ends]
    low, high = plot.box.top - 10.0, plot.box.bottom + 4.0
    for end, wish, centre in zip(plan.ends, wanted, pushed_apart(wanted, heights, low, high), strict=True):
        x = min(plot.px(end.x), plot.box.right)
        moved = abs(centre - wish) > 5.0
        if moved:
            sheet.stroke([x + 6, x + 14], [wish, centre], shade=end.token, width=0.9, layer=2.8, opacity=0.75)
        for i, line in enumerate(end.lines):
            base = centre + (i - (len(end.lines) - 1) / 2) * LINE + 0.36 * SIZE
            sheet.write(line, Spot(x + (17 if moved else 10), base), shade=end.token, halo=True)


def _mark_label(sheet: Sheet, mark: Mark, plot: Plot, frame: Box, *, panel: Panel, speech: Language) -> None:
    """The words of a single mark, at the first place beside it where they disturb nothing."""
    match mark:
        case Whisker() if mark.value_label is not None:
            _whisker_label(sheet, mark, said(mark.value_label, speech), plot, frame)
        case Bar() if mark.value_label is not None:
            _bar_label(sheet, mark, said(mark.value_label, speech), frame, _bar_box(mark, plot, panel))
        case Rule() if mark.label is not None:
            _rule_label(sheet, mark, said(mark.label, speech), plot, frame)
        case Span() if mark.label is not None:
            _span_label(sheet, mark, said(mark.label, speech), plot)
        case _:
            pass


def _whisker_label(sheet: Sheet, mark: Whisker, text: str, plot: Plot, frame: Box) -> None:
    x, y = _point(mark, plot)
    held = mark.estimate
    low = held.value if held.low is None else held.low
    high = held.value if held.high is None else held.high
    if mark.along == "y":
        top, bottom = plot.py(high), plot.py(low)
        spots = [
            Spot(x, min(top, y - 5) - 6, "middle"),
            Spot(x + 9, y + 4.5),
            Spot(x - 9, y + 4.5, "end"),
            Spot(x, max(bottom, y + 5) + 15, "middle"),
        ]
    else:
        left, right = min(plot.px(low), x - 5), max(plot.px(high), x + 5)
        spots = [Spot(right + 8, y + 4.5), Spot(left - 8, y + 4.5, "end"), Spot(x, y - 9, "middle")]
    sheet.write_where_free(text, spots, shade="ink", within=frame)


def _bar_label(sheet: Sheet, mark: Bar, text: str, frame: Box, box: Box) -> None:
    """Behind the bar's end, or on the bar where there is no room behind it."""
    shade = mark.token if mark.hatched else "ink"
    text = sheet.fitted(text, frame.right - frame.left - 8, bold=mark.hatched)
    if mark.along == "x":
        base = (box.top + box.bottom) / 2 + 4.5
        spots = [Spot(box.right + 7, base), Spot(box.left - 7, base, "end")]
        if mark.value >= 0:
            spots = spots[:1]
    else:
        middle = (box.left + box.right) / 2
        spots = [Spot(middle, box.top - 6, "middle"), Spot(middle, box.bottom + 15, "middle")]
        if mark.value >= 0:
            spots = spots[:1]
    if sheet.write_where_free(text, spots, shade=shade, within=frame, bold=mark.hatched):
        return
    room = box._replace(left=box.left + 4, right=box.right - 4, top=box.top - 4, bottom=box.bottom + 4)
    if mark.along == "x" and not mark.hatched:
        inside = [Spot(box.right - 8, (box.top + box.bottom) / 2 + 4.5, "end")]
        if sheet.write_where_free(
            text, inside, shade="onfill", within=room, bold=True, bodies=False, halo=False
        ):
            return
    on_bar = [Spot(box.right - 8, (box.top + box.bottom) / 2 + 4.5, "end")] if mark.along == "x" else []
    sheet.write_where_free(
        text, [*on_bar, *spots], shade=shade, within=frame, bold=mark.hatched, bodies=False
    )


def _rule_label(sheet: Sheet, mark: Rule, text: str, plot: Plot, frame: Box) -> None:
    box = plot.box
    text = sheet.fitted(text, 0.7 * (frame.right - frame.left))
    if mark.along == "x":
        half = sheet.width_of(text) / 2
        at = plot.px(mark.at)
        centre = max(frame.left + half, min(at, frame.right - half))
        spots = [Spot(centre, box.top - 7, "middle")]
        spots += [Spot(at + 6, box.top + 14 + i * LINE) for i in range(6)]
        spots += [Spot(at - 6, box.top + 14 + i * LINE, "end") for i in range(6)]
    else:
        at = plot.py(mark.at)
        spots = [
            Spot(box.right, at - 5, "end"),
            Spot(box.left + 4, at - 5),
            Spot((box.left + box.right) / 2, at - 5, "middle"),
            Spot(box.right, at + 14, "end"),
            Spot(box.left + 4, at + 14),
        ]
    if not sheet.write_where_free(text, spots, shade=mark.token, within=frame):
        sheet.write_where_free(text, spots, shade=mark.token, within=frame, bodies=False)


def _span_label(sheet: Sheet, mark: Span, text: str, plot: Plot) -> None:
    """Inside the stretch if it is wide enough, else beside it; low or high, wherever the lines are not."""
    box = plot.box
    left, right = sorted((plot.px(mark.low), plot.px(mark.high)))
    text = sheet.fitted(text, box.right - box.left - 8)
    rows = [box.top + 14, box.bottom - 8, *(box.bottom - 8 - i * LINE for i in range(1, 8))]
    spots = [Spot(x, y, anchor) for y in rows for x, anchor in ((left + 5, "start"), (right - 5, "end"))]  # type: ignore[arg-type]
    within = box._replace(left=box.left, right=box.right)
    if not sheet.write_where_free(text, spots, shade=mark.token, within=within):
        sheet.write_where_free(text, spots, shade=mark.token, within=within, bodies=False)
