"""An unfinished run goes on only with the same plan, machine and software."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from fakes.archived import MACHINE, SOFTWARE, attempt_of

from study.archive import create_run, differences, is_done, newest, recorded_trials, resumable
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


def test_what_differs_is_named_field_by_field(run: Run) -> None:
    """Packages one by one, devices as a whole, the measuring code without its hash."""
    machine = msgspec.structs.replace(MACHINE, governor="performance", links=(("self",),))
    software = msgspec.structs.replace(
        SOFTWARE, torch="2.14.0", packages={"numpy": "2.1", "nccl": "2"}, measuring_sha256="1" * 64
    )

    assert differences(run, machine, software) == (
        "governor: not known, now performance",
        "links",
        "torch: 2.13.0, now 2.14.0",
        "nccl: not known, now 2",
        "numpy: 2.0, now 2.1",
        "the code that measures",
    )


def test_what_torch_was_not_asked_for_is_no_difference(run: Run) -> None:
    """A study that sleeps is edited to train a model; torch's version stands among the packages."""
    unasked = msgspec.structs.replace(
        SOFTWARE, torch=None, torch_git=None, unknown={"torch": "torch was not asked"}
    )

    assert differences(run, MACHINE, unasked) == ()
    assert differences(run, MACHINE, msgspec.structs.replace(unasked, python="3.14")) != ()


def test_the_newest_run_and_the_newest_of_this_machine(tmp_path: Path, run: Run) -> None:
    """They may be two; of another study there is none."""
    here = unfinished(tmp_path, run)
    other = msgspec.structs.replace(run, machine=msgspec.structs.replace(MACHINE, cores=64))
    there = create_run(tmp_path, other, now=NOW + timedelta(hours=1)).path

    assert newest(tmp_path, "mine") == there
    assert newest(tmp_path, "mine", MACHINE, SOFTWARE) == here
    assert newest(tmp_path, "yours") is None


def test_recorded_trials_are_as_planned_and_of_cells_that_are_gone_as_recorded(
    tmp_path: Path, run: Run, plan: Plan, record: Record
) -> None:
    """So that a cell that is put back has its old trials again; attempts of one trial are one."""
    short = msgspec.structs.replace(run, plan=msgspec.structs.replace(plan, trials=plan.trials[:1]))
    with create_run(tmp_path, short, now=NOW) as folder:
        for order, attempt in ((1, 1), (1, 2), (2, 1)):
            folder.save(attempt_of(record, plan, order, attempt), {})

    first, second = recorded_trials(folder.path)

    assert first == plan.trials[0]
    assert second == msgspec.structs.replace(plan.trials[1], seed=record.seed)
    assert not is_done(folder.path, short)
