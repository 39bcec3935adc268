"""HTML: the templates, and what they are given to ask with.

Everything is escaped by the template engine; what is already HTML comes from `sentence` and `author_text`,
which escape or sanitise it themselves. No template holds a number or decides on one.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from study import __version__
from study.domain.article import Article
from study.domain.errors import BadUsage, OurFault
from study.domain.figure import Figure, Table
from study.domain.finding import Finding
from study.domain.text import Slot
from study.press import clean
from study.press.author_text import author_html
from study.press.axes import axis_notes
from study.press.cells import Grid, grid
from study.press.evidence import Mark, evidence_mark, headlines
from study.press.language import Language
from study.press.numbering import Numbering
from study.press.sentence import html, said
from study.press.tokens import page_properties

if TYPE_CHECKING:
    from markupsafe import Markup

_POLICY = (
    "default-src 'none'; img-src 'self' data:; style-src {style}; script-src {script}; font-src 'self';"
    " base-uri 'none'; form-action 'none'"
)


class Chart(NamedTuple):
    """Where a figure's two drawings are, seen from the page, and their sizes."""

    wide: str
    wide_size: tuple[int, int]
    narrow: str
    narrow_size: tuple[int, int]


class Download(NamedTuple):
    """A file on offer: its link, its name, what it holds, and its size in words or an empty string."""

    href: str
    name: str
    about: str
    size: str


class Variant(NamedTuple):
    """The same page in another language."""

    code: str
    name: str
    href: str


class Page(NamedTuple):
    """What a page is made from besides its article.

    `path` is its own place in the site, `root` leads from there to the site's root, `home` from the root to
    the list of articles, and `folder` to the article's own folder.
    """

    speech: Language
    path: str
    root: str
    home: str
    folder: str
    variants: tuple[Variant, ...]
    base_url: str | None
    charts: Mapping[str, Chart] = {}
    downloads: tuple[Download, ...] = ()
    records: tuple[Download, ...] = ()
    inline: bool = False


class Templates:
    """The templates: the lab's own folder before ours."""

    def __init__(self, overlay: Path | None) -> None:
        from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined

        folders = [folder for folder in (overlay, templates_folder()) if folder is not None]
        if overlay is not None and not overlay.is_dir():
            raise BadUsage(f"there is no folder of templates at {overlay}", "Check --templates.")
        self._environment = Environment(
            loader=ChoiceLoader([FileSystemLoader(folder) for folder in folders]),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            extensions=["jinja2.ext.i18n"],
        )

    def asset(self, name: str) -> str:
        """The style sheet or the script; the style sheet takes its colours from the tokens."""
        from markupsafe import Markup

        schemes = {scheme: Markup(page_properties(scheme)) for scheme in ("light", "dark")}  # noqa: S704 - ours
        return self._environment.get_template(f"assets/{name}").render(colours=schemes)

    def article(self, article: Article, numbers: Numbering, page: Page) -> str:
        """The article's page."""
        given = _given(article, numbers, page) | {"headlines": headlines(article.findings)}
        return self._rendered("article.html", page, given)

    def trials(self, article: Article, numbers: Numbering, page: Page) -> str:
        """The page with all trials."""
        return self._rendered("trials.html", page, _given(article, numbers, page))

    def index(self, cards: Sequence[dict[str, Any]], page: Page) -> str:
        """The list of articles."""
        return self._rendered("index.html", page, {"cards": cards})

    def not_found(self, page: Page) -> str:
        """The page for links that lead nowhere."""
        return self._rendered("404.html", page, {})

    def _rendered(self, template: str, page: Page, given: Mapping[str, Any]) -> str:
        environment, speech = self._environment, page.speech
        environment.install_gettext_callables(speech.gettext, speech.ngettext, newstyle=True)  # type: ignore[attr-defined]
        style, script = (self.asset("style.css"), self.asset("sort.js")) if page.inline else ("", "")
        whole = {
            "speech": speech,
            "lang": speech.code,
            "root": page.root,
            "home": page.home,
            "path": page.path,
            "base_url": page.base_url,
            "variants": page.variants,
            "version": __version__,
            "inline": _inlined(style, script) if page.inline else None,
            "policy": _policy(style, script)
            if page.inline
            else _POLICY.format(style="'self'", script="'self'"),
            "say": lambda slot: html(slot, speech),
            "plain": lambda slot: said(slot, speech),
            "line": clean.one_line,
            "lines": clean.many_lines,
            "day": speech.day,
            "number": speech.numbers.number,
        }
        return environment.get_template(template).render(whole | dict(given))


def templates_folder() -> Path:
    """Our own templates: inside the installed package, or beside it in a checkout.

    Raises:
        OurFault: they are in neither place.
    """
    package = Path(__file__).parent / "templates"
    checkout = Path(__file__).parents[2] / "templates"
    for folder in (package, checkout):
        if (folder / "article.html").is_file():
            return folder
    raise OurFault("the templates are not there", "Install the package again.")


def big_number(finding: Finding, speech: Language) -> tuple[str, str]:
    """The large number of a finding, and its unit if that stands apart from it."""
    if finding.big is None:
        return "", ""
    style, unit = finding.big_style, finding.big_unit
    value = speech.numbers.estimate(finding.big, style, unit).value
    suffix = speech.numbers.measure(style, unit, finding.big.value).suffix
    if suffix.startswith("\u00a0") and value.endswith(suffix):
        return value.removesuffix(suffix), suffix.strip()
    return value, ""


def markdown_name(speech: Language) -> str:
    """The name of the article as Markdown in this language."""
    return "article.md" if speech.code == "en" else f"article.{speech.code}.md"


def _given(article: Article, numbers: Numbering, page: Page) -> dict[str, Any]:
    speech = page.speech
    by_key = {finding.key: finding for finding in article.findings}
    texts = iter(range(1, 10_000))

    def chart(figure: Figure) -> Chart:
        return page.charts[figure.key]

    def notes(figure: Figure) -> list["Markup"]:
        return [html(note, speech) for note in axis_notes(figure, speech.numbers)]

    def laid_out(table: Table) -> Grid:
        return grid(table, speech)

    def mark(finding: Finding | str) -> Mark | None:
        found = by_key.get(finding) if isinstance(finding, str) else finding
        return None if found is None else evidence_mark(found, numbers, speech)

    return {
        "article": article,
        "authors": speech.joined([clean.one_line(author) for author in article.authors])
        if article.authors
        else "",
        "figure_number": numbers.figures,
        "table_number": numbers.tables,
        "chart": chart,
        "axis_notes": notes,
        "grid": laid_out,
        "evidence": mark,
        "big": lambda finding: big_number(finding, speech),
        "author": lambda markdown: author_html(markdown, f"u{next(texts)}-"),
        "kind": lambda block: type(block).__struct_config__.tag,
        "data_link": lambda key: f"{page.folder}data/{key}.csv",
        "markdown_link": f"{page.folder}{markdown_name(speech)}",
        "downloads": page.downloads,
        "records": page.records,
    }


def _inlined(style: str, script: str) -> dict[str, "Markup"]:
    from markupsafe import Markup

    return {"style": Markup(style), "script": Markup(script)}  # noqa: S704 - our own assets


def _policy(style: str, script: str) -> str:
    """Only these two texts may style and run: their hashes are in the policy."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    first, second = (f"'sha256-{value}'" for value in hashes)
    return _POLICY.format(style=first, script=second)


def card(article: Article, href: str, numbers: Numbering, speech: Language) -> dict[str, Slot | Any]:
    """What the index shows of an article."""
    first = next(iter(headlines(article.findings)), None)
    return {
        "article": article,
        "href": href,
        "finding": first,
        "big": big_number(first, speech) if first else ("", ""),
        "evidence": evidence_mark(first, numbers, speech) if first else None,
    }
