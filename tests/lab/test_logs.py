"""Tests of keeping no more of a log than is worth keeping."""

from pathlib import Path

from study.lab.logs import MOST_BYTES, TAIL_LINES, cut, read_log, tail_of
from study.lab.scrub import Identity

NOBODY = Identity(home="", user="", hosts=())


def test_a_long_log_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    """Both ends stay in whole lines, and what is left out is counted to the byte."""
    lines = [f"line {number:06d}" for number in range(20_000)]
    path = tmp_path / "log"
    path.write_text("\n".join(lines) + "\n")

    text = read_log(path, NOBODY)
    kept = text.splitlines()
    note = next(line for line in kept if line.startswith("["))
    kept.remove(note)

    assert len(text.encode()) <= MOST_BYTES + len(note) + 2
    assert kept[0] == lines[0]
    assert kept[-1] == lines[-1]
    assert set(kept) <= set(lines)
    left_out = int(note.removeprefix("[").partition(" ")[0])
    assert abs(left_out - (len(lines) - len(kept)) * len("line 000000\n")) <= 1


def test_a_secret_cut_in_two_is_left_out(tmp_path: Path) -> None:
    """A line across the cut is dropped whole: no rule knows half a secret."""
    path = tmp_path / "log"
    path.write_text("start\n" + "hf_" + "a" * 200_000 + "\nend\n")

    text = read_log(path, NOBODY)

    assert "aaa" not in text
    assert text.startswith("start")
    assert text.endswith("end\n")


def test_a_log_of_bytes_that_are_no_text_can_be_read(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 become marks; a missing log is empty."""
    (tmp_path / "log").write_bytes(b"a\xff\xfeb\n")

    assert read_log(tmp_path / "log", NOBODY) == "a\ufffd\ufffdb\n"
    assert read_log(tmp_path / "none", NOBODY) == ""


def test_a_tail_is_the_last_lines_that_say_something() -> None:
    """Empty lines do not count, and no line is endless."""
    text = "\n\n".join(f"line {number}" for number in range(50)) + "\n" + "x" * 1000

    tail = tail_of(text)

    assert len(tail) == TAIL_LINES
    assert tail[-2] == "line 49"
    assert len(tail[-1]) == 400
    assert tail[-1].endswith("…")


def test_cut_leaves_what_is_short_enough() -> None:
    """A text of just the length is not marked as cut."""
    assert cut("abc", 3) == "abc"
    assert cut("abcd", 3) == "ab…"
