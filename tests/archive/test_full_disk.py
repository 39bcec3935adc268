"""A disk that is full, a folder that cannot be written: one refusal, nothing half-written, nothing lost."""

import errno
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fakes.archived import attempt_of

from study.archive import create_run, load_records
from study.domain.errors import NotReady
from study.domain.record import Failed, Record
from study.domain.run import Run
from study.domain.trial import Plan

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
LOST = Failed(cause="launch", rank=None, exit_code=None, signal=None, reason="lost", log_tail=())


def full(path: Path) -> None:
    """Make the next write of this file meet the kernel's own full disk."""
    path.with_name(f".{path.name}.tmp").symlink_to("/dev/full")


@pytest.mark.parametrize("what", ["trials/{}.json", "logs/{}.rank1.log"])
def test_a_full_disk_stores_an_attempt_whole_or_not_at_all(
    tmp_path: Path, run: Run, plan: Plan, record: Record, what: str
) -> None:
    """The first attempt stays, of the second nothing is left, and with room it is stored."""
    with create_run(tmp_path, run, now=NOW) as folder:
        folder.save(attempt_of(record, plan, 1), {"rank0": "hello\n"})
        before = {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()}
        full(folder.path / what.format(plan.trials[1].id))

        with pytest.raises(NotReady, match=os.strerror(errno.ENOSPC)) as refusal:
            folder.save(attempt_of(record, plan, 2), {"rank0": "a\n", "rank1": "b\n"})

        assert {path: path.read_bytes() for path in folder.path.rglob("*") if path.is_file()} == before
        assert "the same command goes on" in refusal.value.remedy
        folder.save(attempt_of(record, plan, 2), {"rank0": "a\n", "rank1": "b\n"})
    assert len(load_records(folder.path)) == 2


def test_a_full_disk_leaves_run_json_as_it_was(tmp_path: Path, run: Run) -> None:
    """Also the end of a session may find no room."""
    with create_run(tmp_path, run, now=NOW) as folder:
        before = (folder.path / "run.json").read_bytes()
        full(folder.path / "run.json")

        with pytest.raises(NotReady):
            folder.update(folder.run)

    assert (folder.path / "run.json").read_bytes() == before


def test_a_folder_that_cannot_be_prepared_is_refused_and_let_go(tmp_path: Path, run: Run) -> None:
    """A file stands where a folder has to be; once it is gone, the same folder can be entered."""
    folder = create_run(tmp_path, run, now=NOW)
    (folder.path / "logs").write_text("in the way")

    with pytest.raises(NotReady, match="nothing more can be stored there"), folder:
        pass

    (folder.path / "logs").unlink()
    with folder:
        assert (folder.path / "logs").is_dir()


def test_a_lock_that_cannot_be_made_is_refused(tmp_path: Path, run: Run) -> None:
    """As on a file system that is mounted read-only."""
    folder = create_run(tmp_path, run, now=NOW)
    (folder.path / ".lock").mkdir()

    with pytest.raises(NotReady, match="nothing more can be stored there"), folder:
        pass


def test_a_first_failed_launch_is_not_the_end_of_a_trial(
    tmp_path: Path, run: Run, plan: Plan, record: Record
) -> None:
    """It is no fact about the cell: the trial is run again, once."""
    with create_run(tmp_path, run, now=NOW) as folder:
        folder.save(attempt_of(record, plan, 1, outcome=LOST), {})
        assert folder.done() == frozenset()

        folder.save(attempt_of(record, plan, 1, attempt=2, outcome=LOST), {})
        assert folder.done() == {plan.trials[0].id}


def test_a_clock_that_was_set_back_gives_another_name(tmp_path: Path, run: Run) -> None:
    """Two runs of one second, and one of the past: three folders."""
    past = datetime(2020, 1, 1, tzinfo=UTC)
    names = {create_run(tmp_path, run, now=now).path.name for now in (NOW, NOW, past, past)}

    assert len(names) == 4
