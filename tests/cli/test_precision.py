"""`study run --precision`: blocks are added until it is enough, and a kill in one of them loses nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from fakes.command import Study

from study.archive import find_runs, load_records, load_run
from study.domain.run import PRECISE_TRIALS, Run


@pytest.fixture
def quiet(sleepy: Path) -> Path:
    """The sleepy study with naps so long that a busy machine stretches them by less than a half."""
    sleepy.write_text(sleepy.read_text().replace("step_ms = 10.0", "step_ms = 60.0"))
    return sleepy


def noisy(path: Path, jitter: float) -> None:
    """Let the naps of whole trials spread by this share, from the seed."""
    path.write_text(path.read_text().replace("step_ms = 60.0", f"step_ms = 5.0, jitter = {jitter}"))


def only_run(folder: Path) -> Run:
    """The run under `folder`, of which there is one."""
    (path,) = find_runs(folder / "runs")
    return load_run(path)


def blocks_of(run: Run) -> set[int]:
    """How many trials its cells have."""
    return set(Counter(trial.cell_id for trial in run.plan.trials).values())


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
        time.sleep(0.005)


def grown(run: Run) -> bool:
    """Whether it was decided after each block from the third on, and all but the last time for one more."""
    blocks = max(trial.block for trial in run.plan.trials)
    verdicts = [each.verdict for each in run.decisions]
    return (
        [each.after_block for each in run.decisions] == list(range(3, blocks + 1))
        and verdicts == [*["more"] * (len(verdicts) - 1), "reached"]
        and blocks >= PRECISE_TRIALS
    )


def test_enough_after_the_first_blocks(study: Study, quiet: Path) -> None:
    """Seven blocks, intervals inside the half that was asked for: nothing is added, and it says why."""
    done = study("run", "sleepy.toml", "--blocks", "7", "--precision", "0.49")

    run = only_run(quiet.parent)
    assert done.returncode == 0, done.stderr
    assert "after block 7: 2 of 2 cells are within ±49 %" in done.stderr
    assert "Measuring stopped after block 7: 2 of 2 cells are within ±49 %." in done.stdout
    assert [each.verdict for each in run.decisions] == ["reached"]
    assert (run.status, blocks_of(run)) == ("complete", {7})


def test_blocks_are_added_until_it_is_enough(study: Study, quiet: Path) -> None:
    """From three to seven or more, each decision said and stored; one beginning, one session, one end."""
    done = study("run", "sleepy.toml", "--precision", "0.45", "--json")

    run = only_run(quiet.parent)
    document = json.loads(done.stdout.splitlines()[-1])
    trials = len(run.plan.trials)
    assert done.returncode == 0, done.stderr
    assert "after block 3: a precision needs 7 trials of a cell at least; one more block" in done.stderr
    assert f"[{trials}/{trials}]" in done.stderr
    assert done.stderr.count("runs/sleepy/") == 1
    assert [each["after_block"] for each in document["decisions"]] == [d.after_block for d in run.decisions]
    assert grown(run)
    assert ([each.end for each in run.sessions], run.status) == (["complete"], "complete")
    assert study("validate").returncode == 0


def test_what_is_out_of_reach_is_not_tried(study: Study, quiet: Path) -> None:
    """Trials that spread by a fifth need far more than thirty blocks; the run is complete all the same."""
    noisy(quiet, 0.2)

    done = study("run", "sleepy.toml", "--precision", "0.01")
    run = only_run(quiet.parent)

    assert done.returncode == 0, done.stderr
    assert "2 of 2 cells are still wider than ±1 %; at least" in done.stdout
    assert "out of reach" in done.stdout
    assert (run.decisions[0].verdict, run.status, blocks_of(run)) == ("out_of_reach", "complete", {3})
    assert run.decisions[0].blocks_needed > 30


@pytest.mark.parametrize(
    ("key", "verdict", "words"),
    [
        ("most_blocks = 4", "most_blocks", "4 blocks are the most that the protocol allows"),
        ("time_budget_s = 0.5", "budget", "the time budget has no room for another block"),
    ],
)
def test_the_protocol_s_limits_end_it(study: Study, quiet: Path, key: str, verdict: str, words: str) -> None:
    """Where the precision is not reached before them."""
    noisy(quiet, 0.2)
    quiet.write_text(quiet.read_text().replace("blocks = 3", f"blocks = 4\nprecision = 0.05\n{key}"))

    done = study("run", "sleepy.toml")

    assert done.returncode == 0, done.stderr
    assert words in done.stdout
    assert only_run(quiet.parent).decisions[-1].verdict == verdict


@pytest.mark.parametrize(
    ("number", "code", "records"), [(signal.SIGKILL, -9, 6), (signal.SIGKILL, -9, 7), (signal.SIGINT, 130, 7)]
)
def test_ended_in_an_added_block_it_goes_on_there(
    study: Study, quiet: Path, number: int, code: int, records: int
) -> None:
    """By a kill, before it or in it, or by Ctrl-C: every trial and every decision once."""
    runner = start(quiet.parent, "--precision", "0.45")
    wait_for_records(quiet.parent, records)
    os.kill(runner.pid, number)
    runner.communicate(timeout=300)
    left = only_run(quiet.parent)

    done = study("run", "sleepy.toml", "--precision", "0.45")
    assert "This is a new run" not in done.stderr
    run = only_run(quiet.parent)
    (path,) = find_runs(quiet.parent / "runs")
    measured = Counter(r.trial for r in load_records(path) if type(r.outcome).__name__ == "Measured")

    assert (runner.returncode, done.returncode) == (code, 0), done.stderr
    assert left.status == ("running" if code < 0 else "partial")
    assert run.plan.trials[: len(left.plan.trials)] == left.plan.trials
    assert measured == dict.fromkeys((t.id for t in run.plan.trials), 1)
    assert grown(run)
    assert [each.end for each in run.sessions] == ["running" if code < 0 else "interrupted", "complete"]
    assert run.status == "complete"


def test_with_only_nothing_is_decided(study: Study, quiet: Path) -> None:
    """No block is whole then; without it the run goes on and decides."""
    for glob in ("*.x1.*", "*.x2.*"):
        assert study("run", "sleepy.toml", "--precision", "0.45", "--only", glob).returncode == 0
    half = only_run(quiet.parent)

    assert (half.status, half.decisions) == ("partial", ())
    assert study("run", "sleepy.toml", "--precision", "0.45").returncode == 0
    run = only_run(quiet.parent)
    assert [each.end for each in run.sessions] == ["partial", "partial", "complete"]
    assert (run.status, run.decisions[-1].verdict) == ("complete", "reached")


def test_a_run_that_is_enough_is_not_gone_on_with(study: Study, quiet: Path) -> None:
    """The same command makes a new run, as for any complete one."""
    quiet.write_text(quiet.read_text().replace("blocks = 3", "blocks = 3\nmost_blocks = 3"))
    for _ in range(2):
        assert study("run", "sleepy.toml", "--precision", "0.49").returncode == 0
    decided = [load_run(path).decisions[-1].verdict for path in find_runs(quiet.parent / "runs")]

    assert decided == ["reached", "reached"]
    assert len(find_runs(quiet.parent / "runs")) == 2


def test_the_plan_says_until_when(study: Study, quiet: Path) -> None:
    """Blocks, precision, and what ends it otherwise."""
    quiet.write_text(quiet.read_text().replace("blocks = 3", "blocks = 3\ntime_budget_s = 600"))

    done = study("plan", "sleepy.toml", "--precision", "0.01")

    words = "3 blocks or more, until every cell is within ±1 % (at most 30 or 10 min are spent)"
    assert words in done.stdout


def test_the_page_says_how_many_blocks_and_why_no_more(study: Study, quiet: Path) -> None:
    """In the method, and under what we cannot say."""
    noisy(quiet, 0.2)
    assert study("run", "sleepy.toml", "--precision", "0.01").returncode == 0

    assert study("render").returncode == 0
    (page,) = quiet.parent.glob("site/studies/sleepy/*/article.md")

    text = " ".join(page.read_text().split())
    assert "it was out of reach of the blocks and the time" in text
    assert "2 cells are less precise than the 1" in text


@pytest.mark.parametrize("share", ["0", "0.5", "-1", "many"])
def test_a_share_that_is_none_is_refused(study: Study, sleepy: Path, share: str) -> None:
    """Between nothing and a half."""
    done = study("run", "sleepy.toml", "--precision", share)

    assert done.returncode == 2
    assert "--precision" in done.stderr
