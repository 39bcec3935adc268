"""Sentences as data: a frame to translate, and typed slots. The press makes the words and the digits.

No number is ever formatted outside the press: a slot holds the value and how it should be shown.
`frame` is the English sentence with `{slot}` names; it is also the key for translation.
"""

from typing import Literal

from study.domain.estimate import Estimate
from study.domain.fact import Fact

Style = Literal[
    "plain",
    "integer",
    "percent",
    "percent_points",
    "ratio",
    "times",
    "rate",
    "seconds",
    "milliseconds",
    "duration",
    "bytes",
    "megahertz",
    "watt",
]
Show = Literal["value", "value_interval", "interval", "value_interval_n"]


class Num(Fact, frozen=True, kw_only=True, tag_field="kind", tag="num"):
    """A number. `unit` is the unit of work for `rate` ("tokens" is shown as tokens/s).

    `percent` takes a share (0.93 is shown as 93%); `seconds` and `milliseconds` take seconds. `like` is
    an estimate beside which it stands, to whose decimal place it should be shown.
    """

    value: float
    style: Style = "plain"
    unit: str = ""
    like: "Est | None" = None


class Est(Fact, frozen=True, kw_only=True, tag_field="kind", tag="est"):
    """An estimate: with its interval and n unless `show` says less.

    `neutral` is a value of which the reader must still see, after rounding, on which side of it the
    ends of the interval lie. Of ratios (1) and differences (0) the press knows it.
    """

    estimate: Estimate
    style: Style = "plain"
    unit: str = ""
    show: Show = "value_interval"
    neutral: float | None = None


class Name(Fact, frozen=True, kw_only=True, tag_field="kind", tag="name"):
    """A proper name or identifier: never translated, never trusted. `code` asks for a monospaced face."""

    text: str
    code: bool = False


class Term(Fact, frozen=True, kw_only=True, tag_field="kind", tag="term"):
    """A word of the glossary, translated."""

    text: str


class Day(Fact, frozen=True, kw_only=True, tag_field="kind", tag="day"):
    """A date, as ISO 8601."""

    iso: str


class Text(Fact, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    """A whole sentence: `frame` with slots; `plural` is the frame for counts other than one.

    `count` names the integer slot that decides between `frame` and `plural`.
    """

    frame: str
    slots: dict[str, "Slot"] = {}
    plural: str = ""
    count: str = ""


class Listing(Fact, frozen=True, kw_only=True, tag_field="kind", tag="listing"):
    """Several things in a row, joined as the language does ("a, b and c")."""

    items: tuple["Slot", ...]


Slot = Num | Est | Name | Term | Day | Text | Listing


def said(frame: str, **slots: Slot) -> Text:
    """A sentence from its frame and slots."""
    return Text(frame=frame, slots=slots)


def counted(one: str, many: str, n: int, **slots: Slot) -> Text:
    """A sentence that depends on a count, available in the frames as `{n}`."""
    return Text(
        frame=one,
        plural=many,
        count="n",
        slots={"n": Num(value=float(n), style="integer"), **slots},
    )


def name(text: str) -> Name:
    """A proper name as a slot."""
    return Name(text=text)
