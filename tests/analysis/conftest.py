"""What the tests of the desk share: a measured study, repeats of one cell, and published measurements."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from fakes.records import fake_run

from study.analysis.intervals import Repeats
from study.domain.record import Record
from study.domain.run import Run

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
def quick() -> tuple[Run, tuple[Record, ...]]:
    """A complete study of five blocks on two devices."""
    return fake_run()


@pytest.fixture
def repeats_of() -> Callable[..., Repeats]:
    """Makes the repeats of a cell from its rates: a billion units in each trial."""

    def make(rates: Sequence[float], blocks: Sequence[int] | None = None) -> Repeats:
        numbers = tuple(blocks or range(1, len(rates) + 1))
        return Repeats(
            trials=tuple(f"trial-{number}" for number in numbers),
            blocks=numbers,
            work=(10**9,) * len(rates),
            wall_s=tuple(1e9 / rate for rate in rates),
        )

    return make


@pytest.fixture(scope="session")
def published() -> dict[str, dict[str, Any]]:
    """Published measurements by id, each with its source."""
    text = (DATA / "published_scaling.json").read_text(encoding="utf-8")
    return {each["id"]: each for each in json.loads(text)["datasets"]}
