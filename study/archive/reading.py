"""Runs and records from disk, checked."""

from pathlib import Path

from study.archive.encoding import decode_record, decode_run
from study.domain.errors import BadArchive, BadUsage
from study.domain.record import Record
from study.domain.run import Run


def find_runs(runs: Path) -> list[Path]:
    """The folders of all runs under `runs`, sorted by study and time; none if there is no such folder."""
    return sorted(path.parent for path in runs.glob("*/*/run.json"))


def load_run(folder: Path) -> Run:
    """What `run.json` in `folder` says.

    Raises:
        BadUsage: there is no run in that folder.
        BadArchive: the file cannot be read, or was changed after it was written.
    """
    path = folder / "run.json"
    if not path.is_file():
        raise BadUsage(f"{folder}: there is no run there (no run.json).", "`study list runs` shows the runs.")
    return decode_run(path)


def load_records(folder: Path) -> list[Record]:
    """Every attempt of the run in `folder`, by order and attempt.

    Raises:
        BadArchive: a record cannot be read, or does not stand under its own name.
    """
    found: list[Record] = []
    for path in sorted((folder / "trials").glob("*.json")):
        record = decode_record(path)
        if path.name != trial_file(record):
            raise BadArchive(
                str(path),
                f"the record in it belongs to {trial_file(record)}",
                "Give the file its own name back.",
            )
        found.append(record)
    return sorted(found, key=lambda record: (record.order, record.attempt))


def trial_file(record: Record) -> str:
    """The name of a record's file: the trial's id, and the attempt's number from the second on."""
    again = f".{record.attempt}" if record.attempt > 1 else ""
    return f"{record.trial}{again}.json"
