"""`study run` with a study file that was edited since: what is kept, what is measured, what is told."""

import json
from pathlib import Path

import msgspec
import pytest
from fakes.command import Study

from study.archive import find_runs, load_records, load_run
from study.archive.encoding import encode_run
from study.domain.record import Record
from study.domain.run import Run


@pytest.fixture(autouse=True)
def shorter(sleepy: Path) -> None:
    """Two blocks of shorter windows: there are many runs to make."""
    edit(sleepy, "blocks = 3", "blocks = 2")
    edit(sleepy, "window_s = 0.1", "window_s = 0.05")


def edit(path: Path, old: str, new: str) -> None:
    """One passage of the study file, replaced."""
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def files(folder: Path) -> dict[str, bytes]:
    """Every record of all runs, with its bytes."""
    return {str(path): path.read_bytes() for path in folder.glob("runs/*/*/trials/*.json")}


def only_run(folder: Path) -> tuple[Run, list[Record]]:
    """The one run there is."""
    (path,) = find_runs(folder / "runs")
    return load_run(path), load_records(path)


def test_an_added_level_is_measured_and_the_rest_is_kept(study: Study, sleepy: Path) -> None:
    """The user is told before anything runs; a dry run tells the same and writes nothing."""
    assert study("run", "sleepy.toml").returncode == 0
    before = files(sleepy.parent)
    edit(sleepy, "batch = 8", "batch = [8, 16]")

    dry = study("run", "sleepy.toml", "--dry-run")
    assert files(sleepy.parent) == before
    done = study("run", "sleepy.toml")

    line = "2 of 4 cells are as in runs/sleepy/"
    assert line in dry.stdout
    assert "To measure now: 4 trials" in dry.stdout
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(line)
    assert "2 are new or changed and measured now. --fresh measures everything anew." in done.stderr
    run, records = only_run(sleepy.parent)
    assert before.items() <= files(sleepy.parent).items()
    assert len(records) == 8
    assert run.status == "complete"
    assert [state.first_order for state in run.states] == [1, 5]
    assert [state.study_text for state in run.states][-1] == run.study_text == sleepy.read_text()
    assert study("validate").returncode == 0


def test_a_level_taken_out_stays_recorded_and_the_page_says_so(study: Study, sleepy: Path) -> None:
    """Nothing is measured, nothing is lost."""
    edit(sleepy, "batch = 8", "batch = [8, 16]")
    assert study("run", "sleepy.toml").returncode == 0
    before = files(sleepy.parent)
    edit(sleepy, "batch = [8, 16]", "batch = 8")

    done = study("run", "sleepy.toml")
    rendered = study("render")

    assert "2 cells were taken out of the study file; what was recorded stays." in done.stderr
    assert "All 2 cells are as in" in done.stderr
    assert files(sleepy.parent) == before
    run, _ = only_run(sleepy.parent)
    assert {s.reason for s in run.plan.skipped} > {
        "Taken out of the study file after 2 of its trials were recorded."
    }
    assert study("validate").returncode == rendered.returncode == 0, rendered.stderr
    (page,) = sleepy.parent.glob("site/studies/sleepy/*/index.html")
    assert "2 cells were taken out of the study file" in page.read_text()


def test_a_changed_option_makes_every_cell_new(study: Study, sleepy: Path) -> None:
    """A new run, with the reason."""
    assert study("run", "sleepy.toml").returncode == 0
    edit(sleepy, "step_ms = 10.0", "step_ms = 5.0")

    done = study("run", "sleepy.toml")

    assert "This is a new run, not runs/sleepy/" in done.stderr
    assert "none of its cells is as it was" in done.stderr
    assert len(find_runs(sleepy.parent / "runs")) == 2


def test_a_changed_margin_is_a_new_run(study: Study, sleepy: Path) -> None:
    """It was set before there were data."""
    assert study("run", "sleepy.toml").returncode == 0
    edit(sleepy, "seed = 7", "seed = 7\nmargin = 0.05")

    done = study("run", "sleepy.toml")

    assert "protocol.margin was 0.02 and is 0.05" in done.stderr
    assert len(find_runs(sleepy.parent / "runs")) == 2


def test_raised_blocks_are_added(study: Study, sleepy: Path) -> None:
    """By the file or by --blocks; fewer are a new run."""
    assert study("run", "sleepy.toml").returncode == 0

    done = study("run", "sleepy.toml", "--blocks", "4")
    fewer = study("run", "sleepy.toml", "--blocks", "3", "--dry-run")

    assert "All 2 cells are as in" in done.stderr
    assert "4 trials are added." in done.stderr
    run, records = only_run(sleepy.parent)
    assert [r.block for r in records] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert run.plan.protocol.blocks == 4
    assert "protocol.blocks was 4 and is 3" in fewer.stdout


def test_a_new_title_is_shown_and_measures_nothing(study: Study, sleepy: Path) -> None:
    """Of a complete run; a comment alone is no edit, so that a new run follows."""
    assert study("run", "sleepy.toml").returncode == 0
    before = files(sleepy.parent)
    edit(sleepy, "A study that sleeps", "A study that dreams")

    done = study("run", "sleepy.toml")
    assert study("render").returncode == 0

    assert "the edit adds nothing to measure" in done.stderr
    assert files(sleepy.parent) == before
    (page,) = sleepy.parent.glob("site/studies/sleepy/*/index.html")
    assert "A study that dreams" in page.read_text()
    sleepy.write_text(sleepy.read_text() + "\n# nothing\n")
    assert study("run", "sleepy.toml").returncode == 0
    assert len(find_runs(sleepy.parent / "runs")) == 2


def test_an_unfinished_run_takes_the_edit_in_where_it_was(study: Study, sleepy: Path) -> None:
    """Half of it was measured; the other half and the new cells follow."""
    assert study("run", "sleepy.toml", "--only", "*single*").returncode == 0
    before = files(sleepy.parent)
    edit(sleepy, "batch = 8", "batch = [8, 16]")

    done = study("run", "sleepy.toml", "--json")

    assert json.loads(done.stdout.splitlines()[-1])["status"] == "complete"
    run, records = only_run(sleepy.parent)
    assert len(before) == 2
    assert before.items() <= files(sleepy.parent).items()
    assert len({r.trial for r in records}) == len(records) == 8
    assert {t.id for t in run.plan.trials} == {r.trial for r in records}
    assert study("validate").returncode == 0


def test_edited_twice_every_state_is_kept(study: Study, sleepy: Path) -> None:
    """A level is added, taken out and put back: its records are its own again."""
    assert study("run", "sleepy.toml").returncode == 0
    edit(sleepy, "batch = 8", "batch = [8, 16]")
    assert study("run", "sleepy.toml").returncode == 0
    edit(sleepy, "batch = [8, 16]", "batch = 8")
    assert study("run", "sleepy.toml").returncode == 0
    edit(sleepy, "batch = 8", "batch = [16, 8]")
    before = files(sleepy.parent)

    done = study("run", "sleepy.toml")

    run, records = only_run(sleepy.parent)
    assert "All 4 cells are as in" in done.stderr
    assert files(sleepy.parent) == before
    assert len(run.states) == 4
    assert {t.id for t in run.plan.trials} == {r.trial for r in records}
    assert study("validate").returncode == 0
    assert study("render").returncode == 0
    (page,) = sleepy.parent.glob("site/studies/sleepy/*/index.html")
    assert "were measured after the edit of" in page.read_text()


def test_nothing_recorded_yet_the_run_follows_the_file(study: Study, sleepy: Path) -> None:
    """Also where everything was changed: no second folder, no states."""
    assert study("run", "sleepy.toml", "--only", "*single*").returncode == 0
    for path in sleepy.parent.glob("runs/*/*/trials/*.json"):
        path.unlink()
    edit(sleepy, "window_s = 0.05", "window_s = 0.06")

    done = study("run", "sleepy.toml")

    assert "was recorded yet; it follows the study file as it is now" in done.stderr
    run, records = only_run(sleepy.parent)
    assert run.states == ()
    assert len(records) == 4


def test_another_machine_is_a_new_run_with_the_reason(study: Study, sleepy: Path) -> None:
    """What differs is named; where the earlier run was complete and unedited nothing need be said."""
    assert study("run", "sleepy.toml").returncode == 0
    (path,) = find_runs(sleepy.parent / "runs")
    run = load_run(path)
    machine = msgspec.structs.replace(run.machine, memory_bytes=1)
    software = msgspec.structs.replace(run.software, driver="1.2", packages={})
    elsewhere = msgspec.structs.replace(run, machine=machine, software=software)
    (path / "run.json").write_bytes(encode_run(elsewhere))

    silent = study("run", "sleepy.toml", "--dry-run")
    edit(sleepy, "batch = 8", "batch = [8, 16]")
    done = study("run", "sleepy.toml")

    assert "new run" not in silent.stdout
    assert "not the same machine and software (memory_bytes: 1, now " in done.stderr
    assert "driver: 1.2, now " in done.stderr
    assert "more)." in done.stderr
    assert len(find_runs(sleepy.parent / "runs")) == 2


def test_fresh_looks_at_no_earlier_run(study: Study, sleepy: Path) -> None:
    """A new run without a word."""
    assert study("run", "sleepy.toml").returncode == 0
    edit(sleepy, "batch = 8", "batch = [8, 16]")

    done = study("run", "sleepy.toml", "--fresh")

    assert "are as in" not in done.stderr
    assert len(find_runs(sleepy.parent / "runs")) == 2


def test_a_record_out_of_nowhere_is_still_a_problem(study: Study, sleepy: Path) -> None:
    """A cell that was taken out excuses its own records alone."""
    edit(sleepy, "batch = 8", "batch = [8, 16]")
    assert study("run", "sleepy.toml").returncode == 0
    edit(sleepy, "batch = [8, 16]", "batch = 8")
    assert study("run", "sleepy.toml").returncode == 0
    (path,) = find_runs(sleepy.parent / "runs")
    run = load_run(path)
    changed = msgspec.structs.replace(
        run, plan=msgspec.structs.replace(run.plan, digest="d", trials=run.plan.trials[1:])
    )
    (path / "run.json").write_bytes(encode_run(changed))

    found = study("validate")

    assert found.returncode == 2
    assert found.stdout.count("the plan of this run has no such trial") == 1
    assert "the plan is not that of the newest state of the study file" in found.stdout
