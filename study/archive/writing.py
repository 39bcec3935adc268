"""A file appears whole or not at all."""

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary name beside `path`, flush to disk, rename, and flush the folder.

    Raises:
        OSError: the disk is full or the folder cannot be written; `path` is then as it was.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def remove_temporaries(folder: Path) -> None:
    """Remove what a killed run left half-written in `folder`."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)
