"""A rank's heartbeat: a small file that says where the rank is, how far, and how long its window should last.

The rank maps the file into its memory and writes three words of 64 bits, in this machine's byte order;
whoever looks at it reads them. Both are on one machine, and a word is written at once or not at all.
"""

from pathlib import Path
from typing import NamedTuple

OPENING, WARM_UP, WINDOW, CHECKS = range(4)
"""Where a rank is: what comes before any step, the warm-up, the timed window, and all that follows it."""

PHASE, STEPS, EXPECTED_NS = range(3)
"""Which word is which. Steps count those done since the last barrier."""

WORDS = 3
SIZE = 8 * WORDS


class Beat(NamedTuple):
    """What a heartbeat says; `expected_ns` is the window's length at the pace of the warm-up."""

    phase: int
    steps: int
    expected_ns: int


def beat_file(folder: Path, rank: int) -> Path:
    """Where a rank's heartbeat is."""
    return folder / f"beat-{rank}"


def read_beat(content: bytes) -> Beat | None:
    """The words in the file, or nothing while it is not whole."""
    if len(content) != SIZE:
        return None
    return Beat(*memoryview(content).cast("Q"))
