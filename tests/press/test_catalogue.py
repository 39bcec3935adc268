"""The catalogs against the whole house: every sentence that an article can hold, and nothing else.

Sentences are found in the source text: the frames of the article and of the analysis, the press's own
words, the templates, the units of work, and the fixed reasons for what a record does not hold.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pytest

from study.press.language import CATALOGS, RECORDED, known_languages
from study.press.page import templates_folder

HOUSE = CATALOGS.parent.parent
SLOT = re.compile(r"{\w+}")

ROOMS = ("press", "article", "analysis")
"""Rooms whose sentences are frames."""

ASKING = {
    "said": 1,
    "sentence": 1,
    "Text": 1,
    "Term": 1,
    "gettext": 1,
    "word": 1,
    "counted": 2,
    "ngettext": 2,
}
"""Functions and classes that take a frame, with the number of leading arguments that are frames.

The press has a word of its own, `said`, so what makes a frame is called `sentence` there.
"""

REASONS = {
    "analysis/reasons.py": "",
    "analysis/trials.py": "_summary",
    "domain/trial.py": "",
    "lab/cpus.py": "",
    "lab/machine.py": "",
    "lab/nvml.py": "",
    "lab/software.py": "",
    "lab/surroundings.py": "",
    "planning/cells.py": "_impossible _bad_layout _out_of_bounds",
    "planning/revise.py": "_skipped",
    "planning/sentinel.py": "",
    "planning/series.py": "",
    "worker/accelerators/cpu.py": "reset_peak_memory peak_memory_bytes temperature_c",
    "worker/accelerators/cuda.py": "temperature_c",
    "worker/binding.py": "",
    "worker/probe.py": "",
    "worker/ranks.py": "_temperature",
}
"""Files, or functions in them, whose sentences say why something is missing: they go into records."""

WORDS_OF_A_REASON = 4
"""In these files a shorter string is a name or a key."""


class Id(NamedTuple):
    """What a catalog is asked for: a message, its plural if it has one, its context if it has one."""

    message: str
    plural: str = ""
    context: str = ""


def wanted() -> set[Id]:
    """Every message that a page in another language needs."""
    found: set[Id] = set()
    for room in ROOMS:
        for path in (HOUSE / room).rglob("*.py"):
            found.update(of_code(path.read_text(encoding="utf-8")))
    for path in templates_folder().glob("*.html"):
        found.update(of_template(path.read_text(encoding="utf-8")))
    for path in (HOUSE / "worker" / "workloads").glob("*.py"):
        found.update(units(path.read_text(encoding="utf-8")))
    for place, functions in REASONS.items():
        for function in functions.split() or [""]:
            found.update(reasons((HOUSE / place).read_text(encoding="utf-8"), function))
    return {i for i in found if has_words(i.message)}


def has_words(frame: str) -> bool:
    """Whether there is anything to translate: slots and signs alone are the same in every language."""
    return any(character.isalpha() for character in SLOT.sub("", frame))


def of_code(source: str) -> Iterator[Id]:
    """The frames written in calls, and those of a `FRAMES` table, where `x_many` is the plural of `x`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", "")).lstrip("_")
            named = {keyword.arg: keyword.value for keyword in node.keywords}
            asked = node.args[: ASKING.get(called, 0)]
            if called in ("Text", "Term") and not asked:
                asked = [named[key] for key in ("frame", "text", "plural") if key in named]
            frames = [list(literals(argument)) for argument in asked]
            if len(frames) == 2 and all(frames):
                yield Id(frames[0][0], frames[1][0])
            else:
                yield from (Id(frame) for several in frames for frame in several if frame)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict) and names(node) == ["FRAMES"]:
            table = ast.literal_eval(node.value)
            for key, frame in table.items():
                if not key.endswith("_many"):
                    yield Id(frame, table.get(f"{key}_many", ""))


def of_template(source: str) -> Iterator[Id]:
    """The messages of a template, which asks by `_(…)` and `ngettext(…)`."""
    text = r"""(?:"([^"]*)"|'([^']*)')"""
    yield from (Id(a or b) for a, b in re.findall(rf"\b_\({text}\)", source))
    yield from (Id(a or b, c or d) for a, b, c, d in re.findall(rf"\bngettext\({text}, {text}", source))


def units(source: str) -> Iterator[Id]:
    """The units of work that a workload states."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "unit" and isinstance(value, ast.Constant):
                    yield Id(value.value)


def reasons(source: str, function: str = "") -> Iterator[Id]:
    """The sentences of a file or of one function in it; what is put together there is a pattern."""
    tree: ast.AST = ast.parse(source)
    if function:
        tree = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function)
    nodes = list(ast.walk(tree))
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    inside = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            sentence, context = "".join(part_of_pattern(part) for part in node.values), RECORDED
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside | alone
        ):
            sentence, context = node.value, ""
        else:
            continue
        if len(sentence.split()) >= WORDS_OF_A_REASON:
            yield Id(sentence, context=context)


def part_of_pattern(part: ast.expr) -> str:
    """A part of a formatted string: its words, or the last name of its expression as a slot."""
    if isinstance(part, ast.FormattedValue):
        return "{" + re.findall(r"\w+", ast.unparse(part.value))[-1].lower() + "}"
    return str(getattr(part, "value", ""))


def literals(node: ast.expr) -> Iterator[str]:
    """The strings that an argument may be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))
    elif isinstance(node, ast.BoolOp):
        yield from (text for value in node.values for text in literals(value))


def names(node: ast.Assign) -> list[str]:
    """What is assigned to."""
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


class Entry(NamedTuple):
    """What a catalog holds for an id: one form, or as many as the language has."""

    id: Id
    forms: tuple[str, ...]


def entries(code: str) -> list[Entry]:
    """All entries of a language's catalog, in its order."""
    from babel.messages.pofile import read_po

    with (CATALOGS / code / "LC_MESSAGES" / "study.po").open("rb") as file:
        catalog = read_po(file)
    found = []
    for message in catalog:
        if message.pluralizable:
            found.append(Entry(Id(*message.id, message.context or ""), tuple(message.string)))
        elif message.id:
            found.append(Entry(Id(message.id, context=message.context or ""), (message.string,)))
    return found


def listed(ids: Iterable[Id]) -> str:
    """The ids as lines that a translator can copy."""
    return "\n".join(
        "".join(
            f"{word} {text!r}\n"
            for word, text in (("msgctxt", i.context), ("msgid", i.message), ("msgid_plural", i.plural))
            if text
        )
        for i in sorted(ids)
    )


CODES = [code for code in known_languages() if code != "en"]

SOURCE = '''
"""A docstring that is no reason at all."""
FRAMES = {"few": "{n} thing", "few_many": "{n} things", "one": "A sentence."}
OTHER = {"few": "not a frame"}

def because(cell, why):
    """Another docstring that is no reason."""
    said("A " "frame with {slot}.", slot=Term(text="yes" if cell else "no"))
    sentence("The press's own {slot}.", slot=why)
    counted("{n} trial", "{n} trials", 3)
    Text(frame="")
    said(why)
    Term(text=why or "no reason at hand")
    self._word("pp")
    return {"unit": "tokens"}, "the kernel says nothing here", f"it needs {cell.devices} of {LIMIT:.0f} here"

def elsewhere():
    return "this is another function's sentence"
'''


def test_frames_are_found_wherever_they_are_written() -> None:
    """Calls, conditional words, tables of frames with their plurals; and no empty or computed frame."""
    found = set(of_code(SOURCE))

    assert found == {
        Id("{n} thing", "{n} things"),
        Id("A sentence."),
        Id("A frame with {slot}."),
        Id("The press's own {slot}."),
        Id("yes"),
        Id("no"),
        Id("no reason at hand"),
        Id("{n} trial", "{n} trials"),
        Id("pp"),
    }


def test_reasons_are_found_in_the_function_that_gives_them() -> None:
    """A reason is a sentence, not a docstring; one that is put together is a pattern with slots."""
    found = set(reasons(SOURCE, "because"))

    assert Id("the kernel says nothing here") in found
    assert Id("it needs {devices} of {limit} here", context=RECORDED) in found
    assert not any("docstring" in i.message or "another function" in i.message for i in found)


def test_units_and_templates_are_searched() -> None:
    """A unit stands in a table, a template's message in either kind of quotes."""
    template = """{{ _("Table {number}") }} {{ _('Notice') }} {{ ngettext("{n} row", "{n} rows", n) }}"""

    assert set(units(SOURCE)) == {Id("tokens")}
    assert set(of_template(template)) == {Id("Table {number}"), Id("Notice"), Id("{n} row", "{n} rows")}


def test_the_search_reaches_every_room() -> None:
    """One known sentence of each place is among what is wanted."""
    assert {
        Id("Findings"),
        Id("What we cannot say"),
        Id("tokens"),
        Id("It is not distinguishable from linear scaling."),
        Id("About {n} block would settle it.", "About {n} blocks would settle it."),
        Id("No trial of this cell was measured."),
        Id("the kernel offers no frequency scaling here"),
        Id("torch sees no GPU here"),
        Id("The strategy {strategy} uses one device.", context=RECORDED),
    } <= wanted()


def test_templates_ask_in_no_other_way() -> None:
    """The search reads calls, so a template may not use a block for translation."""
    for path in templates_folder().glob("*.html"):
        assert not re.search(r"{%-?\s*trans\b", path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize("code", CODES)
def test_nothing_is_left_untranslated(code: str) -> None:
    """Every sentence that a page may need stands in the catalog."""
    missing = wanted() - {entry.id for entry in entries(code)}

    assert not missing, f"{code} lacks:\n{listed(missing)}"


@pytest.mark.parametrize("code", CODES)
def test_nothing_in_a_catalog_is_obsolete(code: str) -> None:
    """What nothing says any more is thrown away."""
    obsolete = {entry.id for entry in entries(code)} - wanted()

    assert not obsolete, f"{code} holds what nothing says:\n{listed(obsolete)}"


@pytest.mark.parametrize("code", CODES)
def test_slots_are_those_of_the_english_sentence(code: str) -> None:
    """No translation loses, repeats or invents a slot, in any of its forms."""
    for entry in entries(code):
        slots = sorted(SLOT.findall(entry.id.message))
        for form in entry.forms:
            assert sorted(SLOT.findall(form)) == slots, form
        if entry.id.plural:
            assert sorted(SLOT.findall(entry.id.plural)) == slots, entry.id.plural


@pytest.mark.parametrize(("code", "forms"), [("pl", 3)])
def test_a_plural_has_all_forms_of_its_language(code: str, forms: int) -> None:
    """Polish has three forms for whole numbers: 1, 2 to 4, and the rest."""
    for entry in entries(code):
        assert len(entry.forms) == (forms if entry.id.plural else 1), entry.id.message
        assert all(form.strip() for form in entry.forms), entry.id.message


@pytest.mark.parametrize("code", CODES)
def test_no_entry_stands_there_twice(code: str) -> None:
    """A reader of catalogs keeps one of two equal ids in silence."""
    text = (CATALOGS / code / "LC_MESSAGES" / "study.po").read_text(encoding="utf-8")

    assert len(re.findall(r"^msgid ", text, re.MULTILINE)) == len(entries(code)) + 1  # the head has one
