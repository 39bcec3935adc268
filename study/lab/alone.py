"""One measuring run at a time on a machine: two would disturb each other."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from study.domain.errors import NotReady


@contextmanager
def alone_on_this_machine(folder: Path | None = None) -> Iterator[None]:
    """Hold this user's lock while measuring. `folder` is where it lies, by default the temporary folder.

    Raises:
        NotReady: another run is measuring.
    """
    place = folder or Path(tempfile.gettempdir())
    lock = filelock.FileLock(place / f"study-{os.getuid()}.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        raise NotReady(
            "Another `study run` is measuring on this machine, and the two would disturb each other.",
            "Wait for it to end.",
        ) from error
    try:
        yield
    finally:
        lock.release()
