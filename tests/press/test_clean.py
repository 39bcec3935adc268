"""Strings from outside: what is unprintable goes, what is long is shortened."""

import pytest

from study.press import clean


@pytest.mark.parametrize(
    ("raw", "printed"),
    [
        ("a\x00b\x07c", "abc"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\u202eb\u2066c\u200bd", "abcd"),
        ("line\nbreak\r\n\ttab", "line break tab"),
        ("e\u0301", "é"),
        ("lone \ud800", "lone \N{REPLACEMENT CHARACTER}"),
        ("no \ufffe", "no \N{REPLACEMENT CHARACTER}"),
        ("  around  ", "around"),
    ],
)
def test_one_line(raw: str, printed: str) -> None:
    """A name on one line, in one normal form, in characters that XML allows."""
    assert clean.one_line(raw) == printed


def test_long_text_loses_its_middle() -> None:
    """Head and tail of a name tell more than its head alone."""
    shortened = clean.one_line("a" * 60 + "b" * 60, 80)

    assert len(shortened) == 80
    assert shortened == "a" * 40 + "…" + "b" * 39


def test_a_file_keeps_its_lines_and_tabs() -> None:
    """A file is cleaned line by line, and cut at a bound."""
    assert clean.many_lines("a\r\n\tb\x07\rc") == "a\n\tb\nc"
    assert clean.many_lines("x" * 50, 10) == "x" * 10 + "\n…"
