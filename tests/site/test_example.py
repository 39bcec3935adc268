"""The committed site is what the committed runs give, on any machine, at any time."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PLACES = [
    {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONHASHSEED": "1"},
    {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "LANG": "pl_PL.UTF-8", "PYTHONHASHSEED": "2"},
]


def render(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`study render` in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "study", "render", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_committed_site_is_what_the_committed_runs_give() -> None:
    """Byte for byte, with the versions in constraints.txt."""
    made_with = json.loads((ROOT / "site" / "manifest.json").read_text())["depends_on"]
    other = {name: version(name) for name in made_with if version(name) != made_with[name]}
    if other and not os.environ.get("CI"):
        pytest.skip(f"the site was made with other versions than {other}; install with constraints.txt")

    done = render(ROOT, "--check", **PLACES[0])

    assert done.returncode == 0, done.stdout + done.stderr


def test_time_zone_locale_hash_seed_and_folder_change_no_byte(tmp_path: Path) -> None:
    """Two renders of the same records in two places of the world."""
    trees = []
    for number, place in enumerate(PLACES):
        folder = tmp_path / f"place {number}"
        folder.mkdir()
        done = render(folder, "--runs", str(ROOT / "runs"), "--lang", "en,pl", **place)
        assert done.returncode == 0, done.stderr
        trees.append(tree(folder / "site"))

    assert trees[0] == trees[1]
    assert len(trees[0]) > 20


def test_rendering_again_writes_nothing(tmp_path: Path) -> None:
    """Unchanged pages keep their bytes and their times."""
    render(tmp_path, "--runs", str(ROOT / "runs"))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    again = render(tmp_path, "--runs", str(ROOT / "runs"), "--json")

    assert json.loads(again.stdout.splitlines()[-1])["changed"] == 0
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_check_names_the_files_that_differ(tmp_path: Path) -> None:
    """Exit code 1, nothing mended."""
    render(tmp_path, "--runs", str(ROOT / "runs"))
    page = tmp_path / "site" / "index.html"
    page.write_text("changed")

    done = render(tmp_path, "--runs", str(ROOT / "runs"), "--check")

    assert done.returncode == 1
    assert "index.html" in done.stdout
    assert page.read_text() == "changed"
