"""The command line in processes of its own, in an empty folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fakes.command import Study

SLEEPY = """
name = "sleepy"
title = "A study that sleeps"
accelerator = "cpu"

[protocol]
blocks = 3
warmup_steps = 1
warmup_s = 0.01
window_s = 0.1
min_steps = 3
time_limit_s = 20.0
seed = 7

[[matrix]]
workload = "sleep"
task = "check"
size = "amdahl"
strategy = ["single", "ddp"]
devices = [1, 2]
batch = 8
options = { step_ms = 10.0 }

[[exclude]]
where = { strategy = "ddp", devices = 1 }
because = "One replica on one device is the cell of the strategy single."
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """`study` with arguments, in `tmp_path`: its code, what it printed, what it complained of."""

    (tmp_path / "tmp").mkdir(exist_ok=True)

    def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "study", *arguments],
            cwd=tmp_path,
            # a temporary folder of its own: the lock of a measuring run lies there
            env={**os.environ, "TMPDIR": str(tmp_path / "tmp"), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    return call


@pytest.fixture
def sleepy(tmp_path: Path) -> Path:
    """A study file of six short trials that need no torch."""
    (tmp_path / "tmp").mkdir(exist_ok=True)  # without it the system's would be used, and with it its lock
    path = tmp_path / "sleepy.toml"
    path.write_text(SLEEPY)
    return path
