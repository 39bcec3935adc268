"""kill -9 of `study run` at random moments: nothing is lost, nothing is done twice, nothing is left."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from fakes.command import Study

from study.archive import find_runs, load_records, load_run
from study.domain.record import Measured

MANY_SHORT = """
name = "rehearsal"
title = "Many short trials that sleep"
accelerator = "cpu"

[protocol]
blocks = 12
warmup_steps = 1
warmup_s = 0.0
window_steps = 4
time_limit_s = 30.0
seed = 7

[[matrix]]
workload = "sleep"
task = "check"
size = "amdahl"
strategy = "single"
devices = 1
batch = 8
options = { step_ms = 5.0, jitter = [0.0, 0.001] }

[[matrix]]
workload = "sleep"
task = "check"
size = "amdahl"
strategy = "ddp"
devices = 2
batch = 8
options = { step_ms = 5.0 }
"""

KILLS = 20


def kill_at(folder: Path, after_s: float) -> None:
    """Start the run in a session of its own and end it by SIGKILL after so long."""
    runner = subprocess.Popen(
        [sys.executable, "-m", "study", "run", "rehearsal.toml"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    time.sleep(after_s)
    runner.kill()
    runner.wait()


def to_the_end(folder: Path) -> subprocess.CompletedProcess[str]:
    """The same command once more, for as long as a busy machine needs."""
    return subprocess.run(
        [sys.executable, "-m", "study", "run", "rehearsal.toml"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


def left_behind(folder: Path) -> list[str]:
    """Command lines of living processes whose temporary folder is this test's."""
    found = []
    mark = f"TMPDIR={folder / 'tmp'}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=[pytest.mark.slow, pytest.mark.by_hand]) for seed in range(1, 10))]
)
def test_a_run_killed_at_twenty_moments_loses_and_repeats_nothing(
    study: Study, tmp_path: Path, seed: int
) -> None:
    """After all the kills the same command ends the run: one final record a trial, all files whole."""
    (tmp_path / "rehearsal.toml").write_text(MANY_SHORT)
    moments = random.Random(seed)
    kept: dict[Path, bytes] = {}
    for _ in range(KILLS):
        kill_at(tmp_path, moments.uniform(0.2, 2.2))
        now = {path: path.read_bytes() for path in tmp_path.glob("runs/*/*/trials/*.json")}
        assert {path: now.get(path) for path in kept} == kept
        kept = now

    done = to_the_end(tmp_path)
    checked = study("validate")

    assert done.returncode == 0, done.stderr
    assert checked.returncode == 0, checked.stdout
    runs = find_runs(tmp_path / "runs")
    assert [load_run(run).status for run in runs if load_run(run).status != "complete"] == []
    for run in runs:
        records, planned = load_records(run), load_run(run).plan.trials
        assert Counter(record.trial for record in records) == Counter(trial.id for trial in planned)
        assert all(isinstance(record.outcome, Measured) for record in records)
    assert {path: path.read_bytes() for path in kept} == kept
    assert [str(path) for path in tmp_path.rglob("*.tmp")] == []
    deadline = time.monotonic() + 60
    while left_behind(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left_behind(tmp_path) == []
