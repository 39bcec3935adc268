"""The words that generated sentences may not hold: comparatives, praise, causes, time to train, digits.

Throughput over a fixed number of steps is not time to train, a ratio is not a cause, and the verdict
decides the words: so the frames say "is 1.62 times that of" and nothing else.
"""

import re

COMPARATIVES = (
    "faster|slower|quicker|better|worse|best|worst|superior|inferior|higher|lower|greater|improves?|"
    "improved|improvement|outperforms?|beats?|wins?|winner|gains?"
)
PRAISE = (
    "huge|impressive|dramatic|dramatically|significant|significantly|excellent|great|poor|remarkable|"
    "massive|trend|only|just|almost|nearly"
)
CAUSES = "because|due to|thanks to|owing to|caused by|explains?|therefore|hence"
TIME_TO_TRAIN = r"trains? (?:faster|quicker|in less time)|time to train|training time"


def comparative(frame: str) -> str:
    """The first comparative or word of praise in a frame, or nothing."""
    return _first(f"{COMPARATIVES}|{PRAISE}", frame)


def cause(frame: str) -> str:
    """The first word of cause in a frame, or nothing."""
    return _first(CAUSES, frame)


def time_to_train(frame: str) -> str:
    """The first words in a frame that speak of time to train, or nothing."""
    return _first(TIME_TO_TRAIN, frame)


def digit(frame: str) -> str:
    """The first digit in a frame, or nothing: numbers come through slots."""
    found = re.search(r"\d", frame)
    return found.group() if found else ""


def _first(words: str, frame: str) -> str:
    found = re.search(rf"\b(?:{words})\b", frame, flags=re.IGNORECASE)
    return found.group() if found else ""
