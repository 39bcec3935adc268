"""A chart as data: panels of marks, the finding as its title, and its table. The press draws it."""

from typing import Literal

from study.domain.estimate import Estimate
from study.domain.fact import Fact
from study.domain.text import Slot, Style, Text

Token = Literal["s1", "s2", "s3", "s4", "n1", "n2", "cap", "muted", "ink"]
Marker = Literal["circle", "square", "diamond", "triangle", "none"]


class Axis(Fact, frozen=True, kw_only=True):
    """One axis. `categories`, if any, are the labels of positions 0, 1, 2 and so on.

    `start` is the lowest value shown; null lets the press choose, and bars always start at zero. A
    cut axis (a start above zero) is declared by the press in the caption.
    """

    title: Text
    style: Style = "plain"
    unit: str = ""
    categories: tuple[Slot, ...] = ()
    start: float | None = None
    end: float | None = None
    ticks: tuple[float, ...] = ()
    scale: Literal["linear", "log"] = "linear"
    unknown: dict[str, str] = {}


class Line(Fact, frozen=True, kw_only=True, tag_field="kind", tag="line"):
    """Points joined by a line; `dashed` for references. `end_label` is written at the last point."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    token: Token
    marker: Marker = "circle"
    dashed: bool = False
    label: Text | None = None
    end_label: Text | None = None


class Band(Fact, frozen=True, kw_only=True, tag_field="kind", tag="band"):
    """A shaded interval around a line."""

    x: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    token: Token


class Points(Fact, frozen=True, kw_only=True, tag_field="kind", tag="points"):
    """Single observations, not joined; `hollow` marks are drawn as outlines."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    token: Token
    marker: Marker = "circle"
    hollow: bool = False
    small: bool = False
    label: Text | None = None


class Whisker(Fact, frozen=True, kw_only=True, tag_field="kind", tag="whisker"):
    """An estimate with its interval at one position; `along` is the axis on which the value lies."""

    at: float
    estimate: Estimate
    token: Token
    along: Literal["x", "y"] = "y"
    marker: Marker = "circle"
    hollow: bool = False
    value_label: Text | None = None


class Bar(Fact, frozen=True, kw_only=True, tag_field="kind", tag="bar"):
    """A bar from zero; `hatched` for what failed or is only estimated. `along` as for whiskers."""

    at: float
    value: float
    token: Token
    along: Literal["x", "y"] = "x"
    hatched: bool = False
    value_label: Text | None = None


class Rule(Fact, frozen=True, kw_only=True, tag_field="kind", tag="rule"):
    """A reference line across the panel, at `at` on the axis `along`."""

    at: float
    along: Literal["x", "y"]
    token: Token = "muted"
    dashed: bool = True
    label: Text | None = None


class Span(Fact, frozen=True, kw_only=True, tag_field="kind", tag="span"):
    """A shaded stretch of the x axis, with its reason."""

    low: float
    high: float
    token: Token = "n2"
    label: Text | None = None


Mark = Line | Band | Points | Whisker | Bar | Rule | Span


class Panel(Fact, frozen=True, kw_only=True):
    """One set of axes. `share` is its part of the figure's width beside other panels."""

    title: Text
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    share: float = 1.0
    legend: bool = False


class Column(Fact, frozen=True, kw_only=True):
    """A table's column. `key` is its name in CSV, with the unit in it."""

    key: str
    title: Text
    style: Style = "plain"
    unit: str = ""
    numeric: bool = True


class Missing(Fact, frozen=True, kw_only=True, tag_field="kind", tag="missing"):
    """A table cell without a value: shown as a dash with the reason."""

    reason: Text


TableCell = Slot | Missing


class Table(Fact, frozen=True, kw_only=True):
    """Rows under columns; the first column heads the row. In CSV an estimate takes four columns."""

    key: str
    caption: Text
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]


class Figure(Fact, frozen=True, kw_only=True):
    """A chart: its title states the finding, its subtitle the measure, its caption how to read it.

    Panels stand side by side when wide and one above another when narrow.
    """

    key: str
    title: Text
    subtitle: Text
    caption: Text
    alt: Text
    panels: tuple[Panel, ...]
    table: Table
    height: int = 400
    narrow_height: int = 380
