"""The rank's own side of its heartbeat: words in mapped memory, so that a beat costs no system call."""

import mmap
from pathlib import Path

from study.domain.heartbeat import EXPECTED_NS, PHASE, SIZE, STEPS, beat_file


class Heart:
    """A rank's heartbeat. The timing loop writes into `words` itself; a method call would cost more.

    A page of the file may be written to disk meanwhile, after which the next beat takes one page fault
    (a microsecond or two, at most every few seconds).
    """

    def __init__(self, folder: Path, rank: int) -> None:
        path = beat_file(folder, rank)
        path.write_bytes(bytes(SIZE))  # real bytes: a hole that finds the disk full later is a SIGBUS
        with path.open("r+b") as file:
            self.words = memoryview(mmap.mmap(file.fileno(), SIZE)).cast("Q")

    def expect(self, window_ns: float) -> None:
        """How long the window should last, in nanoseconds."""
        self.words[EXPECTED_NS] = round(window_ns)

    def enter(self, phase: int) -> None:
        """Say where the rank is now; no step of it is done yet."""
        self.words[STEPS] = 0
        self.words[PHASE] = phase
