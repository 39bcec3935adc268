"""One run's folder while it is being written, held by a lock so that two runs never mix."""

import contextlib
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import filelock
import msgspec

from study.archive.encoding import encode_record, encode_run
from study.archive.reading import load_records, load_run, trial_file
from study.archive.writing import remove_temporaries, write_whole
from study.domain.errors import BadInput, NotReady
from study.domain.record import Outcome, Record, is_settled
from study.domain.run import Run


class RunFolder:
    """A run's folder, open for writing. Use it as a context manager: inside, it holds the lock.

    Raises on entry:
        NotReady: another `study run` writes to this folder, or the folder cannot be written.
    """

    def __init__(self, path: Path, run: Run) -> None:
        self.path = path
        self.run = run
        self._lock = filelock.FileLock(path / ".lock")

    def __enter__(self) -> Self:
        try:
            self._lock.acquire(timeout=0)
        except filelock.Timeout as error:
            raise NotReady(
                f"Another `study run` is writing to {self.path}.",
                "Wait for it to end: two runs at once would disturb each other.",
            ) from error
        except OSError as error:
            raise self._refused(error) from error
        try:
            for folder in (self.path, self.path / "trials", self.path / "logs"):
                folder.mkdir(exist_ok=True)
                remove_temporaries(folder)
        except OSError as error:
            self._lock.release()
            raise self._refused(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()  # the lock's file stays: removing it would race with the next to lock it

    def attempts(self) -> dict[str, int]:
        """How many attempts each trial has on disk."""
        counts: dict[str, int] = {}
        for record in load_records(self.path):
            counts[record.trial] = counts.get(record.trial, 0) + 1
        return counts

    def done(self) -> frozenset[str]:
        """The trials that are not to be run again."""
        outcomes: dict[str, list[Outcome]] = {}
        for record in load_records(self.path):
            outcomes.setdefault(record.trial, []).append(record.outcome)
        return frozenset(trial for trial, several in outcomes.items() if is_settled(several))

    def save(self, record: Record, logs: dict[str, str]) -> Path:
        """Store one attempt: its logs first, then its record, which then never changes.

        `logs` maps a rank's name, such as `rank0`, to what it printed. It is all stored, or nothing of it.

        Raises:
            BadInput: there is a record of this attempt already.
            NotReady: the disk is full or the folder cannot be written.
        """
        path = self.path / "trials" / trial_file(record)
        if path.exists():
            raise BadInput(f"{path}: this attempt is already recorded", "Records are never rewritten.")
        written: list[Path] = []
        content = encode_record(record)
        try:
            for name, text in sorted(logs.items()):
                if text:
                    written.append(self.path / "logs" / f"{path.stem}.{name}.log")
                    write_whole(written[-1], text.encode())
            write_whole(path, content)
        except OSError as error:
            for log in written:
                with contextlib.suppress(OSError):
                    log.unlink(missing_ok=True)
            raise self._refused(error) from error
        return path

    def update(self, run: Run) -> None:
        """Write `run.json` anew: its sessions and its status, an added block, an edited study file.

        Raises:
            NotReady: the disk is full or the folder cannot be written.
        """
        try:
            write_whole(self.path / "run.json", encode_run(run))
        except OSError as error:
            raise self._refused(error) from error
        self.run = run

    def _refused(self, error: OSError) -> NotReady:
        return NotReady(
            f"{self.path}: nothing more can be stored there: {error.strerror or error}.",
            "Make room, or make the folder writable. Everything measured so far is stored; the same command "
            "goes on.",
        )


def create_run(runs: Path, run: Run, *, now: datetime) -> RunFolder:
    """A new folder for `run` under `runs`, its id made of the time (UTC) and the machine.

    Raises:
        BadInput: the folder cannot be made.
    """
    stamp = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{run.machine.slug}"
    try:
        study = runs / run.study.name
        study.mkdir(parents=True, exist_ok=True)
        number = 1
        while True:
            name = stamp if number == 1 else f"{stamp}-{number}"
            try:
                (study / name).mkdir()
                break
            except FileExistsError:
                number += 1
        folder = RunFolder(study / name, msgspec.structs.replace(run, id=name))
        write_whole(folder.path / "run.json", encode_run(folder.run))
    except OSError as error:
        raise BadInput(
            f"{runs}: no run can be stored there: {error.strerror}",
            "Give a folder that you can write to with --runs.",
        ) from error
    return folder


def open_run(path: Path) -> RunFolder:
    """An existing run's folder.

    Raises:
        BadArchive: its `run.json` cannot be read.
    """
    return RunFolder(path, load_run(path))
