"""Whether a rank still steps, from its heartbeat: with a clock of the test's own, and real files."""

from pathlib import Path

import pytest

from study.domain.heartbeat import CHECKS, OPENING, WARM_UP, WINDOW, beat_file, read_beat
from study.lab.pulse import Pulse
from study.worker.heartbeat import Heart


def watched(folder: Path, *, seconds: int, expected_s: float = 0.1, phase: int = WINDOW) -> Pulse:
    """A pulse of a rank that beats for ten seconds and then is silent for so many; ten looks a second."""
    heart, pulse = Heart(folder, 0), Pulse(folder, 0, limit_s=5.0)
    heart.expect(expected_s * 1e9)
    heart.enter(phase)
    for tenth in range(100 + seconds * 10):
        if tenth < 100:
            heart.words[1] = tenth
        pulse.look(tenth / 10)
    return pulse


def test_a_heart_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Phase, steps and expected nanoseconds, in a file of 24 bytes."""
    heart = Heart(tmp_path, 3)
    heart.expect(2.5e9)
    heart.enter(WINDOW)
    heart.words[1] = 7

    assert read_beat(beat_file(tmp_path, 3).read_bytes()) == (WINDOW, 7, 2_500_000_000)
    assert read_beat(b"short") is None


@pytest.mark.parametrize(
    ("seconds", "expected_s", "hangs"),
    [(4, 0.1, False), (6, 0.1, True), (20, 10.0, False), (29, 10.0, False), (32, 10.0, True)],
)
def test_silence_is_a_hang_beyond_the_limit_and_three_windows(
    tmp_path: Path, seconds: int, expected_s: float, hangs: bool
) -> None:
    """A limit of 5 s holds for a short window; a window of 10 s may be silent for 30."""
    pulse = watched(tmp_path, seconds=seconds, expected_s=expected_s)

    assert pulse.hangs is hangs
    assert pulse.silent_s == pytest.approx(seconds, abs=0.2)


@pytest.mark.parametrize("phase", [OPENING, WARM_UP, CHECKS])
def test_only_the_window_has_a_silence(tmp_path: Path, phase: int) -> None:
    """Opening a device, compiling and checking may take as long as the time limit allows."""
    assert not watched(tmp_path, seconds=60, phase=phase).hangs


def test_what_nobody_watched_is_no_silence(tmp_path: Path) -> None:
    """A run that was stopped for an hour and goes on gives its ranks a chance."""
    heart, pulse = Heart(tmp_path, 0), Pulse(tmp_path, 0, limit_s=5.0)
    heart.enter(WINDOW)
    pulse.look(0.0)
    pulse.look(3600.0)

    assert not pulse.hangs
    assert pulse.silent_s == 1.0


def test_no_heartbeat_is_no_hang(tmp_path: Path) -> None:
    """Before the file is there, where it is torn, and where it is no file."""
    pulse = Pulse(tmp_path, 0, limit_s=0.1)
    for second in range(5):
        pulse.look(float(second))
    beat_file(tmp_path, 0).write_bytes(b"torn")
    pulse.look(5.0)

    assert not pulse.hangs
