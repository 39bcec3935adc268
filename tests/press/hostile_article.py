"""Payloads, and an article that carries one in every string that comes from outside."""

import itertools
from typing import Any

import msgspec

from study.domain.article import Article
from study.domain.fact import Fact
from study.domain.text import Text

PAYLOADS = (
    '<script>alert("x")</script>',
    '"><img src=x onerror=alert(1)>',
    "</style><svg onload=alert(1)>",
    "javascript:alert(1)",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "$\\frac{$",
    "a\x00b\x07c\x1b[31mred\x1b[0m\x7f",
    "abc\u202ecba\u2066x\u2069",
    "lone \ud800 surrogate, \ufffe",
    '=HYPERLINK("https://evil.example")',
    "| --- | # heading | @someone #12 |",
    "{{ 7*7 }}{% raw %}",
    "&lt;b&gt; &amp; ' \"",
    "x" * 10_000,
    "line\nbreak\r\n\ttab",
    "https://evil.example www.evil.example",
    "```\n# broken out\n```",
    "مرحبا 日本語 🙂",
    "-1+1",
)
"""Markup, addresses, formulas, mathematics, control and direction characters, and sheer length."""

# Strings that are ours: keys and choices of the program, and frames, which are code.
_KEYS = ("path", "key", "finding", "table", "figure", "count")
_CHOICES = ("style", "token", "marker", "along", "scale", "tone", "show", "evidence", "section", "method")
_CODE = ("frame", "plural", "unit", "shelf", "iso")
_OURS = frozenset((*_KEYS, *_CHOICES, *_CODE))


def poisoned(article: Article) -> Article:
    """The article with every string from outside replaced by one payload after the other."""
    payloads = itertools.cycle(PAYLOADS)
    return _poisoned(article, "", payloads)


def _poisoned(value: Any, name: str, payloads: Any) -> Any:
    if isinstance(value, str):
        return value if name in _OURS else next(payloads)
    if isinstance(value, Text):
        slots = {key: _poisoned(slot, "", payloads) for key, slot in value.slots.items()}
        return msgspec.structs.replace(value, slots=slots)
    if isinstance(value, Fact):
        changed = {
            field: _poisoned(getattr(value, field), field, payloads) for field in value.__struct_fields__
        }
        return msgspec.structs.replace(value, **changed)
    if isinstance(value, tuple):
        return tuple(_poisoned(item, name, payloads) for item in value)
    return value
