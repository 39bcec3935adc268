"""The page as data: what stands where, in words that the press puts into a language and a format."""

from typing import Literal

from study.domain.fact import Fact
from study.domain.figure import Figure, Table
from study.domain.finding import Finding
from study.domain.text import Slot, Text


class Paragraph(Fact, frozen=True, kw_only=True, tag_field="kind", tag="paragraph"):
    """Generated prose; `finding` is the key of the finding whose evidence mark follows it."""

    sentences: tuple[Text, ...]
    finding: str = ""


class AuthorText(Fact, frozen=True, kw_only=True, tag_field="kind", tag="author_text"):
    """Markdown written by a person: untrusted, sanitised by the press, carries no evidence mark."""

    markdown: str


class FigureBlock(Fact, frozen=True, kw_only=True, tag_field="kind", tag="figure"):
    """A figure with its table beneath."""

    figure: Figure


class TableBlock(Fact, frozen=True, kw_only=True, tag_field="kind", tag="table"):
    """A table that stands alone."""

    table: Table


class Specification(Fact, frozen=True, kw_only=True, tag_field="kind", tag="specification"):
    """Pairs of term and value; a value that was not recorded is a sentence saying so."""

    rows: tuple[tuple[Text, Slot], ...]


class Bullets(Fact, frozen=True, kw_only=True, tag_field="kind", tag="bullets"):
    """A list of sentences."""

    items: tuple[Text, ...]


class Note(Fact, frozen=True, kw_only=True, tag_field="kind", tag="note"):
    """A box beside the prose."""

    tone: Literal["info", "software", "not_shown"]
    title: Text
    sentences: tuple[Text, ...]


class Commands(Fact, frozen=True, kw_only=True, tag_field="kind", tag="commands"):
    """Commands that the reader can type."""

    lines: tuple[str, ...]


class Listing(Fact, frozen=True, kw_only=True, tag_field="kind", tag="listing_of_file"):
    """A file shown whole, such as the study file."""

    name: str
    text: str


class Downloads(Fact, frozen=True, kw_only=True, tag_field="kind", tag="downloads"):
    """Where the data files are offered; the press knows which it wrote."""


Block = (
    Paragraph
    | AuthorText
    | FigureBlock
    | TableBlock
    | Specification
    | Bullets
    | Note
    | Commands
    | Listing
    | Downloads
)


class SectionOfArticle(Fact, frozen=True, kw_only=True):
    """A heading and what stands under it. `key` is its anchor, and never changes."""

    key: str
    title: Text
    blocks: tuple[Block, ...]


class Article(Fact, frozen=True, kw_only=True):
    """One article about one run. `path` is that of `path_of`.

    `published` is the ISO date on which the run ended, shown as that of the measurement. `digest` is a
    hash over the hashes of the records; `tool_version` is of the tool that made the article.
    """

    path: str
    study: str
    run_id: str
    kicker: Text
    title: str
    standfirst: Text
    authors: tuple[str, ...]
    published: str
    trials_measured: int
    trials_planned: int
    measured_s: float
    notices: tuple[Text, ...]
    findings: tuple[Finding, ...]
    sections: tuple[SectionOfArticle, ...]
    all_trials: Table
    machine: str
    digest: str
    tool_version: str
    disclosure: str


def path_of(study: str, run_id: str) -> str:
    """Where the article about a run stands among all articles: `<study>/<run id>` in lower case."""
    return f"{study}/{run_id}".lower()
