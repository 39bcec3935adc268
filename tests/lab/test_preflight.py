"""Tests of refusing what cannot run here."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from study.domain.errors import NotReady
from study.domain.machine import WorkerFacts
from study.domain.trial import Cell, Plan
from study.lab.preflight import check_room, needs_torch, ready


def _worker(torch: str = "2.9.0", **devices: tuple[str, ...]) -> WorkerFacts:
    return WorkerFacts(
        torch=torch, torch_git=None, cuda=None, cudnn=None, nccl=None, devices=devices, cpu_capability=None
    )


@pytest.fixture
def sleep_plan(plan_of: Callable[..., Plan], cell: Callable[..., Cell]) -> Plan:
    """A plan that needs no torch, up to four ranks on the CPU."""
    return plan_of({"a": cell(1), "b": cell(4)}, ["a", "b"])


@pytest.fixture
def gpt_plan(sleep_plan: Plan) -> Plan:
    """The same with a workload on torch."""
    cells = tuple(
        msgspec.structs.replace(planned, cell=msgspec.structs.replace(planned.cell, workload="gpt"))
        for planned in sleep_plan.cells
    )
    return msgspec.structs.replace(sleep_plan, cells=cells)


def test_a_plan_that_can_run_passes(sleep_plan: Plan, gpt_plan: Plan, tmp_path: Path) -> None:
    """More CPU ranks than CPUs are no obstacle; a plan without torch runs without torch."""
    ready(gpt_plan, _worker(cpu=("a CPU",)), runs=tmp_path / "not" / "there" / "yet")
    ready(gpt_plan, _worker("2.13.0+cu128", cpu=("a CPU",)), runs=tmp_path)
    ready(sleep_plan, None, runs=tmp_path)

    assert check_room(tmp_path) > 200_000_000
    assert needs_torch(gpt_plan)
    assert not needs_torch(sleep_plan)


@pytest.mark.parametrize("version", ["2.8.1", "1.13.0+cu117", "unknown"])
def test_an_old_torch_is_refused(gpt_plan: Plan, tmp_path: Path, version: str) -> None:
    """The version is named, and the oldest that will do."""
    with pytest.raises(NotReady, match=version.replace("+", r"\+")) as caught:
        ready(gpt_plan, _worker(version, cpu=("a CPU",)), runs=tmp_path)

    assert "PyTorch 2.9 or newer" in caught.value.remedy


def test_missing_torch_is_refused(gpt_plan: Plan, tmp_path: Path) -> None:
    """A plan on torch needs torch."""
    with pytest.raises(NotReady, match="needs PyTorch"):
        ready(gpt_plan, None, runs=tmp_path)


def test_an_accelerator_that_does_not_work_is_refused(gpt_plan: Plan, tmp_path: Path) -> None:
    """What would work is named."""
    plan = msgspec.structs.replace(gpt_plan, accelerator="cuda")
    with pytest.raises(NotReady, match="`cuda` here; what works: `cpu`") as caught:
        ready(plan, _worker(cpu=("a CPU",)), runs=tmp_path)

    assert "`accelerator`" in caught.value.remedy


def test_fewer_devices_than_planned_are_refused(gpt_plan: Plan, tmp_path: Path) -> None:
    """Four were planned; two do not do, four do."""
    plan = msgspec.structs.replace(gpt_plan, accelerator="cuda")
    ready(plan, _worker(cuda=("H200",) * 4), runs=tmp_path)

    with pytest.raises(NotReady, match="on 4 devices; PyTorch can use 2"):
        ready(plan, _worker(cuda=("H200",) * 2), runs=tmp_path)


def test_a_full_disk_is_refused(sleep_plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that cannot be stored does not begin."""
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=199_000_000))
    with pytest.raises(NotReady, match="Only 199 MB are free") as caught:
        ready(sleep_plan, None, runs=tmp_path)

    assert "--runs" in caught.value.remedy
