"""An unfinished run goes on only with the same plan, machine and software."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from fakes.archived import MACHINE, SOFTWARE, attempt_of

from study.archive import create_run, resumable
from study.domain.record import Record
from study.domain.run import Run
from study.domain.trial import Plan

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def unfinished(runs: Path, run: Run, **changes: object) -> Path:
    """A run on disk."""
    return create_run(runs, msgspec.structs.replace(run, **changes), now=NOW).path


def test_an_unfinished_run_of_the_same_plan_goes_on_whatever_its_seed(
    tmp_path: Path, run: Run, plan: Plan
) -> None:
    """The new plan's order is dropped in favour of the stored one."""
    path = unfinished(tmp_path, run)
    again = msgspec.structs.replace(plan, seed=plan.seed + 1)

    assert resumable(tmp_path, "mine", again, MACHINE, SOFTWARE) == path


def test_the_newest_of_several_goes_on(tmp_path: Path, run: Run, plan: Plan) -> None:
    """By the time in its name."""
    unfinished(tmp_path, run)
    newest = create_run(tmp_path, run, now=NOW + timedelta(hours=1)).path

    assert resumable(tmp_path, "mine", plan, MACHINE, SOFTWARE) == newest


@pytest.mark.parametrize("status", ["running", "partial"])
def test_running_and_partial_runs_are_unfinished(tmp_path: Path, run: Run, plan: Plan, status: str) -> None:
    """A run that was killed still says running."""
    path = unfinished(tmp_path, run, status=status)

    assert resumable(tmp_path, "mine", plan, MACHINE, SOFTWARE) == path


def test_a_complete_run_is_left_alone(tmp_path: Path, run: Run, plan: Plan, record: Record) -> None:
    """The next `study run` is a new run; unless a record is missing, which is then measured again."""
    with create_run(tmp_path, msgspec.structs.replace(run, status="complete"), now=NOW) as folder:
        paths = [folder.save(attempt_of(record, plan, trial.order), {}) for trial in plan.trials]

    assert resumable(tmp_path, "mine", plan, MACHINE, SOFTWARE) is None

    paths[0].unlink()
    assert resumable(tmp_path, "mine", plan, MACHINE, SOFTWARE) == folder.path


def test_another_plan_machine_or_torch_is_another_run(tmp_path: Path, run: Run, plan: Plan) -> None:
    """Never mixed in silence."""
    unfinished(tmp_path, run)
    other_plan = msgspec.structs.replace(plan, digest="other")
    other_machine = msgspec.structs.replace(MACHINE, memory_bytes=1)
    other_software = msgspec.structs.replace(SOFTWARE, torch="2.14.0")

    assert resumable(tmp_path, "mine", other_plan, MACHINE, SOFTWARE) is None
    assert resumable(tmp_path, "mine", plan, other_machine, SOFTWARE) is None
    assert resumable(tmp_path, "mine", plan, MACHINE, other_software) is None
    assert resumable(tmp_path, "yours", plan, MACHINE, SOFTWARE) is None


def test_a_source_tree_that_has_become_dirty_does_not_start_a_new_run(
    tmp_path: Path, run: Run, plan: Plan
) -> None:
    """The run itself writes into the tree that it is run from."""
    path = unfinished(tmp_path, run)
    dirty = msgspec.structs.replace(SOFTWARE, study_dirty=True)

    assert resumable(tmp_path, "mine", plan, MACHINE, dirty) == path
