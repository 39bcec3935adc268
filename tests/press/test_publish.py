# ruff: noqa: E501, S314 - cases on long lines; XML of our own making
"""The whole site: its pages hold together, run nothing, and take nothing from outside for markup."""

import json
import re
import urllib.parse
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import msgspec
import pytest

from study.domain.article import AuthorText, SectionOfArticle
from study.domain.errors import BadInput, BadUsage, OurFault
from study.domain.text import said
from study.press import Published, publish

STUDY = "studies/a6000-scaling/20261128t101500z-z8"


def pages(site: Path) -> list[Path]:
    """Every HTML page of a site."""
    return sorted(site.rglob("*.html"))


def test_every_expected_page_is_there(site: Path) -> None:
    """Index, article, trials and not-found, in both languages, with assets, data, charts and Markdown."""
    expected = {
        "index.html", "pl/index.html", "404.html", "feed.xml", "manifest.json", "assets/style.css", "assets/sort.js",
        *(f"{STUDY}/{name}" for name in ("index.html", "pl/index.html", "trials/index.html", "pl/trials/index.html")),
        *(f"{STUDY}/{name}" for name in ("article.md", "article.pl.md", "single.html", "single.pl.html")),
        *(f"{STUDY}/charts/fig-speedup{name}.svg" for name in ("", "-narrow", ".pl", "-narrow.pl")),
        *(f"{STUDY}/data/{name}" for name in ("run.json", "trials/0001-gpt-s.json", "trials.csv", "t-base.csv")),
    }  # fmt: skip

    assert expected <= {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


def test_links_lead_somewhere(site: Path, read_page: Callable[[str], object]) -> None:
    """Every link inside the site names a file that is there, and every fragment an element of it."""
    ids = {}
    for page in pages(site):
        elements = read_page(page.read_text()).elements  # type: ignore[attr-defined]
        ids[page.resolve()] = {e.attributes["id"] for e in elements if "id" in e.attributes}
    checked = 0
    for page in pages(site):
        for element in read_page(page.read_text()).elements:  # type: ignore[attr-defined]
            for name in ("href", "src", "srcset"):
                link = element.attributes.get(name)
                if link is None or re.match(r"(https?|data|mailto):", link):
                    continue
                path, _, fragment = link.partition("#")
                target = (page.parent / urllib.parse.unquote(path)).resolve() if path else page.resolve()
                assert target.is_relative_to(site.resolve()), (page, link)
                assert target.is_file(), (page, link)
                assert not fragment or fragment in ids[target], (page, link)
                checked += 1
    assert checked > 300


def test_pages_are_built_as_they_should_be(site: Path, read_page: Callable[[str], object]) -> None:
    """One heading of the first level, headings in order, unique ids, text for every picture, a language."""
    for page in pages(site):
        elements = read_page(page.read_text()).elements  # type: ignore[attr-defined]
        tags = [e.tag for e in elements]
        levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
        ids = [e.attributes["id"] for e in elements if "id" in e.attributes]
        assert tags.count("h1") == 1, page
        assert levels[0] == 1, page
        assert all(b <= a + 1 for a, b in pairwise(levels)), page
        assert len(ids) == len(set(ids)), page
        assert all(e.attributes.get("alt") for e in elements if e.tag == "img"), page
        assert elements[0].attributes["lang"] in ("en", "pl"), page
        assert tags.count("main") == 1, page


def test_nothing_inline_and_nothing_from_elsewhere(site: Path, read_page: Callable[[str], object]) -> None:
    """No inline style, script or handler; no address outside for a picture, style or script; a strict policy."""
    for page in pages(site):
        text = page.read_text()
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
        assert policy is not None
        assert policy[1].startswith("default-src &#39;none&#39;"), page
        assert "unsafe" not in policy[1]
        alone = page.name.startswith("single")
        for element in read_page(text).elements:  # type: ignore[attr-defined]
            assert "style" not in element.attributes, page
            assert not any(name.startswith("on") for name in element.attributes), page
            if not alone:
                assert element.tag != "style", page
                assert element.tag != "script" or element.attributes.get("src"), page
            for name in ("src", "srcset"):
                link = element.attributes.get(name) or ""
                assert not link.startswith(("http", "//", "/")), (page, link)


def test_the_policy_of_a_single_file_knows_its_own_texts(site: Path) -> None:
    """The hashes in the policy are those of the style and the script that stand in the file."""
    import base64
    import hashlib

    text = (site / STUDY / "single.html").read_text()
    for tag in ("style", "script"):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"sha256-{digest}".replace("+", "&#43;") in text or f"sha256-{digest}" in text
    assert not re.search(r'(?:src|srcset)="(?!data:)', text)


def test_findings_and_tables_say_their_numbers(site: Path) -> None:
    """Large number, sentence, interval, dots and link come from one finding."""
    text = (site / STUDY / "index.html").read_text()

    assert '<p class="big">3.72×</p>' in text
    assert '<span class="ci">(95% CI 3.67–3.77)</span>' in text
    assert text.count('<i class="on"></i><i class="on"></i><i class="on"></i>') == 2
    assert '<a href="#t-fig-speedup">Table 2</a>' in text
    assert "The axis “Efficiency” starts at 60%, not at zero." in text
    assert "n\u00a0=\u00a02, no interval" in text


def test_caveats_stand_wherever_the_finding_does(sample: ModuleType, tmp_path: Path) -> None:
    """Box, index card and feed say what has to be said beside the claim, and the feed says it once."""
    first, *rest = sample.findings()
    warned = msgspec.structs.replace(first, caveats=(said("More threads than cores."),))

    publish([(sample.article(findings=(warned, *rest), standfirst=warned.sentence), {})], site=tmp_path)

    small = '<p class="caveats">More threads than cores.</p>'
    for page in ("index.html", f"{STUDY}/index.html"):
        assert small in (tmp_path / page).read_text()
    summary = (
        ElementTree.parse(tmp_path / "feed.xml").findtext(".//{http://www.w3.org/2005/Atom}summary") or ""
    )
    assert summary.count("More threads than cores.") == 1
    assert summary.count("times as fast as one") == 1


def test_every_table_offers_its_csv(site: Path, sample: ModuleType) -> None:
    """Each CSV that is written can be reached from the page."""
    text = (site / STUDY / "index.html").read_text()
    trials = (site / STUDY / "trials" / "index.html").read_text()

    written = {path.name for path in (site / STUDY / "data").glob("*.csv")}
    assert {name for name in written if f'href="data/{name}"' in text} == written
    assert f'href="../data/{sample.trials_table().key}.csv"' in trials


def test_the_date_is_called_that_of_measuring(site: Path) -> None:
    """The run's end is no day of publication."""
    text = (site / STUDY / "index.html").read_text()

    assert re.search(r"Measured <time", text)
    assert "Published" not in text


def test_the_polish_page_is_polish_where_it_can_be(site: Path) -> None:
    """Words of the press are translated, digits follow the language, and English sentences are marked."""
    text = (site / STUDY / "pl" / "index.html").read_text()

    assert '<html lang="pl">' in text
    assert "Pokaż liczby" in text
    assert "Tabela 2" in text
    assert "2,39×" in text
    assert '<span lang="en">Peak memory and rate by strategy.</span>' in text
    assert 'hreflang="en" href="../../../../studies/a6000-scaling/20261128t101500z-z8/index.html"' in text


def test_printing_again_writes_nothing(sample: ModuleType, tmp_path: Path) -> None:
    """The same articles make the same bytes."""
    items = [(sample.article(), sample.RAW)]
    first = publish(items, site=tmp_path)

    second = publish(items, site=tmp_path)

    assert second == Published(first.pages, (), tuple(sorted(first.changed)), ())


def test_a_check_tells_and_does_not_write(sample: ModuleType, tmp_path: Path) -> None:
    """With `check` the folder stays as it was."""
    told = publish([(sample.article(), {})], site=tmp_path / "site", check=True)

    assert f"{STUDY}/index.html" in told.changed
    assert not (tmp_path / "site").exists()


def test_an_article_that_is_gone_takes_its_files_along(sample: ModuleType, tmp_path: Path) -> None:
    """The site holds the articles of this edition and no others."""
    other = sample.article(path="quick/other")
    publish([(sample.article(), {}), (other, {})], site=tmp_path)

    after = publish([(sample.article(), {})], site=tmp_path)

    assert "studies/quick/other/index.html" in after.removed
    assert not (tmp_path / "studies" / "quick").exists()


def test_an_address_makes_absolute_links_only_where_they_belong(sample: ModuleType, tmp_path: Path) -> None:
    """Canonical addresses, the feed and the not-found page know where the site lies; links stay relative."""
    publish([(sample.article(), {})], site=tmp_path, base_url="https://lab.example/notes/")

    page = (tmp_path / STUDY / "index.html").read_text()
    assert f'<link rel="canonical" href="https://lab.example/notes/{STUDY}/index.html">' in page
    assert 'href="https://lab.example/notes/assets/style.css"' in (tmp_path / "404.html").read_text()
    assert f'href="https://lab.example/notes/{STUDY}/index.html"' in (tmp_path / "feed.xml").read_text()


def test_the_feed_is_atom_with_stable_ids(site: Path) -> None:
    """Every entry has what RFC 4287 asks for, and an id that does not depend on the place."""
    atom = "{http://www.w3.org/2005/Atom}"
    root = ElementTree.fromstring((site / "feed.xml").read_bytes())

    entries = root.findall(f"{atom}entry")
    assert len(entries) == 2
    for element in (root, *entries):
        assert element.findtext(f"{atom}id", "").startswith("urn:uuid:")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00Z", element.findtext(f"{atom}updated", ""))
        assert element.findtext(f"{atom}title")
    assert all(entry.findtext(f"{atom}author/{atom}name") for entry in entries)


def test_a_lab_can_overlay_a_template(sample: ModuleType, tmp_path: Path) -> None:
    """A template in the lab's folder comes before ours; the others stay."""
    own = tmp_path / "templates"
    own.mkdir()
    (own / "404.html").write_text(
        "{% extends 'base.html' %}{% block title %}Our lab{% endblock %}{% block description %}{% endblock %}"
    )

    publish([(sample.article(), {})], site=tmp_path / "site", templates=own)

    assert "<title>Our lab</title>" in (tmp_path / "site" / "404.html").read_text()
    assert "Findings" in (tmp_path / "site" / STUDY / "index.html").read_text()


def test_a_missing_folder_of_templates_is_named(tmp_path: Path) -> None:
    """The error says which folder."""
    with pytest.raises(BadUsage, match="no folder of templates at"):
        publish([], site=tmp_path, templates=tmp_path / "nowhere")


def test_no_articles_make_an_index_that_says_so(tmp_path: Path) -> None:
    """An empty archive is not an error."""
    publish([], site=tmp_path)

    assert "There is no article yet." in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(
    "path", ["../evil", "/abs", "A/B", "a b", "con/x", "a//b", "a/..", "", "x/" + "y" * 200, ".git/hooks"]
)
def test_a_path_that_is_no_slug_is_refused(sample: ModuleType, tmp_path: Path, path: str) -> None:
    """An article cannot choose where it is written."""
    with pytest.raises(BadInput, match="not a usable path"):
        publish([(sample.article(path=path), {})], site=tmp_path)


@pytest.mark.parametrize(
    "name", ["../run.json", "/run.json", ".htaccess", "a/../b", "a\\b", "", "nul", "a\nb"]
)
def test_a_raw_file_cannot_leave_its_folder(sample: ModuleType, tmp_path: Path, name: str) -> None:
    """Names of raw files are checked before anything is written."""
    with pytest.raises(BadInput, match="not a usable name"):
        publish([(sample.article(), {name: b""})], site=tmp_path / "site")

    assert not (tmp_path / "site").exists()


def test_a_raw_file_cannot_replace_one_of_ours(sample: ModuleType, tmp_path: Path) -> None:
    """A clash of names is an error and no silent choice."""
    with pytest.raises(BadInput, match="two files would be written"):
        publish([(sample.article(), {"trials.csv": b""})], site=tmp_path)


def test_two_things_with_one_anchor_are_refused(sample: ModuleType, tmp_path: Path) -> None:
    """A link would not know where to go."""
    sections = sample.sections()

    with pytest.raises(OurFault, match="share an anchor: machine"):
        publish([(sample.article(sections=(*sections, sections[0])), {})], site=tmp_path)


def test_a_hostile_article_stays_text(
    sample: ModuleType, hostile: ModuleType, tmp_path: Path, read_page: Callable[[str], object]
) -> None:
    """With payloads in every string, pages have no element or attribute that the clean ones lack."""
    clean, dirty = tmp_path / "clean", tmp_path / "dirty"
    publish([(sample.article(), {})], site=clean, languages=("en", "pl"), single_file=True)
    publish([(hostile.poisoned(sample.article()), {})], site=dirty, languages=("en", "pl"), single_file=True)

    def shape(folder: Path) -> set[tuple[str, str]]:
        found = set()
        for page in pages(folder):
            for element in read_page(page.read_text()).elements:  # type: ignore[attr-defined]
                found |= {(element.tag, name) for name in ("", *element.attributes)}
        return found

    # Author text may use its short list of elements; isolation of right-to-left names is ours.
    allowed = {("bdi", ""), *((tag, "") for tag in ("h3", "h4", "hr", "pre", "code", "table", "tbody", "td"))}
    allowed |= {("h3", "id"), ("h4", "id"), ("p", "")}
    assert shape(dirty) - shape(clean) <= allowed
    for page in pages(dirty):
        text = page.read_text()
        for element in read_page(text).elements:  # type: ignore[attr-defined]
            for name in ("href", "src", "srcset"):
                assert (
                    not (element.attributes.get(name) or "")
                    .lower()
                    .startswith(("javascript:", "https://evil"))
                )
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "{{ 7*7 }}" in text or "7*7" not in text
        assert "49{%" not in text
    for chart in dirty.rglob("*.svg"):
        tags = {
            element.tag.rpartition("}")[2] for element in ElementTree.fromstring(chart.read_bytes()).iter()
        }
        assert "script" not in tags
        assert "foreignObject" not in tags
    ElementTree.fromstring((dirty / "feed.xml").read_bytes())


def test_hostile_text_is_still_shown(sample: ModuleType, hostile: ModuleType, tmp_path: Path) -> None:
    """What cannot run is shown as it was written, not swallowed."""
    publish([(hostile.poisoned(sample.article()), {})], site=tmp_path)

    words = "".join(page.read_text() for page in pages(tmp_path))
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt;" in words
    assert "$\\frac{$" in words
    assert "مرحبا 日本語 🙂" in words


@pytest.mark.parametrize(
    ("markdown", "there", "gone"),
    [
        ("a <script>alert(1)</script> b", "a", "alert"),
        ("[x](javascript:alert(1))", "x", "javascript"),
        ("[x](https://pytorch.org)", 'href="https://pytorch.org" rel="noopener nofollow"', "<script"),
        ("![x](https://evil.example/a.png)", "<p></p>", "img"),
        ("<p onclick=alert(1) style=color:red id=main class=top>x</p>", "<p>x</p>", "onclick"),
        ("# Heading", '<h3 id="u1-heading">Heading</h3>', "<h1"),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", "<table>", "style="),
        ("<iframe src=//evil.example></iframe>**b**", "<strong>b</strong>", "iframe"),
    ],
)
def test_author_text_is_reduced_to_what_is_harmless(
    sample: ModuleType, tmp_path: Path, markdown: str, there: str, gone: str
) -> None:
    """Markdown keeps its prose and loses markup, handlers, pictures and addresses that run."""
    section = SectionOfArticle(key="intro", title=said("Intro"), blocks=(AuthorText(markdown=markdown),))
    publish([(sample.article(sections=(section,), findings=()), {})], site=tmp_path)

    text = (tmp_path / STUDY / "index.html").read_text()
    body = re.search(r'<div class="author">(.*?)</div>', text, re.DOTALL)
    assert body is not None
    assert there in body[1]
    assert gone not in body[1]


def test_templates_never_bypass_escaping() -> None:
    """No template marks anything as safe, and every attribute is quoted."""
    from study.press.page import templates_folder

    for path in sorted(templates_folder().glob("*.html")):
        text = path.read_text()
        assert not re.search(r"\|\s*safe|autoescape|Markup", text), path
        assert not re.search(r"=\s*{{", re.sub(r"{%.*?%}|\(.*?\)", "", text)), path


def test_pages_are_small(site: Path) -> None:
    """A page stays under its budget, and the script under two kilobytes and a half."""
    article = site / STUDY
    assert (article / "index.html").stat().st_size < 120_000
    assert sum(path.stat().st_size for path in (article / "charts").glob("*.svg")) / 2 < 400_000
    assert (site / "assets" / "sort.js").stat().st_size < 2_700


def test_the_manifest_lists_every_file(site: Path) -> None:
    """What is in the folder is in the list, and the other way round."""
    listed = set(json.loads((site / "manifest.json").read_text())["files"])

    assert listed == {p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file()} - {
        "manifest.json"
    }


def test_publishing_does_not_change_the_article(sample: ModuleType, tmp_path: Path) -> None:
    """Facts are frozen."""
    article = sample.article()
    before = msgspec.json.encode(article)

    publish([(article, {})], site=tmp_path)

    assert msgspec.json.encode(article) == before
