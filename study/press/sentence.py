"""Sentences: a frame and its slots become pieces, and pieces become plain text, HTML or Markdown.

A piece knows what it is (words, a number, an interval, a name), so that each format can set it in its own way
and escape it in its own way. Nothing else in the press turns a slot into text.
"""

import re
from string import Formatter
from typing import TYPE_CHECKING, Literal, NamedTuple

from study.domain.errors import OurFault
from study.domain.text import Day, Est, Listing, Name, Num, Slot, Term, Text
from study.press import clean
from study.press.language import Language, language
from study.press.numbers import Measure

if TYPE_CHECKING:
    from markupsafe import Markup

_SLOT = re.compile(r"{\w+}")

Kind = Literal["words", "number", "interval", "name", "code"]


class Piece(NamedTuple):
    """A stretch of text of one kind; `foreign` if it is English inside another language."""

    text: str
    kind: Kind = "words"
    foreign: bool = False


def pieces(slot: Slot, speech: Language) -> tuple[Piece, ...]:
    """The slot in a language, piece by piece.

    Raises:
        OurFault: a frame names a slot that it was not given, or is not a frame.
    """
    made: tuple[Piece, ...]
    match slot:
        case Num():
            made = (Piece(number_words(slot, speech), "number"),)
        case Est():
            made = _estimate(slot, speech)
        case Name():
            made = (Piece(clean.one_line(slot.text), "code" if slot.code else "name"),)
        case Term():
            made = _words(slot.text, speech)
        case Day():
            made = (Piece(clean.one_line(speech.day(slot.iso))),)
        case Listing():
            made = _row(slot, speech)
        case Text():
            made = _sentence(slot, speech)
    return made


def said(slot: Slot, speech: Language) -> str:
    """The slot as plain text."""
    return "".join(piece.text for piece in pieces(slot, speech))


def html(slot: Slot, speech: Language) -> "Markup":
    """The slot as HTML, every part of it escaped."""
    from markupsafe import Markup, escape

    result = Markup()
    for piece in pieces(slot, speech):
        text = escape(piece.text)
        if piece.kind == "interval":
            text = Markup('<span class="ci">{}</span>').format(text)
        elif piece.kind == "code":
            text = Markup("<code>{}</code>").format(text)
        elif piece.kind == "name" and clean.is_right_to_left(piece.text):
            text = Markup("<bdi>{}</bdi>").format(text)
        if piece.foreign and piece.text.strip():
            text = Markup('<span lang="en">{}</span>').format(text)
        result += text
    return result


def number_words(slot: Num, speech: Language, *, tight: bool = False, column: Measure | None = None) -> str:
    """A number, to the places of the estimate beside which it stands if there is one."""
    numbers, like = speech.numbers, slot.like
    if like is None:
        return numbers.number(slot.value, slot.style, slot.unit, tight=tight, column=column)
    return numbers.beside(slot.value, slot.style, slot.unit, like=like, tight=tight, column=column)


def interval_words(estimate: Est, speech: Language) -> str:
    """ "95% CI 1.55–1.70", or "n = 2, no interval", or nothing for what is exact."""
    held = estimate.estimate
    if held.method == "exact":
        return ""
    interval = speech.numbers.estimate(
        held, estimate.style, estimate.unit, tight=True, neutral=estimate.neutral
    ).interval
    count = speech.numbers.number(held.n, "integer")
    if not interval:
        return speech.gettext("n = {n}, no interval").format(n=count)
    level = speech.numbers.level(held.level)
    if estimate.show == "value_interval_n":
        return speech.gettext("{level} CI {interval}; n = {n}").format(
            level=level, interval=interval, n=count
        )
    return speech.gettext("{level} CI {interval}").format(level=level, interval=interval)


def _estimate(slot: Est, speech: Language) -> tuple[Piece, ...]:
    shown = speech.numbers.estimate(slot.estimate, slot.style, slot.unit, neutral=slot.neutral)
    value = Piece(shown.value, "number")
    interval = interval_words(slot, speech)
    if slot.show == "value" or not interval:
        return (value,)
    if slot.show == "interval":
        return (Piece(interval, "interval"),)
    return (value, Piece(" "), Piece(f"({interval})", "interval"))


def _words(message: str, speech: Language) -> tuple[Piece, ...]:
    translated = speech.translation(message)
    return (Piece(clean.one_line(message if translated is None else translated), foreign=translated is None),)


def _row(slot: Listing, speech: Language) -> tuple[Piece, ...]:
    """Joined by the language's own rule: placeholders go through it, because pieces cannot."""
    joined = speech.joined([f"\x00{i}\x00" for i in range(len(slot.items))])
    result: list[Piece] = []
    for part in re.split(r"(\x00\d+\x00)", joined):
        if part.startswith("\x00"):
            result += pieces(slot.items[int(part.strip("\x00"))], speech)
        elif part:
            result.append(Piece(part))
    return tuple(result)


def _sentence(text: Text, speech: Language) -> tuple[Piece, ...]:
    frame = _frame(text, speech)
    if frame is None:
        english = _sentence(text, language("en"))
        return tuple(piece._replace(foreign=True) for piece in english)
    result: list[Piece] = []
    try:
        parts = list(Formatter().parse(frame))
    except ValueError as problem:
        raise OurFault(f"not a frame: {text.frame[:80]!r} ({problem})") from None
    for words, slot, spec, conversion in parts:
        if words:
            result.append(Piece(clean.words(words)))
        if slot is None:
            continue
        if slot not in text.slots or spec or conversion:
            raise OurFault(
                f"the frame {text.frame[:80]!r} names a slot {slot!r} that it was not given",
                f"Its slots are: {', '.join(text.slots) or 'none'}.",
            )
        result += pieces(text.slots[slot], speech)
    return tuple(result)


def _frame(text: Text, speech: Language) -> str | None:
    """The frame in the language, in the form that its count asks for; null if it is not translated."""
    if not text.count:
        if not any(character.isalpha() for character in _SLOT.sub("", text.frame)):
            return text.frame  # sentences side by side: there are no words to translate
        return speech.translation(text.frame)
    counted = text.slots.get(text.count)
    if not isinstance(counted, Num):
        raise OurFault(f"the frame {text.frame[:80]!r} counts by {text.count!r}, which is not a number")
    return speech.plural_translation(text.frame, text.plural, round(counted.value))
