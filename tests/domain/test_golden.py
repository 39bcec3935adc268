"""One golden file for each outcome: what has been written must be readable for ever."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from study.domain.record import (
    Failed,
    Interrupted,
    Measured,
    Outcome,
    OutOfMemory,
    Record,
    Skipped,
    TimedOut,
)

GOLDEN = Path(__file__).parent.parent / "data" / "golden" / "schema-1"
OUTCOMES = {
    "measured": Measured,
    "out_of_memory": OutOfMemory,
    "failed": Failed,
    "timed_out": TimedOut,
    "skipped": Skipped,
    "interrupted": Interrupted,
}


def golden(name: str) -> bytes:
    """The bytes of one golden record."""
    return (GOLDEN / f"{name}.json").read_bytes()


def known_of(written: Any, now: Any) -> Any:
    """Of what is written now, the part that the file knows."""
    if isinstance(written, dict):
        return {key: known_of(value, now[key]) for key, value in written.items()}
    if isinstance(written, list):
        return [known_of(old, new) for old, new in zip(written, now, strict=True)]
    return now


def test_there_is_a_golden_file_for_every_outcome() -> None:
    """A seventh outcome needs a seventh file."""
    assert {path.stem for path in GOLDEN.glob("*.json")} == set(OUTCOMES)
    assert set(Outcome.__args__) == set(OUTCOMES.values())


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_golden_record_is_read_as_its_outcome_and_written_back_unchanged(name: str) -> None:
    """No field is lost, none changes; a field that came later stands beside them with its default."""
    record = msgspec.json.decode(golden(name), type=Record)

    assert isinstance(record.outcome, OUTCOMES[name])
    written = msgspec.json.decode(golden(name))
    assert known_of(written, msgspec.to_builtins(record, str_keys=True)) == written


@pytest.mark.parametrize("name", OUTCOMES)
def test_an_unknown_key_in_a_record_is_refused(name: str) -> None:
    """Whatever the level it stands on."""
    spoilt = golden(name).replace(b'"outcome":{', b'"outcome":{"surprise":1,', 1)

    with pytest.raises(msgspec.ValidationError, match="surprise"):
        msgspec.json.decode(spoilt, type=Record)


def test_a_missing_number_is_null_and_never_zero() -> None:
    """The loss of an inference trial is null, with the reason beside it."""
    record = msgspec.json.decode(golden("measured"), type=Record)

    assert isinstance(record.outcome, Measured)
    reading = record.outcome.readings[0]
    assert reading.loss_first is None
    assert reading.unknown["loss_first"]
