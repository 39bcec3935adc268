"""What the ranks printed, as it may be kept: scrubbed, and no more of it than is worth keeping."""

from pathlib import Path

from study.lab.files import open_plain
from study.lab.scrub import Identity, scrub

MOST_BYTES = 64 * 1024
HEAD_BYTES = 16 * 1024
TAIL_LINES = 20
LINE_LENGTH = 400


def read_log(path: Path, who: Identity) -> str:
    """A log's text, scrubbed; of a long one the first 16 KiB and the last 48 KiB, in whole lines.

    Whole lines, because half a secret is a secret that no rule knows. Empty if there is no such file.
    """
    try:
        with open_plain(path) as log:
            size = log.seek(0, 2)
            log.seek(0)
            if size <= MOST_BYTES:
                return scrub(_text(log.read()), who)
            head = log.read(HEAD_BYTES).rpartition(b"\n")[0]
            log.seek(size - (MOST_BYTES - HEAD_BYTES))
            tail = log.read(MOST_BYTES - HEAD_BYTES).partition(b"\n")[2]
    except OSError:
        return ""
    left_out = size - len(head) - len(tail)
    return scrub(f"{_text(head)}\n[{left_out} bytes left out]\n{_text(tail)}", who)


def tail_of(text: str) -> tuple[str, ...]:
    """The last lines that say something, none of them endless."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return tuple(cut(line, LINE_LENGTH) for line in lines[-TAIL_LINES:])


def cut(text: str, length: int) -> str:
    """`text`, or its beginning with a mark that there was more."""
    return text if len(text) <= length else text[: length - 1] + "…"


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="replace")
