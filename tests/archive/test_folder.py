"""A run's folder: written whole, never rewritten, held by one writer."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from fakes.archived import attempt_of

from study.archive import create_run, find_runs, load_records, load_run, open_run
from study.domain.errors import BadInput, NotReady
from study.domain.record import Failed, Interrupted, Record
from study.domain.run import Run
from study.domain.trial import Plan

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
FAILED = Failed(cause="raised", rank=0, exit_code=1, signal=None, reason="RuntimeError: no", log_tail=("no",))


def test_a_run_and_its_records_come_back_as_they_went_in(
    tmp_path: Path, run: Run, plan: Plan, record: Record
) -> None:
    """Every fact, and the id made of time and machine."""
    with create_run(tmp_path, run, now=NOW) as folder:
        for order in (2, 1):
            folder.save(attempt_of(record, plan, order), {"rank0": "hello\n", "rank1": ""})

    (path,) = find_runs(tmp_path)
    assert path.name == "20261201T090000Z-2-core-cpu"
    came_back = load_run(path)
    assert came_back == msgspec.structs.replace(run, id=path.name, content_sha256=came_back.content_sha256)
    assert load_records(path) == [attempt_of(record, plan, 1), attempt_of(record, plan, 2)]
    assert (path / "logs" / f"{plan.trials[0].id}.rank0.log").read_text() == "hello\n"
    assert not list((path / "logs").glob("*rank1*"))


def test_a_record_is_never_rewritten(tmp_path: Path, run: Run, plan: Plan, record: Record) -> None:
    """A second record of the same attempt is refused and the first one stays."""
    with create_run(tmp_path, run, now=NOW) as folder:
        path = folder.save(attempt_of(record, plan, 1), {})
        before = path.read_bytes()

        with pytest.raises(BadInput, match="already recorded"):
            folder.save(attempt_of(record, plan, 1, outcome=FAILED), {})

    assert path.read_bytes() == before


def test_a_second_attempt_stands_beside_the_first(
    tmp_path: Path, run: Run, plan: Plan, record: Record
) -> None:
    """An interrupted trial is run again; both attempts are kept, the newest counts."""
    with create_run(tmp_path, run, now=NOW) as folder:
        folder.save(attempt_of(record, plan, 1, outcome=Interrupted(by="SIGINT")), {})
        assert folder.done() == frozenset()

        folder.save(attempt_of(record, plan, 1, attempt=2), {})

        assert folder.done() == {plan.trials[0].id}
        assert folder.attempts() == {plan.trials[0].id: 2}


def test_a_failed_trial_is_done(tmp_path: Path, run: Run, plan: Plan, record: Record) -> None:
    """Failure is a result: it is not run again until it is asked for."""
    with create_run(tmp_path, run, now=NOW) as folder:
        folder.save(attempt_of(record, plan, 1, outcome=FAILED), {})

        assert folder.done() == {plan.trials[0].id}


def test_two_runs_of_the_same_second_get_two_folders(tmp_path: Path, run: Run) -> None:
    """No run is written over another."""
    first, second = create_run(tmp_path, run, now=NOW), create_run(tmp_path, run, now=NOW)

    assert first.path != second.path
    assert load_run(second.path).id == "20261201T090000Z-2-core-cpu-2"


def test_a_folder_has_one_writer_at_a_time(tmp_path: Path, run: Run) -> None:
    """The second is told to wait, and gets in when the first is gone."""
    created = create_run(tmp_path, run, now=NOW)
    with created, pytest.raises(NotReady, match="Another `study run`"), open_run(created.path):
        pass

    with open_run(created.path) as folder:
        assert folder.run.study.name == "mine"


def test_what_a_killed_run_left_half_written_is_cleared_away(
    tmp_path: Path, run: Run, plan: Plan, record: Record
) -> None:
    """And is never taken for a record."""
    created = create_run(tmp_path, run, now=NOW)
    with created as folder:
        folder.save(attempt_of(record, plan, 1), {})
    half = created.path / "trials" / ".0002-x.json.tmp"
    half.write_bytes(b'{"schema":1,')

    assert len(load_records(created.path)) == 1
    with open_run(created.path):
        assert not half.exists()


def test_only_sessions_and_status_change_in_run_json(tmp_path: Path, run: Run) -> None:
    """Updating writes the whole file anew."""
    with create_run(tmp_path, run, now=NOW) as folder:
        folder.update(msgspec.structs.replace(folder.run, status="complete"))

    assert load_run(folder.path).status == "complete"


def test_an_archive_that_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path, run: Run) -> None:
    """A file stands where the folder should be."""
    (tmp_path / "runs").write_text("not a folder")

    with pytest.raises(BadInput) as refused:
        create_run(tmp_path / "runs", run, now=NOW)

    assert "no run can be stored there" in refused.value.problem
    assert "--runs" in refused.value.remedy
