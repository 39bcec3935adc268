"""Reading what a rank left, whatever it is: a pipe must not hold up the run, nor a huge file fill memory."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 64 * 2**20
"""No reading is larger: the archive takes no record of more."""


def open_plain(path: Path) -> BinaryIO:
    """A plain file, open for reading.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read, or it is no plain file.
    """
    # without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is no plain file")
    return os.fdopen(descriptor, "rb")


def read_plain(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a plain file.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read, is no plain file, or is too large.
    """
    with open_plain(path) as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(f"it is larger than {most_bytes / 2**20:g} MiB")
    return content
