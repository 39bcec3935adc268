"""The site's folder: what is written, what is left alone, and what is refused."""

import json
from pathlib import Path

import pytest

from study.domain.errors import BadInput
from study.press.site import Changes, differences, manifest, write


def test_a_second_writing_touches_nothing(tmp_path: Path) -> None:
    """Unchanged files keep their bytes and their time."""
    files = {"index.html": b"a", "studies/x/index.html": b"b"}
    write(files, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}

    changes = write(files, tmp_path)

    assert changes == Changes((), ("index.html", "manifest.json", "studies/x/index.html"), ())
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_orphans_of_ours_go_and_others_stay(tmp_path: Path) -> None:
    """Only what the previous list names is removed, with folders that it leaves empty."""
    write({"index.html": b"a", "old/page.html": b"b"}, tmp_path)
    (tmp_path / "CNAME").write_text("lab.example")
    (tmp_path / "old" / "mine.txt").write_text("mine")

    changes = write({"index.html": b"a2"}, tmp_path)

    assert changes.removed == ("old/page.html",)
    assert changes.changed == ("index.html", "manifest.json")
    assert sorted(p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()) == [
        "CNAME",
        "index.html",
        "manifest.json",
        "old/mine.txt",
    ]


def test_a_folder_left_empty_is_removed(tmp_path: Path) -> None:
    """An orphan does not leave its folders behind."""
    write({"a/b/c.html": b"x"}, tmp_path)

    write({"index.html": b"y"}, tmp_path)

    assert not (tmp_path / "a").exists()


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    """A symbolic link in the site could lead anywhere, so it is refused, and named."""
    outside = tmp_path / "outside"
    outside.mkdir()
    site = tmp_path / "site"
    site.mkdir()
    (site / "studies").symlink_to(outside)

    with pytest.raises(BadInput, match="symbolic link"):
        write({"studies/x.html": b"x"}, site)

    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a\\..\\x", ""])
def test_nothing_is_written_outside(tmp_path: Path, path: str) -> None:
    """A path that leaves the folder is refused before anything is written."""
    with pytest.raises(BadInput, match="not a path inside"):
        write({"index.html": b"a", path: b"x"}, tmp_path / "site")

    assert not (tmp_path / "site").exists()


def test_a_manifest_that_names_files_outside_removes_none(tmp_path: Path) -> None:
    """A list that was tampered with cannot delete what is not the site's."""
    precious = tmp_path / "precious"
    precious.write_text("x")
    site = tmp_path / "site"
    write({"index.html": b"a"}, site)
    (site / "manifest.json").write_text(json.dumps({"files": {"../precious": "0"}}))

    with pytest.raises(BadInput, match="not a path inside"):
        write({"index.html": b"b"}, site)

    assert precious.read_text() == "x"


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"files": 3}', "null"])
def test_a_manifest_that_cannot_be_read_removes_nothing(tmp_path: Path, broken: str) -> None:
    """Without a readable list nothing is known to be ours."""
    write({"index.html": b"a", "other.html": b"b"}, tmp_path)
    (tmp_path / "manifest.json").write_text(broken)

    assert write({"index.html": b"a"}, tmp_path).removed == ()
    assert (tmp_path / "other.html").is_file()


def test_names_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    """Some file systems would keep only one of them."""
    with pytest.raises(BadInput, match="case of letters"):
        write({"a/Run.json": b"1", "a/run.json": b"2"}, tmp_path)


def test_the_manifest_lists_hashes_and_versions() -> None:
    """From it follows whether a site is what it says, and what its bytes depend on."""
    held = json.loads(manifest({"b": b"", "a": b"x"}))

    assert list(held["files"]) == ["a", "b"]
    assert held["files"]["b"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert {"matplotlib", "Babel", "Jinja2"} <= set(held["depends_on"])


def test_differences_write_nothing(tmp_path: Path) -> None:
    """A check only looks."""
    changes = differences({"index.html": b"a"}, tmp_path / "site")

    assert changes.changed == ("index.html", "manifest.json")
    assert not (tmp_path / "site").exists()
