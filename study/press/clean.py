"""Strings from outside made fit for print: one normal form, no control characters, a bounded length.

A name in a results file may hold anything. Escaping for HTML, Markdown, SVG and CSV happens where each is
written; here goes what is unprintable in all of them.
"""

import re
import unicodedata

LABEL_LIMIT = 80
NAME_LIMIT = 300
FILE_LIMIT = 200_000

# Terminal colour and cursor sequences (ECMA-48 5.4), which logs are full of.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_SPACE = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
# Marks and overrides of the bidirectional algorithm (UAX 9), zero-width characters, and the byte-order mark.
_INVISIBLE = re.compile(
    r"[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]"
)
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})


def one_line(text: str, limit: int = NAME_LIMIT) -> str:
    """The text on one line, printable, without spaces around it, at most `limit` characters long."""
    return shortened(words(text).strip(), limit)


def words(text: str) -> str:
    """The text on one line and printable; spaces around it stay, because it may be part of a sentence."""
    return _printable(_SPACE.sub(" ", _ANSI.sub("", text)))


def many_lines(text: str, limit: int = FILE_LIMIT) -> str:
    """The text with its line breaks and tabs, otherwise printable, at most `limit` characters long."""
    lines = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    whole = "\n".join("\t".join(_printable(part) for part in line.split("\t")) for line in lines)
    return whole if len(whole) <= limit else whole[:limit] + "\n…"


def shortened(text: str, limit: int) -> str:
    """The text with its middle replaced by an ellipsis if it is longer than `limit`."""
    if len(text) <= limit:
        return text
    head = limit // 2
    return text[:head].rstrip() + "…" + text[len(text) - (limit - 1 - head) :].lstrip()


def is_right_to_left(text: str) -> bool:
    """Whether any character of the text would turn the reading direction."""
    return any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in text)


def _printable(text: str) -> str:
    """NFC, without control, invisible, surrogate and non-characters (which XML 1.0 forbids)."""
    whole = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_no_text(c) else c for c in whole if not _is_control(c))


def _is_control(character: str) -> bool:
    return unicodedata.category(character) == "Cc"


def _is_no_text(character: str) -> bool:
    code = ord(character)
    return 0xD800 <= code <= 0xDFFF or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
