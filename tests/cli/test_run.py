"""`study run` from a study file to records: resumed, killed, interrupted, failing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.command import Study

from study.archive import find_runs, load_records, load_run
from study.domain.record import Measured, Record


def records(folder: Path) -> list[Record]:
    """All attempts of the only run under `folder`."""
    (run,) = find_runs(folder / "runs")
    return load_records(run)


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """`study run sleepy.toml` going on in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "study", "run", "sleepy.toml", *arguments],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def wait_for_records(folder: Path, count: int) -> None:
    """Until there are so many records on disk."""
    deadline = time.monotonic() + 300
    while len(list(folder.glob("runs/*/*/trials/*.json"))) < count:
        assert time.monotonic() < deadline, "no record in five minutes"
        time.sleep(0.01)


def left_behind(folder: Path) -> list[str]:
    """Command lines of processes whose current folder is `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "cwd").resolve() == folder.resolve():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def test_json_ends_with_one_document(study: Study, sleepy: Path) -> None:
    """Run folder, counts by outcome, exit code."""
    done = study("run", "sleepy.toml", "--json")

    document = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == document["exit_code"] == 0
    assert document["outcomes"] == {"measured": 6}
    assert document["status"] == "complete"
    assert (sleepy.parent / document["run"] / "run.json").is_file()


def test_without_a_terminal_progress_is_plain_lines(study: Study, sleepy: Path) -> None:
    """One line a trial with its place, and no control characters."""
    done = study("run", "sleepy.toml")

    assert "\x1b" not in done.stderr + done.stdout
    assert "[6/6] " in done.stderr
    assert "items/s" in done.stderr
    assert "study render" in done.stdout


def test_a_dry_run_measures_nothing_and_writes_nothing(study: Study, sleepy: Path) -> None:
    """It shows the plan."""
    done = study("run", "sleepy.toml", "--dry-run")

    assert done.returncode == 0
    assert "6 trials" in done.stdout
    assert not (sleepy.parent / "runs").exists()


def test_only_runs_what_matches_and_the_rest_follows_later(study: Study, sleepy: Path) -> None:
    """The same run, in two goes."""
    first = study("run", "sleepy.toml", "--only", "*.x2.*")
    (run,) = find_runs(sleepy.parent / "runs")
    status = load_run(run).status
    second = study("run", "sleepy.toml")

    assert first.returncode == second.returncode == 0
    assert status == "partial"
    assert load_run(run).status == "complete"
    assert [s.end for s in load_run(run).sessions] == ["partial", "complete"]
    assert len(records(sleepy.parent)) == 6


def test_a_complete_run_is_followed_by_a_new_one_and_fresh_never_resumes(study: Study, sleepy: Path) -> None:
    """Two runs after two commands; a third with --fresh although the second is unfinished."""
    for arguments in ((), ("--only", "*single*"), ("--fresh",)):
        assert study("run", "sleepy.toml", *arguments).returncode == 0

    assert [load_run(path).status for path in find_runs(sleepy.parent / "runs")] == [
        "complete",
        "partial",
        "complete",
    ]


def test_a_killed_run_leaves_no_process(sleepy: Path) -> None:
    """Ranks and servers notice that their runner is gone."""
    runner = start(sleepy.parent)
    wait_for_records(sleepy.parent, 1)
    runner.kill()
    runner.communicate()

    deadline = time.monotonic() + 20
    while left_behind(sleepy.parent) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left_behind(sleepy.parent) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_asked_to_stop_it_leaves_a_valid_run_and_says_how_to_go_on(
    study: Study, sleepy: Path, number: signal.Signals
) -> None:
    """Ctrl-C, a terminate, a lost terminal: exit code 130, the attempt kept as interrupted, then resumed."""
    sleepy.write_text(sleepy.read_text().replace("window_s = 0.1", "window_s = 0.5"))
    runner = start(sleepy.parent)
    wait_for_records(sleepy.parent, 2)
    os.kill(runner.pid, number)
    out, err = runner.communicate(timeout=300)

    assert runner.returncode == 130, err
    assert "goes on where this one stopped" in out
    assert "Traceback" not in err
    assert study("validate").returncode == 0
    assert study("run", "sleepy.toml").returncode == 0
    newest = {record.trial: record for record in records(sleepy.parent)}
    assert len(newest) == 6
    assert all(isinstance(record.outcome, Measured) for record in newest.values())


def test_two_runs_never_write_to_one_folder(study: Study, sleepy: Path) -> None:
    """The second is refused with exit code 3 while the first goes on."""
    sleepy.write_text(sleepy.read_text().replace("window_s = 0.1", "window_s = 1.0"))
    runner = start(sleepy.parent)
    wait_for_records(sleepy.parent, 1)

    second = study("run", "sleepy.toml")
    runner.terminate()
    runner.communicate()

    assert second.returncode == 3
    assert "Another `study run` is measuring on this machine" in second.stderr
    assert "Traceback" not in second.stderr


def test_interrupted_before_the_first_trial_it_still_ends_with_its_document(sleepy: Path) -> None:
    """Also while the ranks' server is starting."""
    sleepy.write_text(sleepy.read_text().replace("window_s = 0.1", "window_s = 2.0"))
    runner = start(sleepy.parent, "--json")
    deadline = time.monotonic() + 60
    while not list(sleepy.parent.glob("runs/*/*/run.json")) and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(runner.pid, signal.SIGINT)
    out, err = runner.communicate(timeout=300)

    assert runner.returncode == 130, err
    assert json.loads(out.splitlines()[-1])["end"] == "interrupted"


def test_a_reader_that_goes_away_does_not_end_the_run(sleepy: Path) -> None:
    """`study run | head`: the progress is lost, the measuring is not."""
    command = f"{sys.executable} -m study run sleepy.toml 2>&1 | head -1"
    env = {**os.environ, "TMPDIR": str(sleepy.parent / "tmp")}
    subprocess.run(["sh", "-c", command], cwd=sleepy.parent, env=env, check=False, capture_output=True)

    wait_for_records(sleepy.parent, 6)
    assert len(records(sleepy.parent)) == 6


def test_a_killed_session_keeps_its_own_facts(study: Study, sleepy: Path) -> None:
    """The session that goes on does not take over its command line or its start."""
    runner = start(sleepy.parent, "--only", "*single*")
    deadline = time.monotonic() + 60
    while not list(sleepy.parent.glob("runs/*/*/run.json")) and time.monotonic() < deadline:
        time.sleep(0.005)
    time.sleep(0.1)
    runner.kill()
    runner.communicate()
    assert study("run", "sleepy.toml").returncode == 0

    (run,) = find_runs(sleepy.parent / "runs")
    *_, last = load_run(run).sessions
    assert last.argv == ("study", "run", "sleepy.toml")
    assert last.end == "complete"


def test_a_record_that_was_moved_away_is_measured_again(study: Study, sleepy: Path) -> None:
    """As the refusal of a torn record promises, also where the run was complete."""
    assert study("run", "sleepy.toml").returncode == 0
    (run,) = find_runs(sleepy.parent / "runs")
    gone = sorted((run / "trials").glob("*.json"))[2]
    gone.unlink()
    assert "this trial has no record" in study("validate").stdout

    assert study("run", "sleepy.toml").returncode == 0

    assert find_runs(sleepy.parent / "runs") == [run]
    assert gone.is_file()
    assert study("validate").returncode == 0


def test_another_version_of_the_measuring_code_starts_a_new_run(
    study: Study, sleepy: Path, tmp_path: Path
) -> None:
    """A workload from elsewhere that was changed between two goes is not mixed into one run."""
    extension = tmp_path / "extension"
    shutil.copytree(Path(__file__).parent.parent / "worker" / "extension", extension)
    sleepy.write_text(
        sleepy.read_text()
        .replace('"sleep"', '"faulty"')
        .replace('"amdahl"', '"one"')
        .replace("options = { step_ms = 10.0 }", "")
    )
    first = study("run", "sleepy.toml", "--only", "*single*", PYTHONPATH=str(extension))
    code = extension / "study_faulty.py"
    code.write_text(code.read_text() + "\n# changed\n")
    second = study("run", "sleepy.toml", PYTHONPATH=str(extension))

    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert len(find_runs(tmp_path / "runs")) == 2


@pytest.mark.torch
@pytest.mark.parametrize("after_s", [0.3, 0.8, 1.4, 2.0, 2.6])
def test_ctrl_c_at_the_terminal_prints_no_traceback_at_any_moment(tmp_path: Path, after_s: float) -> None:
    """A terminal sends it to every process of the group, also to one that is still importing torch."""
    (tmp_path / "tmp").mkdir()
    runner = subprocess.Popen(
        [sys.executable, "-m", "study", "run", "quick"],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    time.sleep(after_s)
    os.killpg(runner.pid, signal.SIGINT)
    out, _ = runner.communicate(timeout=300)

    assert runner.returncode == 130, out
    assert "Traceback" not in out


def test_a_temporary_folder_with_a_long_path_does_not_stop_it(study: Study, sleepy: Path) -> None:
    """Sockets have addresses of 107 bytes at most; TMPDIR may be longer than that."""
    far = sleepy.parent / ("far" * 20) / ("away" * 20)
    far.mkdir(parents=True)

    done = study("run", "sleepy.toml", "--only", "*.x2.*", TMPDIR=str(far))

    assert done.returncode == 0, done.stderr
