"""The press: articles become pages, charts, Markdown and data files; sentences become plain text.

It arranges nothing and judges nothing: what stands where is the article's, what a number means is the
finding's. Here words get a language, numbers their digits, and everything a form. Same articles, same bytes.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from study.domain.article import Article
from study.domain.text import Slot

__all__ = ["Published", "publish", "say"]


class Published(NamedTuple):
    """The pages of the site, and which of its files changed; paths are relative to the site."""

    pages: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


def publish(
    items: Sequence[tuple[Article, Mapping[str, bytes]]],
    *,
    site: Path,
    languages: Sequence[str] = ("en",),
    templates: Path | None = None,
    base_url: str | None = None,
    single_file: bool = False,
    check: bool = False,
) -> Published:
    """Print articles, each with the raw files to put beside it, into the site's folder.

    The site holds these articles and no others: pages of an earlier edition that are not in this one are
    removed. `check` writes nothing and tells what would change.

    Raises:
        BadInput: a path, a key or a file's name is not usable, or the site's folder holds a link in our way.
        BadUsage: there is no such language or folder of templates.
        OurFault: an article contradicts itself.
    """
    from study.press.edition import edition
    from study.press.site import differences, write

    files = edition(items, languages, templates, base_url, single_file=single_file)
    changes = differences(files, site) if check else write(files, site)
    pages = tuple(sorted(path for path in files if path.endswith(".html")))
    return Published(pages, *changes)


def say(text: Slot, language: str = "en") -> str:
    """A sentence, or any slot of one, as plain text.

    Raises:
        BadUsage: there is no such language.
        OurFault: a frame names a slot that it was not given.
    """
    from study.press.language import language as known
    from study.press.sentence import said

    return said(text, known(language))
