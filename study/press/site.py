"""The site's folder: only what changed is written, each file in one step, and only our own files are removed.

`manifest.json` lists every file with its hash and the versions that the bytes depend on. What is not in it is
somebody else's and stays.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from study import __version__
from study.domain.errors import BadInput

MANIFEST = "manifest.json"


class Changes(NamedTuple):
    """What happened to the site's files; paths are relative to it."""

    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]


def manifest(files: Mapping[str, bytes]) -> bytes:
    """The list of a site's files."""
    held = {
        "built_by": f"study {__version__}",
        "depends_on": {name: version(name) for name in ("Babel", "Jinja2", "Markdown", "matplotlib", "nh3")},
        "files": {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)},
    }
    return (json.dumps(held, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def differences(files: Mapping[str, bytes], site: Path) -> Changes:
    """What writing the files would change.

    Raises:
        BadInput: a file would leave the site's folder or go through a link.
    """
    whole = {**files, MANIFEST: manifest(files)}
    changed: list[str] = []
    unchanged: list[str] = []
    for path in sorted(whole):
        target = _inside(site, path)
        same = target.is_file() and target.read_bytes() == whole[path]
        (unchanged if same else changed).append(path)
    orphans = [path for path in _listed(site) if path not in whole and _inside(site, path).is_file()]
    return Changes(tuple(changed), tuple(unchanged), tuple(sorted(orphans)))


def write(files: Mapping[str, bytes], site: Path) -> Changes:
    """Make the site's folder hold these files; the manifest comes last.

    Raises:
        BadInput: a file would leave the site's folder or go through a link.
    """
    changes = differences(files, site)
    whole = {**files, MANIFEST: manifest(files)}
    folded: dict[str, str] = {}
    for path in whole:
        twin = folded.setdefault(path.casefold(), path)
        if twin != path:
            raise BadInput(
                f"two files differ only in the case of letters: {twin} and {path}", "Rename one of them."
            )
    for path in sorted(changes.changed, key=lambda p: (p == MANIFEST, p)):
        if path == MANIFEST:
            for orphan in changes.removed:
                _remove(site, orphan)
        _write(_inside(site, path), whole[path])
    return changes


def _inside(site: Path, path: str) -> Path:
    """The file's place, if it is in the site's folder and no part of the way there is a link."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\\" in path:
        raise BadInput(f"{path!r} is not a path inside the site", "Nothing was written.")
    place = site
    for part in parts:
        place = place / part
        if place.is_symlink():
            raise BadInput(
                f"{place} is a symbolic link, and the press writes through none",
                "Remove it, or choose another --site.",
            )
    return place


def _listed(site: Path) -> list[str]:
    """The files in the site's own list; without a readable list, none."""
    place = _inside(site, MANIFEST)
    if not place.is_file():
        return []
    try:
        held = json.loads(place.read_text(encoding="utf-8"))
        listed = held["files"]
        return [path for path in listed if isinstance(path, str)] if isinstance(listed, dict) else []
    except (ValueError, KeyError, TypeError):
        return []


def _write(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(target)


def _remove(site: Path, path: str) -> None:
    place = _inside(site, path)
    place.unlink()
    parent = place.parent
    while parent != site and not any(parent.iterdir()):
        parent.rmdir()
        parent = parent.parent
