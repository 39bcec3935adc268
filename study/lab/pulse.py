"""Whether a rank still steps: its heartbeat, looked at while it runs.

The host runs ahead of a device: it may queue every step of the window within milliseconds and then wait
in one synchronise for nearly the whole of it, without a beat and in good health. So the silence that
means a hang is never shorter than three times the window's expected length.
"""

from pathlib import Path

from study.domain.heartbeat import SIZE, WINDOW, Beat, beat_file, read_beat
from study.lab.files import read_plain

WINDOWS = 3.0
"""Expected lengths of the window that a rank may be silent for. It is a judgement: pace may halve in heat."""

WATCHED_S = 1.0
"""The longest stretch between two looks that counts as silence: if this process itself was stopped, or
the whole machine, nobody watched and the rank may not have had a chance."""


class Pulse:
    """One rank's heartbeat as it is seen from outside. Call `look` now and then."""

    def __init__(self, folder: Path, rank: int, limit_s: float) -> None:
        self._path = beat_file(folder, rank)
        self._limit_s = limit_s
        self._beat: Beat | None = None
        self._looked_s: float | None = None
        self.silent_s = 0.0

    def look(self, now_s: float) -> None:
        """Read the file; `now_s` is a monotonic clock."""
        beat = self._read()
        watched_s = 0.0 if self._looked_s is None else min(now_s - self._looked_s, WATCHED_S)
        self._looked_s = now_s
        quiet = beat is not None and beat.phase == WINDOW and beat == self._beat
        self.silent_s = self.silent_s + watched_s if quiet else 0.0
        self._beat = beat

    @property
    def hangs(self) -> bool:
        """Whether the rank was silent in its window for longer than can be right."""
        if self._beat is None:
            return False
        return self.silent_s > max(self._limit_s, WINDOWS * self._beat.expected_ns / 1e9)

    def _read(self) -> Beat | None:
        try:
            return read_beat(read_plain(self._path, SIZE))
        except OSError:  # not written yet, or the rank did away with its folder
            return None
