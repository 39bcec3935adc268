"""Tests of asking the worker what it can see, in a process of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from study.domain.errors import NotReady
from study.lab.probe import worker_facts


def test_the_workers_answer_is_decoded(here: str) -> None:
    """What libraries print meanwhile does not spoil the answer."""
    found = worker_facts(entry="fake_worker:describe", sys_path=[here])

    assert found.torch == "2.9.1"
    assert found.devices["cuda"] == ("NVIDIA H200", "NVIDIA H200")


def test_missing_torch_is_said_with_the_remedy(here: str) -> None:
    """The reason is the child's last line, and the remedy says what to install."""
    with pytest.raises(NotReady) as caught:
        worker_facts(entry="fake_worker:describe_without_torch", sys_path=[here])

    assert caught.value.problem == (
        "PyTorch cannot be used here: ModuleNotFoundError: No module named 'torch'."
    )
    assert caught.value.remedy.startswith("Install PyTorch 2.9 or newer")


def test_an_answer_that_cannot_be_read_is_refused(here: str) -> None:
    """A worker of another version does not pass as facts."""
    with pytest.raises(NotReady, match="cannot be read"):
        worker_facts(entry="fake_worker:describe_in_riddles", sys_path=[here])


def test_a_probe_that_hangs_is_ended_with_its_children(
    here: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    all_gone: Callable[[], bool],
    until: Callable[[Callable[[], bool]], bool],
) -> None:
    """A hung device does not hang the lab."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(NotReady, match="did not end within 1 s"):
        worker_facts(entry="fake_worker:describe_never", sys_path=[here], limit_s=1)

    assert until(all_gone)


@pytest.mark.torch
def test_the_real_worker_answers() -> None:
    """The worker's own probe keeps the joint, and the CPU always works."""
    found = worker_facts()

    assert "cpu" in found.devices
    assert found.torch.split(".")[0].isdigit()
