"""The article as Markdown: it reads well, and text from outside stays text."""

import re
from types import ModuleType

import msgspec
import pytest

from study.domain.text import said
from study.press.language import language
from study.press.markdown_page import code, escaped, markdown_page
from study.press.numbering import figures_of, numbering, tables_of


@pytest.fixture
def page(sample: ModuleType) -> str:
    """The sample as English Markdown."""
    return markdown_page(sample.article(), numbering(sample.article()), language("en"))


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        ("a | b", "a \\| b"),
        ("# heading", "&#35; heading"),
        ("<b>&", "&lt;b&gt;&amp;"),
        ("@someone #12", "&#64;someone &#35;12"),
        ("[x](y)", "\\[x\\](y)"),
        ("*a* _b_ `c` ~d~ $e$", "\\*a\\* \\_b\\_ \\`c\\` \\~d\\~ \\$e\\$"),
        ("https://evil.example www.evil.example", "https&#58;//evil.example www&#46;evil.example"),
        ("- item", "\\- item"),
        ("12. item", "12\\. item"),
        ("3.72 times, −1", "3.72 times, −1"),
        ("back\\slash", "back\\\\slash"),
        ("two\nlines", "two lines"),
    ],
)
def test_text_cannot_become_markup(raw: str, written: str) -> None:
    """Every character that GitHub's dialect would act on is escaped, and no other."""
    assert escaped(raw) == written


@pytest.mark.parametrize(
    ("raw", "written"),
    [("a", "`a`"), ("a`b", "`` a`b ``"), ("``", "``` `` ```"), ("a|b", "`a¦b`"), ("", "`  `")],
)
def test_code_is_fenced_by_more_backticks_than_it_has(raw: str, written: str) -> None:
    """No name can end its own fence."""
    assert code(raw) == written


def test_every_anchor_and_chart_is_there(page: str) -> None:
    """Links inside the page have their targets; charts have a text and a relative path."""
    targets = set(re.findall(r'<a id="([^"]+)"></a>', page))

    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= targets
    assert {"findings", "machine", "fig-speedup", "t-fig-speedup", "t-base"} <= targets
    assert re.findall(r"!\[[^\]]{20,}\]\((charts/fig-[a-z]+\.svg)\)", page) == [
        "charts/fig-speedup.svg",
        "charts/fig-memory.svg",
        "charts/fig-strategies.svg",
        "charts/fig-thermals.svg",
    ]


def test_every_table_is_rectangular(page: str) -> None:
    """Rows of a table have as many cells as its head."""
    tables = re.findall(r"(?:^\|.*\|$\n?)+", page, re.MULTILINE)

    assert len(tables) >= 6
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1, table


def test_every_figure_and_table_links_its_numbers(page: str, sample: ModuleType) -> None:
    """Who wants the data behind a chart or a table finds the CSV there, and the chart's SVG."""
    article = sample.article()

    for figure in figures_of(article):
        assert f"[SVG](charts/{figure.key}.svg) · [CSV](data/{figure.table.key}.csv)" in page
    for table in tables_of(article):
        assert page.count(f"[CSV](data/{table.key}.csv)") == 1


def test_reasons_stand_beneath_their_table(page: str) -> None:
    """A missing value is a dash with a letter, and the letter's reason follows once."""
    assert re.search(r"\| – <sup>a</sup> \|", page)
    assert re.search(r"\n\n<sup>a</sup> [^|]+\.", page)


def test_caveats_follow_the_findings_of_the_box(sample: ModuleType) -> None:
    """What has to be said beside a claim is said in the box too, in small letters."""
    first, *rest = sample.findings()
    warned = msgspec.structs.replace(first, caveats=(said("More threads than cores."), said("And noise.")))
    article = sample.article(findings=(warned, *rest))

    page = markdown_page(article, numbering(article), language("en"))

    assert "<sub>More threads than cores. And noise.</sub> <sub>●●●" in page


def test_details_are_closed_and_notes_are_alerts(page: str) -> None:
    """Tables of charts can be folded away, notes are GitHub's alerts."""
    assert page.count("<details>") == page.count("</details>") == 5
    assert "> [!WARNING]\n> **Not shown by the data**" in page
    assert "> [!NOTE]" in page
    assert "> [!IMPORTANT]" in page


def test_it_is_rendered_by_a_markdown_reader(page: str) -> None:
    """CommonMark with tables sees one title, five sections and four pictures."""
    from markdown_it import MarkdownIt

    html = MarkdownIt("commonmark").enable("table").render(page)

    assert html.count("<h1>") == 1
    assert html.count("<h2>") == 6
    assert html.count("<img ") == 4
    assert html.count("<table>") == 6
    assert "<code>580.95.05</code>" in html


@pytest.mark.parametrize("lang", ["en", "pl"])
def test_a_hostile_article_makes_no_markup(sample: ModuleType, hostile: ModuleType, lang: str) -> None:
    """Rendered with HTML allowed, the page has only the elements that the clean one has."""
    from markdown_it import MarkdownIt

    reader = MarkdownIt("gfm-like", {"linkify": False, "html": True})
    shapes = []
    for article in (sample.article(), hostile.poisoned(sample.article())):
        html = reader.render(markdown_page(article, numbering(article), language(lang)))
        shapes.append(set(re.findall(r"<(\w+)", html)))
        assert "javascript:" not in "".join(re.findall(r'(?:href|src)="[^"]*', html)).lower()

    assert shapes[1] - shapes[0] <= {"hr", "br", "h3", "h4"}
