"""A trial that fails becomes a record and a row of the article; the others run."""

import json
from pathlib import Path

import pytest
from fakes.command import Study

from study.archive import find_runs, load_records
from study.domain.record import Failed, Measured, OutOfMemory, TimedOut

EXTENSION = Path(__file__).parent.parent / "worker" / "extension"

FAULTY = """
name = "faulty"
title = "A study of which much fails"

[protocol]
blocks = 1
warmup_steps = 2
warmup_s = 0.0
window_steps = 8
time_limit_s = 4.0
seed = 1

[[matrix]]
workload = "faulty"
task = "check"
size = "one"
strategy = "ddp"
devices = 2
batch = 4
options = { fault = ["", "raise", "kill", "hang", "invalid", "memory"], rank = 1 }
"""


@pytest.fixture
def failed(study: Study, tmp_path: Path):
    """`study run` of a study with one healthy cell and one for each way to fail; the records by fault."""
    (tmp_path / "faulty.toml").write_text(FAULTY)
    done = study("run", "faulty.toml", "--json", PYTHONPATH=str(EXTENSION))
    (run,) = find_runs(tmp_path / "runs")
    return done, {record.cell.options["fault"]: record for record in load_records(run)}


def test_every_way_to_fail_is_recorded_with_its_reason_and_the_others_run(
    failed, study: Study, tmp_path: Path
) -> None:
    """Exit code 1, and a page that lists what failed and why."""
    done, records = failed

    document = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == document["exit_code"] == 1
    assert document["outcomes"] == {"failed": 3, "measured": 1, "out_of_memory": 1, "timed_out": 1}
    assert document["status"] == "complete"

    outcomes = {fault: record.outcome for fault, record in records.items()}
    assert isinstance(outcomes[""], Measured)
    assert outcomes["raise"].cause == "raised"
    assert outcomes["raise"].rank == 1
    assert "a fault on purpose" in outcomes["raise"].reason
    assert (outcomes["kill"].cause, outcomes["kill"].signal) == ("signal", "SIGKILL")
    assert isinstance(outcomes["hang"], TimedOut)
    assert 1 in outcomes["hang"].waiting
    assert isinstance(outcomes["invalid"], Failed)
    assert outcomes["invalid"].cause == "invalid"
    assert isinstance(outcomes["memory"], OutOfMemory)

    assert study("render").returncode == 0
    (article,) = tmp_path.glob("site/studies/faulty/*/article.md")
    text = article.read_text()
    for words in ("a fault on purpose", "SIGKILL", "The answer is wrong on purpose", "no room on purpose"):
        assert words in text
