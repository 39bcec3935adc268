"""Tests of describing the software, with real git repositories."""

import subprocess
from pathlib import Path

import pytest

import study
from study.domain.fact import require_reasons
from study.domain.machine import WorkerFacts
from study.lab.software import describe_software

WORKER = WorkerFacts(
    torch="2.9.0+cu128", torch_git="abc", cuda="12.8", cudnn=None, nccl="2.27.5", devices={},
    cpu_capability="AVX2", unknown={"cudnn": "torch sees no GPU here"},
)  # fmt: skip


def _git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package in a repository with one commit."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-q", "-m", "first")
    return folder


def test_a_clean_checkout_has_its_commit(package: Path) -> None:
    """Results that lie beside the package do not make it dirty."""
    (package.parent / "runs").mkdir()
    (package.parent / "runs" / "run.json").write_text("{}")
    found = describe_software(WORKER, "570.1", package=package)

    assert found.study_commit == _git(package, "rev-parse", "HEAD")
    assert found.study_dirty is False
    require_reasons(found, found.unknown)


@pytest.mark.parametrize("name", ["__init__.py", "new.py"])
def test_a_changed_or_new_file_is_dirty(package: Path, name: str) -> None:
    """What ran is not what the commit says."""
    (package / name).write_text("changed = 1\n")

    assert describe_software(WORKER, "570.1", package=package).study_dirty is True


def test_an_installed_package_has_no_commit(package: Path) -> None:
    """A package that somebody's repository merely holds untracked is not that repository's commit."""
    inside = package.parent / "venv"
    inside.mkdir()
    (inside / "__init__.py").write_text("")
    found = describe_software(WORKER, "570.1", package=inside)

    assert found.study_commit is None
    assert found.study_dirty is None
    assert found.unknown["study_commit"] == "study is installed, not run from a git checkout"


def test_a_folder_without_git_has_no_commit(tmp_path: Path) -> None:
    """No repository, no commit, and the reason."""
    found = describe_software(WORKER, "570.1", package=tmp_path)

    assert found.study_commit is None
    require_reasons(found, found.unknown)


def test_versions_are_the_workers_and_the_installed_ones(tmp_path: Path) -> None:
    """Torch's versions come from the worker, the packages' from what is installed."""
    found = describe_software(WORKER, None, why_no_driver="no driver", package=tmp_path)

    assert (found.study, found.torch, found.cuda, found.nccl) == (
        study.__version__,
        "2.9.0+cu128",
        "12.8",
        "2.27.5",
    )
    assert found.unknown["cudnn"] == "torch sees no GPU here"
    assert found.unknown["driver"] == "no driver"
    assert {"msgspec", "psutil", "numpy"} <= found.packages.keys()
    assert "pytest" not in found.packages


def test_without_torch_its_versions_are_null_with_reasons(tmp_path: Path) -> None:
    """A study that needs no torch has its software described all the same."""
    found = describe_software(None, None, package=tmp_path)

    assert found.torch is None
    require_reasons(found, found.unknown)
