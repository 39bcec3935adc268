"""Markdown that a person wrote: made into HTML, then reduced to a short list of harmless elements.

Headings begin at the third level, because the first two are the article's. Pictures are left out: the press
knows only its own.
"""

from typing import TYPE_CHECKING

from study.press import clean

if TYPE_CHECKING:
    from markupsafe import Markup

_INLINE = ("a", "abbr", "br", "code", "em", "kbd", "strong", "sub", "sup")
_BLOCK = ("blockquote", "dd", "dl", "dt", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul")
_TABLE = ("table", "tbody", "td", "th", "thead", "tr")
_TAGS = frozenset((*_INLINE, *_BLOCK, *_TABLE))
_ATTRIBUTES = {"a": {"href", "title"}, "th": {"scope"}} | {f"h{level}": {"id"} for level in range(3, 7)}
_GONE = frozenset({"script", "style", "iframe", "object", "template", "svg", "math", "noscript", "textarea"})


def author_html(markdown: str, prefix: str) -> "Markup":
    """The text as HTML; its anchors begin with `prefix`, so that they meet no others."""
    import nh3
    from markdown import Markdown
    from markupsafe import Markup

    writer = Markdown(
        extensions=["tables", "fenced_code", "sane_lists", "toc"],
        extension_configs={"toc": {"baselevel": 3}},
        output_format="html",
    )
    raw = writer.convert(clean.many_lines(markdown))
    return Markup(  # noqa: S704 - this is what sanitising is for
        nh3.clean(
            raw,
            tags=set(_TAGS),
            clean_content_tags=set(_GONE),
            attributes={tag: set(names) for tag, names in _ATTRIBUTES.items()},
            url_schemes={"https", "http", "mailto"},
            link_rel="noopener nofollow",
            id_prefix=prefix,
            strip_comments=True,
        )
    )
