# ruff: noqa: E501 - a table of cases reads best on long lines
"""The site in a browser: accessible, silent, never wider than its window, complete without the script."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from study.press import publish

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
STUDY = "studies/a6000-scaling/20261128t101500z-z8"
PAGES = ("index.html", "404.html", f"{STUDY}/index.html", f"{STUDY}/trials/index.html", f"{STUDY}/pl/index.html", f"{STUDY}/single.html")  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Debian's Chromium; without it the tests are skipped here and fail where everything must be tested."""
    if not CHROMIUM.exists() and shutil.which("chromium") is None:
        sentence = "There is no browser: install Debian's package `chromium`."
        if os.environ.get("CI") == "true":
            pytest.fail(sentence)
        pytest.skip(sentence)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield opened
        opened.close()


def opened(browser: "Browser", path: Path, heard: list[str], **options: Any) -> "Page":
    """A page from the disk; what it says, asks for and fails at is heard."""
    page = browser.new_page(**options)
    page.on("console", lambda message: heard.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: heard.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (heard.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("requestfailed", lambda request: heard.append(f"failed: {request.url}"))
    page.on(
        "request", lambda r: None if r.url.startswith(("file:", "data:")) else heard.append(f"asked: {r.url}")
    )
    page.goto(path.resolve().as_uri())
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(browser: "Browser", site: Path, path: str, width: int, scheme: Any) -> None:
    """WCAG 2.2 AA and best practice, with everything unfolded, and nothing said on the console."""
    from axe_playwright_python.sync_playwright import Axe

    heard: list[str] = []
    page = opened(
        browser,
        site / path,
        heard,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        bypass_csp=True,
    )
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")

    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    result = Axe().run(page, options={"runOnly": tags, "preload": False})

    assert [(v["id"], [n["html"][:90] for n in v["nodes"]][:3]) for v in result.response["violations"]] == []
    assert heard == []
    page.close()


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
@pytest.mark.parametrize("path", PAGES)
def test_no_page_is_wider_than_its_window(browser: "Browser", site: Path, path: str, width: int) -> None:
    """Tables scroll in their own box; the page never does sideways."""
    heard: list[str] = []
    page = opened(browser, site / path, heard, viewport={"width": width, "height": 900})
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert heard == []
    page.close()


def test_the_policy_lets_style_script_and_charts_through_and_nothing_else(
    browser: "Browser", site: Path
) -> None:
    """Under the policy, from the disk, the page is styled, sorted and illustrated."""
    heard: list[str] = []
    page = opened(browser, site / STUDY / "index.html", heard, viewport={"width": 1280, "height": 900})

    assert page.evaluate("getComputedStyle(document.body).margin") == "0px"
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    assert page.locator("#t-fig-speedup thead button").count() == 4
    assert heard == []
    page.close()


def test_phones_get_the_narrow_drawing(browser: "Browser", site: Path) -> None:
    """The picture chosen depends on the width, and is shown at its own size."""
    names = {}
    for width in (390, 1280):
        page = opened(browser, site / STUDY / "index.html", [], viewport={"width": width, "height": 900})
        names[width] = page.evaluate("document.images[0].currentSrc.split('/').pop()")
        page.close()

    assert names == {390: "fig-speedup-narrow.svg", 1280: "fig-speedup.svg"}


def test_without_the_script_everything_is_there(browser: "Browser", site: Path) -> None:
    """Reading needs no JavaScript."""
    page = opened(browser, site / STUDY / "index.html", [], java_script_enabled=False)

    assert page.locator("#t-fig-speedup tbody tr").count() == 6
    assert page.locator(".findings .big").count() == 3
    page.close()


def test_tables_sort_and_filter(browser: "Browser", site: Path) -> None:
    """By number and by text, up and down; what is missing comes last; the count is told."""
    page = opened(
        browser, site / STUDY / "trials" / "index.html", [], viewport={"width": 1280, "height": 900}
    )

    def column(at: int) -> list[str]:
        return [
            cell.strip()
            for cell in page.locator(f"#trials tbody tr:visible > :nth-child({at})").all_inner_texts()
        ]

    page.get_by_role("button", name="Rate").click()
    numbers = [float(text.replace(",", "")) for text in column(3) if not text.startswith("–")]
    assert numbers == sorted(numbers)
    assert column(3)[-1].startswith("–")
    assert page.locator("th[aria-sort=ascending]").count() == 1
    page.get_by_role("button", name="Rate").click()
    assert page.locator("th[aria-sort=descending]").count() == 1
    numbers = [float(text.replace(",", "")) for text in column(3) if not text.startswith("–")]
    assert numbers == sorted(numbers, reverse=True)
    assert column(3)[-1].startswith("–")
    page.get_by_label("Filter rows").fill("out of memory")
    assert set(column(4)) == {"out of memory"}
    assert page.get_by_role("status").inner_text() == "3 of 24 rows"
    page.close()


def test_paper_is_light_and_unfolded(browser: "Browser", site: Path) -> None:
    """Printed from a dark screen the page is light, and the tables of charts are open."""
    page = opened(browser, site / STUDY / "index.html", [], color_scheme="dark")
    page.emulate_media(media="print")

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(
        "document.querySelector('#t-fig-speedup').checkVisibility({contentVisibilityAuto: true})"
    )
    assert not page.locator(".contents").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.chapter > p')).maxWidth") == "none"
    page.close()


@pytest.mark.parametrize("path", [f"{STUDY}/index.html", f"{STUDY}/trials/index.html"])
def test_no_table_is_cut_on_paper(browser: "Browser", site: Path, path: str) -> None:
    """On the 178 mm between an A4 page's margins every table shows all its columns."""
    page = opened(browser, site / path, [], viewport={"width": 673, "height": 950})
    page.emulate_media(media="print")

    widths = page.evaluate(
        "[...document.querySelectorAll('table')].map(t => [t.id, t.scrollWidth, t.parentElement.clientWidth])"
    )
    assert widths
    assert [name for name, needed, there in widths if needed > there + 1] == []
    page.close()


def test_evidence_is_printed_without_background_graphics(browser: "Browser", site: Path) -> None:
    """A filled dot is all border, because printers leave backgrounds out."""
    page = opened(browser, site / STUDY / "index.html", [])

    inside = page.evaluate(
        "(() => { const s = getComputedStyle(document.querySelector('.dots .on'));"
        " return parseFloat(s.width) - 2 * parseFloat(s.borderTopWidth) })()"
    )
    assert inside == 0
    page.close()


def test_a_hostile_article_does_nothing(
    browser: "Browser", sample: ModuleType, hostile: ModuleType, tmp_path: Path
) -> None:
    """No dialog, no request, no message, no page wider than a phone."""
    publish([(hostile.poisoned(sample.article()), {})], site=tmp_path, single_file=True)
    for path in ("index.html", f"{STUDY}/index.html", f"{STUDY}/trials/index.html", f"{STUDY}/single.html"):
        heard: list[str] = []
        page = opened(browser, tmp_path / path, heard, viewport={"width": 320, "height": 900})
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert heard == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
        page.close()
