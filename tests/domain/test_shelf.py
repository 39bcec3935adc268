"""Shelves are read without importing what stands on them."""

import subprocess
import sys
from pathlib import Path

import pytest

from study.domain import shelf
from study.domain.errors import BadShelfFile


def put(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """A shelf of launchers in `folder` with one file, `odd_one.py`."""
    monkeypatch.setitem(shelf.SHELVES, "launchers", "study.somewhere")
    monkeypatch.setattr(shelf, "PACKAGE", folder)
    (folder / "somewhere").mkdir()
    (folder / "somewhere" / "odd_one.py").write_text(text)


def test_a_file_on_a_shelf_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An underscore in a file's name is a hyphen in a study file."""
    put(tmp_path, monkeypatch, 'FACTS = {"summary": "odd", "several_nodes": True}\nraise RuntimeError\n')

    assert shelf.module_names("launchers") == {"odd-one": "study.somewhere.odd_one"}
    assert shelf.facts("launchers", "odd-one", shelf.LauncherFacts).several_nodes is True


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "it states no FACTS"),
        ("FACTS = {\n", "it cannot be read as Python"),
        ("FACTS = make()\n", "FACTS: "),
        ('FACTS = {"summary": "odd"}\n', "missing required field `several_nodes`"),
        ('FACTS = {"summary": "odd", "several_nodes": True, "x": 1}\n', "unknown field `x`"),
    ],
)
def test_a_file_that_breaks_the_contract_stops_the_command_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    """A bad file is never passed over in silence."""
    put(tmp_path, monkeypatch, text)

    with pytest.raises(BadShelfFile) as refused:
        shelf.facts("launchers", "odd-one", shelf.LauncherFacts)

    assert "study.somewhere.odd_one" in refused.value.problem
    assert words in refused.value.problem


@pytest.mark.parametrize("module", ["no_such_package.module", "json.nowhere", "study_no_such"])
def test_an_entry_point_that_leads_nowhere_is_named(module: str) -> None:
    """The distribution that states it is at fault, and the sentence says which module was meant."""
    with pytest.raises(BadShelfFile, match="its entry point leads nowhere") as refused:
        shelf.source_of(module)

    assert module in refused.value.problem


def test_reading_the_shelves_imports_no_torch() -> None:
    """So that `study plan` runs where torch is not installed."""
    code = (
        "import sys\n"
        "from study.planning.plan import read_shelves\n"
        "read_shelves()\n"
        "print(sorted(m for m in sys.modules if m == 'torch' or m.startswith('study.worker')))\n"
    )

    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert printed.stdout.strip() == "[]"
