"""What is read from disk is whole, unchanged, and of a schema that is known."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from fakes.archived import attempt_of, spoil

from study.archive import create_run, load_records, load_run
from study.archive.encoding import RECORD_STEPS, content_hash, decode_record, encode_record, encode_run
from study.domain.errors import BadArchive, BadUsage, OurFault
from study.domain.record import SCHEMA, Measured, Record, Surroundings
from study.domain.run import Run
from study.domain.trial import Plan


@pytest.fixture
def stored(tmp_path: Path, run: Run, plan: Plan, record: Record) -> Path:
    """The path of one record on disk."""
    with create_run(tmp_path, run, now=datetime(2026, 12, 1, tzinfo=UTC)) as folder:
        return folder.save(attempt_of(record, plan, 1), {})


def test_every_past_schema_has_a_step_to_the_next() -> None:
    """A record is readable for ever."""
    assert sorted(RECORD_STEPS) == list(range(1, SCHEMA))


def test_a_record_that_was_edited_is_refused(stored: Path) -> None:
    """Its hash does not fit any more."""
    spoil(stored, turnaround_ns=1)

    with pytest.raises(BadArchive) as refused:
        load_records(stored.parent.parent)

    assert str(stored) in refused.value.problem
    assert "changed after it was written" in refused.value.problem


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"schema":1,"method"', "not whole JSON"),
        (b"", "not whole JSON"),
        (b"\xff\xfe\x00", "not whole JSON"),
        (b'{"schema":1,"schema":1}', "the key 'schema' stands there twice"),
        (b'{"schema":1,"seed":NaN}', "NaN is not JSON"),
        (b"[" * 100_000, "not whole JSON"),
        (b"[]", "it names no schema"),
        (b'{"schema":true}', "it names no schema"),
        (b'{"schema":0}', "it names no schema"),
        (b'{"schema":99}', "schema 99 is newer than this version of study, which reads up to 1"),
        (b'{"schema":1}', "not a record: Object missing required field"),
    ],
)
def test_a_damaged_or_foreign_file_is_named_with_what_is_wrong(
    stored: Path, content: bytes, words: str
) -> None:
    """One sentence, no traceback, and nothing is changed on disk."""
    stored.write_bytes(content)

    with pytest.raises(BadArchive) as refused:
        load_records(stored.parent.parent)

    assert str(stored) in refused.value.problem
    assert words in refused.value.problem
    assert refused.value.remedy
    assert stored.read_bytes() == content


def test_a_record_under_another_records_name_is_refused(stored: Path) -> None:
    """A copy would count twice."""
    (stored.parent / "0009-copy.json").write_bytes(stored.read_bytes())

    with pytest.raises(BadArchive, match="belongs to"):
        load_records(stored.parent.parent)


def test_a_record_that_may_not_be_read_is_refused(stored: Path) -> None:
    """A folder stands where the file should be, since permissions do not stop root."""
    stored.unlink()
    stored.mkdir()

    with pytest.raises(BadArchive, match="cannot be read"):
        decode_record(stored)


def test_a_file_far_too_large_for_a_record_is_not_read(stored: Path) -> None:
    """65 MiB, sparse."""
    with stored.open("r+b") as file:
        file.truncate(65 * 2**20)

    with pytest.raises(BadArchive, match="larger than 64 MiB"):
        decode_record(stored)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    """With where to look."""
    with pytest.raises(BadUsage, match=r"no run\.json"):
        load_run(tmp_path)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_json_cannot_say_is_never_written(record: Record, value: float) -> None:
    """NaN would come back as null, and null means not recorded."""
    spoilt = msgspec.structs.replace(
        record, surroundings=Surroundings(foreign_cpu_share=value, load_before=0.0)
    )

    with pytest.raises(OurFault):
        encode_record(spoilt)


def test_a_loss_that_is_not_finite_is_never_written(record: Record) -> None:
    """Inside a reading too, where null is no value at all."""
    assert isinstance(record.outcome, Measured)
    reading = msgspec.structs.replace(record.outcome.readings[0], loss=(1.0, float("nan")))

    with pytest.raises(OurFault, match="cannot be written as JSON"):
        encode_record(msgspec.structs.replace(record, outcome=Measured(readings=(reading,))))


def test_the_hash_covers_everything_but_itself(record: Record) -> None:
    """A changed seed changes it; a filled-in hash does not."""
    hashed = msgspec.structs.replace(record, content_sha256="f" * 64)

    assert content_hash(hashed) == content_hash(record)
    assert content_hash(msgspec.structs.replace(record, seed=43)) != content_hash(record)


def test_equal_facts_are_equal_bytes(run: Run, record: Record) -> None:
    """So that an archive can be compared file by file."""
    assert encode_record(record) == encode_record(msgspec.structs.replace(record))
    assert encode_run(run) == encode_run(msgspec.structs.replace(run))
