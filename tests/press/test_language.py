"""The catalogs: every word of the press, in every language, with its slots and all its plural forms."""

import ast
import re
from pathlib import Path

import pytest

from study.press.language import CATALOGS, known_languages, language
from study.press.page import templates_folder

PRESS = CATALOGS.parent
SLOT = re.compile(r"{\w+}")


def messages() -> list[str | tuple[str, str]]:
    """What the templates and the press's own code ask a catalog for."""
    from babel.messages.extract import extract_from_file

    found: list[str | tuple[str, str]] = []
    options = {"newstyle_gettext": "true", "trim_blocks": "true", "lstrip_blocks": "true"}
    for path in sorted(templates_folder().glob("*.html")):
        found += [
            m for _, m, _, _ in extract_from_file("jinja2.ext:babel_extract", str(path), options=options)
        ]
    for path in sorted(PRESS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            words = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if called in ("gettext", "word", "said") and words:
                found.append(words[0])
            elif called == "ngettext" and len(words) == 2:
                found.append((words[0], words[1]))
    return found


def test_the_press_says_enough_to_be_worth_translating() -> None:
    """The search for messages finds those of the templates and of the code, also inside other strings."""
    found = messages()

    assert {
        "Findings",
        "Strong evidence",
        "Item",
        "n = {n}, no interval",
        ("{n} trial", "{n} trials"),
    } <= set(found)


@pytest.mark.parametrize("code", [code for code in known_languages() if code != "en"])
def test_every_message_is_translated_with_its_slots(code: str) -> None:
    """No word of ours is left in English, and no translation loses or invents a slot."""
    speech = language(code)
    for message in messages():
        one = message if isinstance(message, str) else message[0]
        forms = (
            [speech.translation(message)]
            if isinstance(message, str)
            else [speech.plural_translation(*message, n) for n in (0, 1, 2, 5, 12, 22)]
        )
        for form in forms:
            assert form is not None, f"{code} lacks {one!r}"
            assert "%" not in form + one  # the template engine would take it for a place holder
            assert sorted(SLOT.findall(form)) == sorted(SLOT.findall(one)), one


@pytest.mark.parametrize("path", sorted(CATALOGS.glob("*/LC_MESSAGES/*.po")), ids=str)
def test_a_catalog_has_no_fuzzy_or_empty_entry(path: Path) -> None:
    """What stands in a catalog is finished."""
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        catalog = read_po(file)

    assert [
        message.id for message in catalog if message.id and (message.fuzzy or not all(message.string))
    ] == []
