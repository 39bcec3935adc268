"""What the press's tests share: the made-up article, a site printed from it, and a reader of HTML."""

import importlib.util
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType

import pytest

from study.press import publish


@pytest.fixture(scope="session")
def sample() -> ModuleType:
    """The module with the made-up article."""
    return loaded(Path(__file__).with_name("sample_article.py"))


@pytest.fixture(scope="session")
def hostile() -> ModuleType:
    """The module that puts payloads into every string of an article."""
    return loaded(Path(__file__).with_name("hostile_article.py"))


@pytest.fixture(scope="session")
def site(sample: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with two articles in two languages, and each article as one file."""
    folder = tmp_path_factory.mktemp("site")
    other = sample.article(
        path="quick/20261201t080000z-laptop", title="Two ranks", findings=sample.findings()[2:]
    )
    items = [(sample.article(), sample.RAW), (other, {})]
    publish(items, site=folder, languages=("en", "pl"), single_file=True)
    return folder


class Element:
    """A start tag of a page, with what its attributes say."""

    def __init__(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tag, self.attributes = tag, attributes


class Reader(HTMLParser):
    """Collects a page's elements, and the text in them."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="session")
def read_page() -> object:
    """A function from HTML to its elements and words."""

    def read(html: str) -> Reader:
        reader = Reader()
        reader.feed(html)
        return reader

    return read


def loaded(path: Path) -> ModuleType:
    """A module of this folder, which is no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
