"""The Atom feed (RFC 4287): one entry an article, dated by its data: the same articles make the same feed."""

from collections.abc import Sequence
from datetime import date
from hashlib import sha256
from uuid import UUID
from xml.etree import ElementTree

from study.domain.article import Article
from study.press import clean
from study.press.evidence import headlines
from study.press.language import Language
from study.press.sentence import said

_ATOM = "http://www.w3.org/2005/Atom"


def feed(articles: Sequence[Article], speech: Language, base_url: str | None) -> bytes:
    """The feed of these articles, newest first; without an address of the site its links are relative."""
    ElementTree.register_namespace("", _ATOM)
    root = ElementTree.Element(
        f"{{{_ATOM}}}feed", {"{http://www.w3.org/XML/1998/namespace}lang": speech.code}
    )
    base = f"{base_url}/" if base_url else ""
    _add(root, "title", speech.gettext("Scaling notes"))
    _add(root, "id", _urn("feed", base))
    _add(root, "updated", max((_moment(article.published) for article in articles), default=_moment("")))
    _add(root, "link", "", rel="self", href=f"{base}feed.xml")
    for article in articles:
        entry = ElementTree.SubElement(root, f"{{{_ATOM}}}entry")
        _add(entry, "title", clean.one_line(article.title))
        _add(entry, "id", _urn("article", article.path))
        _add(entry, "updated", _moment(article.published))
        _add(entry, "link", "", rel="alternate", href=f"{base}studies/{article.path}/index.html")
        for name in article.authors or (speech.gettext("Not named"),):
            author = ElementTree.SubElement(entry, f"{{{_ATOM}}}author")
            _add(author, "name", clean.one_line(name))
        told = [
            said(text, speech)
            for finding in headlines(article.findings)
            for text in (finding.sentence, *finding.caveats)
        ]
        standfirst = said(article.standfirst, speech)
        claims = [words for words in dict.fromkeys(told) if words not in standfirst]
        _add(entry, "summary", " ".join([standfirst, *claims]))
    ElementTree.indent(root, " ")
    return (
        b'<?xml version="1.0" encoding="utf-8"?>\n'
        + ElementTree.tostring(root, encoding="unicode").encode()
        + b"\n"
    )


def _add(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> None:
    ElementTree.SubElement(parent, f"{{{_ATOM}}}{tag}", attributes).text = text or None


def _urn(kind: str, name: str) -> str:
    """A name that stays the same wherever the site lies: a UUID of version 8 (RFC 9562) from a hash."""
    digest = bytearray(sha256(f"study {kind} {name}".encode()).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    return UUID(bytes=bytes(digest)).urn


def _moment(iso: str) -> str:
    try:
        return f"{date.fromisoformat(iso[:10]).isoformat()}T00:00:00Z"
    except ValueError:
        return "1970-01-01T00:00:00Z"
