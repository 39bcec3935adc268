"""The evidence mark of a finding, for the page and for the Markdown alike: same level, same words."""

from typing import NamedTuple

from study.domain.finding import Finding
from study.domain.text import Text
from study.press.language import Language
from study.press.numbering import Numbering


class Mark(NamedTuple):
    """Dots of three, a word, a note, and the key and name of the table or figure that shows it."""

    dots: int
    word: str
    note: Text
    anchor: str
    link: str


def evidence_mark(finding: Finding, numbers: Numbering, speech: Language) -> Mark | None:
    """The mark, or nothing for what needs no evidence."""
    levels = {
        "strong": (3, speech.gettext("Strong evidence")),
        "moderate": (2, speech.gettext("Moderate evidence")),
        "weak": (1, speech.gettext("Weak evidence")),
        "not_shown": (0, speech.gettext("Not shown by the data")),
    }
    if finding.evidence not in levels:
        return None
    dots, word = levels[finding.evidence]
    anchor, link = "", ""
    if finding.table in numbers.tables:
        anchor = finding.table
        link = table_name(numbers.tables[anchor], speech)
    elif finding.figure in numbers.figures:
        anchor = finding.figure
        link = figure_name(numbers.figures[anchor], speech)
    return Mark(dots, word, finding.evidence_note, anchor, link)


def table_name(number: int, speech: Language) -> str:
    """ "Table 2" in the language."""
    return speech.gettext("Table {number}").format(number=speech.numbers.number(number, "integer"))


def figure_name(number: int, speech: Language) -> str:
    """ "Figure 2" in the language."""
    return speech.gettext("Figure {number}").format(number=speech.numbers.number(number, "integer"))


def headlines(findings: tuple[Finding, ...]) -> list[Finding]:
    """The findings that stand in the box, in the article's order."""
    return [finding for finding in findings if finding.headline]
