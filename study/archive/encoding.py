"""Facts as strict JSON and back: no NaN, a content hash, older schemas migrated, newer ones refused."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from study.domain.errors import BadArchive, OurFault
from study.domain.fact import Fact
from study.domain.record import METHOD, SCHEMA, Record
from study.domain.run import RUN_SCHEMA, Run

LARGEST_FILE_BYTES = 64 * 2**20
CHANGED = "its content does not fit its hash, so it was changed after it was written"

Step = Callable[[dict[str, Any]], dict[str, Any]]

RECORD_STEPS: dict[int, Step] = {}
"""For each past schema of a record, the step that makes the next one of it. Kept for ever."""

RUN_STEPS: dict[int, Step] = {}
"""The same for `run.json`."""

F = TypeVar("F", bound=Fact)


def encode_record(record: Record) -> bytes:
    """A record as one line of JSON, its content hash filled in.

    Raises:
        OurFault: the record holds what JSON cannot say, such as NaN.
    """
    return _strict(msgspec.structs.replace(record, content_sha256=content_hash(record))) + b"\n"


def encode_run(run: Run) -> bytes:
    """A run as indented JSON.

    Raises:
        OurFault: the run holds what JSON cannot say.
    """
    hashed = msgspec.structs.replace(run, content_sha256=run_hash(run))
    return msgspec.json.format(_strict(hashed), indent=2) + b"\n"


def decode_record(path: Path) -> Record:
    """A record from its file, of this schema or migrated from an older one.

    Raises:
        BadArchive: the file cannot be read, is torn, is of a newer schema, or was changed by hand.
    """
    record, plain = _decode(path, Record, SCHEMA, RECORD_STEPS)
    if record.content_sha256 != _hash({**plain, **BARE_RECORD}):
        raise BadArchive(str(path), CHANGED, "Put the original file back; what was measured is not edited.")
    if record.method > METHOD:
        raise BadArchive(
            str(path),
            f"it was measured by method {record.method}; this version of study knows up to {METHOD}",
            "Install a newer study.",
        )
    return record


def decode_run(path: Path) -> Run:
    """A run from its `run.json`.

    Raises:
        BadArchive: as for `decode_record`.
    """
    run, plain = _decode(path, Run, RUN_SCHEMA, RUN_STEPS)
    if run.content_sha256 != _hash({**plain, **BARE_RUN}):
        raise BadArchive(str(path), CHANGED, "Put the original file back; a plan is not edited afterwards.")
    return run


BARE_RECORD = {"content_sha256": ""}
BARE_RUN = {"id": "", "sessions": (), "status": "complete", "content_sha256": ""}
"""What a hash does not cover: itself, and what changes while a run goes on."""


def content_hash(record: Record) -> str:
    """SHA-256 of the record as JSON with sorted keys and an empty `content_sha256`."""
    return _hash({**msgspec.to_builtins(record), **BARE_RECORD})


def run_hash(run: Run) -> str:
    """SHA-256 of what a run is made of apart from its name and sessions, as JSON with sorted keys."""
    return _hash({**msgspec.to_builtins(run), **BARE_RUN})


def _hash(plain: dict[str, Any]) -> str:
    """Of the file's own keys, whatever this version knows: a field that is added later breaks no old hash."""
    return hashlib.sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()


def _strict(fact: F) -> bytes:
    raw = msgspec.json.encode(fact)
    try:
        again = msgspec.json.decode(raw, type=type(fact))
    except msgspec.ValidationError as error:
        raise OurFault(f"A {type(fact).__name__} cannot be written as JSON: {error}") from error
    if again != fact:  # msgspec writes NaN and infinity as null
        raise OurFault(f"A {type(fact).__name__} does not come back from JSON as it went in.")
    return raw


def _decode(path: Path, fact: type[F], newest: int, steps: dict[int, Step]) -> tuple[F, dict[str, Any]]:
    """The fact, and the file's content as it stands there."""
    raw = _read(path)
    try:
        plain = json.loads(raw, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadArchive(
            str(path),
            f"not whole JSON ({error})",
            "Put it back from a copy; or move it away, and the same `study run` measures that trial again.",
        ) from error
    schema = plain.get("schema") if isinstance(plain, dict) else None
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise BadArchive(str(path), "it names no schema", "Is this a file of `study`? Move it away.")
    if schema > newest:
        raise BadArchive(
            str(path),
            f"schema {schema} is newer than this version of study, which reads up to {newest}",
            "Install a newer study.",
        )
    migrated = plain
    for step in range(schema, newest):
        migrated = steps[step](migrated)
    try:
        return msgspec.convert(migrated, fact), plain
    except msgspec.ValidationError as error:
        raise BadArchive(
            str(path),
            f"not a {fact.__name__.lower()}: {error}",
            "Put the original file back, or move it away.",
        ) from error


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise BadArchive(str(path), "larger than 64 MiB", "No record is; move it away.")
        return path.read_bytes()
    except OSError as error:
        raise BadArchive(str(path), f"cannot be read: {error.strerror}", "Check its permissions.") from error


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands there twice")
        found[key] = value
    return found


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
