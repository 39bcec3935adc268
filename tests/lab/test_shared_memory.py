"""Shared memory that an attempt left: what is removed, and what is nobody's business."""

from pathlib import Path

import pytest

from study.lab.shared_memory import SharedMemory, sees_all_processes


@pytest.mark.parametrize("name", ["nccl-AbCdEf", "torch_77_123", "psm_0badcafe", "sem.mp-x1", "cuda.shm.0.1"])
def test_what_libraries_left_is_removed(tmp_path: Path, name: str) -> None:
    """A file that appeared, is ours by name and user, and that nobody uses."""
    shared = SharedMemory(tmp_path, alone=lambda: True)
    (tmp_path / name).write_bytes(b"left")

    assert shared.sweep() == [name]
    assert not (tmp_path / name).exists()


def test_what_was_there_or_is_named_otherwise_stays(tmp_path: Path) -> None:
    """A file of before the attempt, and one that no library of ours names so."""
    (tmp_path / "nccl-before").touch()
    shared = SharedMemory(tmp_path, alone=lambda: True)
    (tmp_path / "somebody's").touch()

    assert shared.sweep() == []
    assert len(list(tmp_path.iterdir())) == 2


def test_what_is_in_use_stays(tmp_path: Path) -> None:
    """A living process has it open."""
    shared = SharedMemory(tmp_path, alone=lambda: True)
    with (tmp_path / "psm_used").open("wb"):
        assert shared.sweep() == []
    assert shared.sweep() == ["psm_used"]


def test_in_a_container_nothing_is_removed(tmp_path: Path) -> None:
    """The folder may be shared with processes that cannot be seen from inside."""
    shared = SharedMemory(tmp_path, alone=lambda: False)
    (tmp_path / "nccl-left").touch()

    assert shared.sweep() == []


def test_the_first_namespace_is_told_by_its_second_process(tmp_path: Path) -> None:
    """It is the kernel's own; in a container it is any, or there is none."""
    comm = tmp_path / "comm"
    found = [sees_all_processes(comm)]
    for name in ("bash", "kthreadd"):
        comm.write_text(name + "\n")
        found.append(sees_all_processes(comm))

    assert found == [False, False, True]


def test_where_there_is_no_shared_memory_nothing_is_swept(tmp_path: Path) -> None:
    """Other systems have no such folder."""
    assert SharedMemory(tmp_path / "none").sweep() == []
