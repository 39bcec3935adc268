"""`study check` and `study list` say what there is."""

import json
from pathlib import Path

import pytest
from fakes.command import Study


@pytest.mark.torch
def test_check_says_that_the_preset_can_start_here(study: Study) -> None:
    """Each look has a verdict, what was seen, and a remedy if it is not good."""
    done = study("check", "--json")

    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["ready"] is True
    looks = {check["what"]: check for check in found["checks"]}
    assert {"PyTorch", "Preset quick", "GPUs", "CPU", "Other work", "Disk"} <= set(looks)
    assert "cpu" in looks["PyTorch"]["evidence"]
    for check in found["checks"]:
        assert check["verdict"] in ("good", "note", "stop")
        assert check["evidence"]
        assert check["verdict"] == "good" or check["remedy"]


def test_check_without_a_usable_torch_says_what_to_do(study: Study, tmp_path: Path) -> None:
    """Exit code 3: the machine is not ready."""
    (tmp_path / "broken" / "torch").mkdir(parents=True)
    (tmp_path / "broken" / "torch" / "__init__.py").write_text("raise ImportError('no libcudart here')\n")

    done = study("check", PYTHONPATH=str(tmp_path / "broken"))

    assert done.returncode == 3
    assert "STOP  PyTorch" in done.stdout
    assert "no libcudart here" in done.stdout
    assert "cannot start here" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_list_shows_runs_presets_and_shelves(study: Study, sleepy: Path) -> None:
    """Also when there is none of something."""
    empty = study("list")
    study("run", "sleepy.toml", "--only", "*single*")
    runs = json.loads(study("list", "runs", "--json").stdout)["runs"]

    assert "none in runs; `study run` makes one." in empty.stdout
    for words in ("presets:", "quick", "workloads:", "gpt", "strategies:", "ddp", "figures:", "speedup"):
        assert words in empty.stdout
    assert [(run["status"], run["recorded"], run["trials"]) for run in runs] == [("unfinished", 3, 6)]


def test_list_workloads_shows_sizes_and_options(study: Study) -> None:
    """What a study file may write, with its defaults."""
    shown = study("list", "workloads").stdout

    assert "sizes: tiny, small, 124m" in shown
    assert "train: tokens; options = { sequence = 64 }" in shown


def test_plan_as_json_is_the_plan(study: Study) -> None:
    """Every cell, every trial, and the sentinel first and last in each block."""
    plan = json.loads(study("plan", "quick", "--json").stdout)
    blocks = plan["protocol"]["blocks"]

    assert [trial["role"] for trial in plan["trials"]].count("sentinel") == 2 * blocks
    assert len(plan["trials"]) == (len(plan["cells"]) + 2) * blocks


def test_plan_shows_only_what_matches(study: Study, sleepy: Path) -> None:
    """As `study run --only` would run it."""
    shown = study("plan", "sleepy.toml", "--only", "*.x2.*").stdout

    assert "1 cell, 3 blocks, 3 trials" in shown
    assert "single.x1" not in shown.partition("Skipped")[0]
