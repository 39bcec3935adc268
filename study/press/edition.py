"""The edition: every file of the site as bytes, from articles and the data that belong to them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from study.domain.article import Article
from study.domain.errors import BadInput
from study.press import paths
from study.press.data import csv
from study.press.draw import Drawing, draw
from study.press.feed import feed
from study.press.language import Language, language
from study.press.markdown_page import markdown_page
from study.press.numbering import Numbering, figures_of, numbering, tables_of
from study.press.page import Chart, Download, Page, Templates, Variant, card, markdown_name

_INLINE_DATA_LIMIT = 1_000_000


class Item(NamedTuple):
    """An article, checked, with its raw files and its place."""

    article: Article
    raw: Mapping[str, bytes]
    numbers: Numbering
    folder: str


def edition(
    items: Sequence[tuple[Article, Mapping[str, bytes]]],
    languages: Sequence[str],
    templates: Path | None,
    base_url: str | None,
    *,
    single_file: bool,
) -> dict[str, bytes]:
    """Every file by its path in the site. The first language stands at the plain paths.

    Raises:
        BadInput: a path, a key or a file's name is not usable, or two items share a path.
        OurFault: an article contradicts itself.
    """
    press = Templates(templates)
    base_url = base_url.rstrip("/") if base_url else None
    speeches = [language(code) for code in languages]
    held = sorted(
        (_item(article, raw) for article, raw in items),
        key=lambda i: (i.article.published, i.folder),
        reverse=True,
    )
    if len({item.folder for item in held}) < len(held):
        raise BadInput("two articles share a path", "Give each run once.")
    files: dict[str, bytes] = {
        "assets/style.css": press.asset("style.css").encode(),
        "assets/sort.js": press.asset("sort.js").encode(),
        "feed.xml": feed([item.article for item in held], speeches[0], base_url),
    }
    for item in held:
        _add(files, _data_files(item, speeches[0]))
        for speech in speeches:
            _add(files, _article_files(item, speech, speeches, press, base_url, single_file=single_file))
    for speech in speeches:
        path = _home(speech, speeches)
        page = _page(path, speech, speeches, base_url, "index.html")
        cards = [
            card(i.article, f"{page.root}{_prefix(i, speech, speeches)}index.html", i.numbers, speech)
            for i in held
        ]
        files[path] = press.index(cards, page).encode()
    lost = _page("404.html", speeches[0], speeches[:1], base_url, "404.html")
    if base_url:  # a host shows this page for any address, so that its links cannot be relative
        lost = lost._replace(root=f"{base_url}/")
    files["404.html"] = press.not_found(lost).encode()
    return files


def _item(article: Article, raw: Mapping[str, bytes]) -> Item:
    for name in raw:
        paths.checked_file(name)
    return Item(article, raw, numbering(article), f"studies/{paths.checked_slugs(article.path)}/")


def _add(files: dict[str, bytes], more: Mapping[str, bytes]) -> None:
    for path, content in more.items():
        if path in files:
            raise BadInput(f"two files would be written to {path}", "Give the raw data file another name.")
        files[path] = content


def _data_files(item: Item, speech: Language) -> dict[str, bytes]:
    files = {f"{item.folder}data/{name}": content for name, content in item.raw.items()}
    tables = {
        f"{item.folder}data/{t.key}.csv": csv(t, speech)
        for t in (*tables_of(item.article), item.article.all_trials)
    }
    _add(files, tables)
    return files


def _article_files(
    item: Item,
    speech: Language,
    speeches: Sequence[Language],
    press: Templates,
    base_url: str | None,
    *,
    single_file: bool,
) -> dict[str, bytes]:
    article, numbers = item.article, item.numbers
    files: dict[str, bytes] = {}
    prefix = _prefix(item, speech, speeches)
    tail = "" if speech is speeches[0] else f".{speech.code}"
    drawings: dict[str, tuple[Drawing, Drawing]] = {}
    for figure in figures_of(article):
        pair = draw(figure, speech, narrow=False), draw(figure, speech, narrow=True)
        drawings[figure.key] = pair
        files[f"{item.folder}charts/{figure.key}{tail}.svg"] = pair[0].svg
        files[f"{item.folder}charts/{figure.key}-narrow{tail}.svg"] = pair[1].svg

    def page_at(path: str, name: str) -> Page:
        page = _page(path, speech, speeches, base_url, item.folder + "{code}" + name)
        folder = "../" * (path.count("/") - item.folder.count("/"))
        downloads, records = _downloads(item, speech, folder, prefix.removeprefix(item.folder))
        return page._replace(
            folder=folder,
            downloads=downloads,
            records=records,
            charts={
                key: Chart(
                    f"{folder}charts/{key}{tail}.svg",
                    (wide.width, wide.height),
                    f"{folder}charts/{key}-narrow{tail}.svg",
                    (narrow.width, narrow.height),
                )
                for key, (wide, narrow) in drawings.items()
            },
        )

    page = page_at(f"{prefix}index.html", "index.html")
    files[f"{prefix}index.html"] = press.article(article, numbers, page).encode()
    trials = page_at(f"{prefix}trials/index.html", "trials/index.html")
    files[f"{prefix}trials/index.html"] = press.trials(article, numbers, trials).encode()
    text = markdown_page(article, numbers, speech, charts_tail=tail, raw=tuple(item.raw))
    files[f"{item.folder}{markdown_name(speech)}"] = text.encode()
    if single_file:
        whole = _without_neighbours(page, drawings, item)
        files[f"{item.folder}single{tail}.html"] = press.article(article, numbers, whole).encode()
    return files


def _prefix(item: Item, speech: Language, speeches: Sequence[Language]) -> str:
    return item.folder if speech is speeches[0] else f"{item.folder}{speech.code}/"


def _home(speech: Language, speeches: Sequence[Language]) -> str:
    return "index.html" if speech is speeches[0] else f"{speech.code}/index.html"


def _page(
    path: str, speech: Language, speeches: Sequence[Language], base_url: str | None, pattern: str
) -> Page:
    """What every page knows. `pattern` is its path with `{code}` where a language's folder goes."""
    root = "../" * path.count("/")

    def place(other: Language) -> str:
        code = "" if other is speeches[0] else f"{other.code}/"
        return pattern.replace("{code}", code) if "{code}" in pattern else code + pattern

    variants = tuple(
        Variant(other.code, other.name, root + place(other)) for other in speeches if other is not speech
    )
    return Page(
        speech=speech,
        path=path,
        root=root,
        home=_home(speech, speeches),
        folder="",
        variants=variants,
        base_url=base_url,
    )


def _downloads(
    item: Item, speech: Language, folder: str, own: str
) -> tuple[tuple[Download, ...], tuple[Download, ...]]:
    """The files on offer, and the raw records apart, which may be many."""
    size, word = speech.numbers.file_size, speech.gettext
    article = item.article
    listed = [
        Download(f"{folder}data/{name}", name, word("raw data"), size(len(content)))
        for name, content in sorted(item.raw.items())
        if "/" not in name
    ]
    listed.append(
        Download(
            f"{folder}data/{article.all_trials.key}.csv",
            f"{article.all_trials.key}.csv",
            word("one row a trial"),
            "",
        )
    )
    listed.append(
        Download(
            f"{folder}{own}trials/index.html", word("All trials"), word("a table to sort and filter"), ""
        )
    )
    listed.append(
        Download(f"{folder}{markdown_name(speech)}", markdown_name(speech), word("this text as Markdown"), "")
    )
    records = [
        Download(f"{folder}data/{name}", name, "", size(len(content)))
        for name, content in sorted(item.raw.items())
        if "/" in name
    ]
    return tuple(listed), tuple(records)


def _without_neighbours(page: Page, drawings: Mapping[str, tuple[Drawing, Drawing]], item: Item) -> Page:
    """The page on its own: charts and the smaller data files travel inside it."""
    from base64 import b64encode

    def inside(content: bytes, kind: str) -> str:
        return f"data:{kind};base64,{b64encode(content).decode()}"

    charts = {
        key: page.charts[key]._replace(
            wide=inside(wide.svg, "image/svg+xml"), narrow=inside(narrow.svg, "image/svg+xml")
        )
        for key, (wide, narrow) in drawings.items()
    }
    downloads = tuple(
        file._replace(href=inside(item.raw[file.name], "application/octet-stream"))
        for file in page.downloads
        if file.name in item.raw and len(item.raw[file.name]) <= _INLINE_DATA_LIMIT
    )
    return page._replace(charts=charts, downloads=downloads, records=(), variants=(), inline=True)
