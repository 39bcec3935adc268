"""The article as Markdown for a repository's page or a terminal: same words, same numbers, charts by link.

Text from outside is escaped for GitHub's dialect: it cannot make markup, mention anybody, refer to an issue,
or turn into a link. The only HTML is anchors, `details`, `summary`, `br`, `sub` and `sup`.
"""

import re
from collections.abc import Collection, Iterator

from study.domain.article import (
    Article,
    AuthorText,
    Block,
    Bullets,
    Commands,
    Downloads,
    FigureBlock,
    Listing,
    Note,
    Paragraph,
    Specification,
    TableBlock,
)
from study.domain.figure import Figure, Table
from study.domain.finding import Finding
from study.domain.text import Slot
from study.press import clean
from study.press.axes import axis_notes
from study.press.cells import Entry, Grid, grid
from study.press.evidence import evidence_mark, figure_name, headlines, table_name
from study.press.language import Language
from study.press.numbering import Numbering
from study.press.sentence import pieces, said

_MARKUP = re.compile(r"[\\`*_{}\[\]|~$]")
_ENTITY = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "#": "&#35;"}
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp|data|javascript)(:)|\b(www)(\.)")
_AT_START = re.compile(r"^(\s*)([-+=]+|\d+[.)])(?=\s|$)")
_ALERTS = {"info": "NOTE", "software": "IMPORTANT", "not_shown": "WARNING"}


def markdown_page(
    article: Article,
    numbers: Numbering,
    speech: Language,
    *,
    charts_tail: str = "",
    raw: Collection[str] = (),
) -> str:
    """The whole article.

    `charts_tail` is what stands before `.svg` in the charts' names of this language, `raw` are the names
    of the raw files beside it.
    """
    return _Writer(article, numbers, speech, tail=charts_tail, raw=raw).whole()


def escaped(text: str) -> str:
    """Text that stays text in GitHub's Markdown, also in a table's cell."""
    text = _MARKUP.sub(lambda m: "\\" + m[0], clean.words(text))
    text = "".join(_ENTITY.get(character, character) for character in text)
    text = _LINK.sub(lambda m: f"{m[1]}&#58;" if m[1] else f"{m[3]}&#46;", text)
    return _AT_START.sub(lambda m: f"{m[1]}{m[2][:-1]}\\{m[2][-1]}", text)


def code(text: str) -> str:
    """Text in a monospaced face: in a fence longer than any run of backticks, without a table's bar."""
    text = clean.one_line(text).replace("|", "¦")
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    gap = " " if longest or not text.strip() else ""
    return f"{fence}{gap}{text}{gap}{fence}"


class _Writer:
    """One article in one language."""

    def __init__(
        self, article: Article, numbers: Numbering, speech: Language, *, tail: str, raw: Collection[str]
    ) -> None:
        self._article, self._numbers, self._speech, self._tail = article, numbers, speech, tail
        self._raw = raw
        self._findings = {finding.key: finding for finding in article.findings}

    def whole(self) -> str:
        return "\n\n".join(part for part in self._parts() if part) + "\n"

    def _parts(self) -> Iterator[str]:
        article, word = self._article, self._speech.gettext
        yield f"# {escaped(clean.one_line(article.title))}"
        yield self._say(article.standfirst)
        yield self._byline()
        for notice in article.notices:
            yield f"> [!CAUTION]\n> {self._say(notice)}"
        box = headlines(article.findings)
        if box:
            yield f'<a id="findings"></a>\n\n## {word("Findings")}'
            yield "\n".join(f"- {self._claim(f)}" for f in box)
        for section in article.sections:
            yield f'<a id="{section.key}"></a>\n\n## {self._say(section.title)}'
            for block in section.blocks:
                yield from self._block(block)
        yield "---"
        built = word("Built by {tool} from results {digest}.")
        tool, digest = f"study {clean.one_line(article.tool_version)}", clean.one_line(article.digest)
        yield f"<sub>{built.format(tool=escaped(tool), digest=code(digest))}</sub>"

    def _claim(self, finding: Finding) -> str:
        """A finding of the box: its sentence, its caveats in small letters, its mark."""
        caveats = " ".join(self._say(caveat) for caveat in finding.caveats)
        parts = [self._say(finding.sentence), f"<sub>{caveats}</sub>" if caveats else "", self._mark(finding)]
        return " ".join(part for part in parts if part)

    def _byline(self) -> str:
        article, speech = self._article, self._speech
        day = escaped(clean.one_line(speech.day(article.published)))
        parts = [
            speech.gettext("Measured {day}").format(day=day),
            escaped(clean.one_line(article.machine)),
        ]
        if article.authors:
            parts.insert(0, escaped(speech.joined([clean.one_line(name) for name in article.authors])))
        measured = speech.gettext("{measured} of {planned} trials measured").format(
            measured=speech.numbers.number(article.trials_measured, "integer"),
            planned=speech.numbers.number(article.trials_planned, "integer"),
        )
        time = speech.gettext("{time} of measuring").format(
            time=speech.numbers.number(article.measured_s, "duration")
        )
        return " · ".join([*parts, measured, time])

    def _block(self, block: Block) -> Iterator[str]:
        word = self._speech.gettext
        match block:
            case Paragraph():
                words = " ".join(self._say(sentence) for sentence in block.sentences)
                found = self._findings.get(block.finding)
                yield f"{words} {self._mark(found)}".rstrip() if found else words
            case AuthorText():
                yield _author(block.markdown)
            case FigureBlock():
                yield from self._figure(block.figure)
            case TableBlock():
                yield from self._whole_table(block.table)
                yield f"[CSV](data/{block.table.key}.csv)"
            case Specification():
                head = f"| {word('Item')} | {word('Value')} |\n| --- | --- |"
                rows = [f"| {self._say(term)} | {self._say(value)} |" for term, value in block.rows]
                yield "\n".join([head, *rows])
            case Bullets():
                yield "\n".join(f"- {self._say(item)}" for item in block.items)
            case Note():
                words = " ".join(self._say(sentence) for sentence in block.sentences)
                yield f"> [!{_ALERTS[block.tone]}]\n> **{self._say(block.title)}**\n>\n> {words}"
            case Commands():
                yield _fenced("\n".join(clean.one_line(line, 1000) for line in block.lines), "sh")
            case Listing():
                summary = word("Show the file {name}").format(name=escaped(clean.one_line(block.name)))
                text = _fenced(clean.many_lines(block.text))
                yield f"<details>\n<summary>{summary}</summary>\n\n{text}\n\n</details>"
            case Downloads():
                table = f"data/{self._article.all_trials.key}.csv"
                offers = [(word("raw data"), f"data/{name}") for name in sorted(self._raw)]
                offers += [(word("one row a trial"), table), (word("All trials"), "trials/index.html")]
                yield "\n".join(f"- [{what}]({where})" for what, where in offers)

    def _figure(self, figure: Figure) -> Iterator[str]:
        speech = self._speech
        label = figure_name(self._numbers.figures[figure.key], speech)
        yield f'<a id="{figure.key}"></a>\n\n### {self._say(figure.title)}'
        yield self._say(figure.subtitle)
        yield f"![{escaped(said(figure.alt, speech))}](charts/{figure.key}{self._tail}.svg)"
        notes = [self._say(note) for note in axis_notes(figure, speech.numbers)]
        yield " ".join([f"**{label}.** {self._say(figure.caption)}", *notes])
        yield f"[SVG](charts/{figure.key}{self._tail}.svg) · [CSV](data/{figure.table.key}.csv)"
        summary = speech.gettext("Show the numbers")
        yield f"<details>\n<summary>{summary}</summary>"
        yield from self._whole_table(figure.table)
        yield "</details>"

    def _whole_table(self, table: Table) -> Iterator[str]:
        """Caption, rows, and why values are missing."""
        label = table_name(self._numbers.tables[table.key], self._speech)
        laid = grid(table, self._speech)
        caption = " ".join(self._say(text) for text in (table.caption, *laid.shared))
        yield f'<a id="{table.key}"></a>\n\n**{label}.** {caption}'
        yield self._rows(laid)
        if laid.notes:
            yield "<br>\n".join(f"<sup>{note.mark}</sup> {self._say(note.reason)}" for note in laid.notes)

    def _rows(self, laid: Grid) -> str:
        heads = [
            self._say(head.title) + (f", {escaped(head.unit)}" if head.unit else "") for head in laid.heads
        ]
        lines = [_row(heads), _row(["--:" if head.numeric else "---" for head in laid.heads])]
        lines += [_row([self._cell(cell) for cell in row]) for row in laid.rows]
        return "\n".join(lines)

    def _cell(self, cell: Entry) -> str:
        if cell.mark:
            return f"– <sup>{cell.mark}</sup>"
        if cell.slot is not None:
            return self._say(cell.slot)
        return cell.digits + (f" <sub>{cell.interval}</sub>" if cell.interval else "")

    def _mark(self, finding: Finding) -> str:
        mark = evidence_mark(finding, self._numbers, self._speech)
        if mark is None:
            return ""
        note = self._say(mark.note)
        link = f", [{mark.link}](#{mark.anchor})" if mark.anchor else ""
        dots = "●" * mark.dots + "○" * (3 - mark.dots)
        return f"<sub>{dots} {mark.word}{': ' if note else ''}{note}{link}</sub>"

    def _say(self, slot: Slot) -> str:
        return "".join(
            code(piece.text) if piece.kind == "code" else escaped(piece.text)
            for piece in pieces(slot, self._speech)
        )


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _fenced(text: str, info: str = "") -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{text}\n{fence}"


def _author(markdown: str) -> str:
    """A person's Markdown stays Markdown, without HTML, pictures and links to anywhere but the web."""
    text = clean.many_lines(markdown).strip().replace("<", "&lt;").replace("!" + "[", "\\!\\[")
    text = re.sub(r"(?i)(javascript|data|vbscript)\s*:", r"\1&#58;", text)
    return re.sub(r"(?m)^(#{1,4})(?=\s)", lambda m: "##" + m[1], text).replace("@", "&#64;")
