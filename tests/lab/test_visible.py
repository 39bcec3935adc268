"""GPUs that torch could use, told without importing it."""

from pathlib import Path

import pytest

from study.lab import visible

CUDA = "cuda: str | None = '12.8'\nhip = None\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CUDA, "cuda"),
        ("from typing import Optional\ncuda: Optional[str] = None\nhip: Optional[str] = '6.4'\n", "hip"),
        ("cuda = None\nhip = None\n", ""),
        ("", ""),
    ],
)
def test_the_build_is_read_from_torchs_own_file(tmp_path: Path, text: str, kind: str) -> None:
    """Annotated or not, as builds of several years write it."""
    (tmp_path / "version.py").write_text(text)

    assert visible.build(tmp_path / "version.py") == kind


def test_without_torch_there_is_no_build(tmp_path: Path) -> None:
    """And so no GPU that it could use."""
    assert visible.build(tmp_path / "none.py") == ""


@pytest.mark.parametrize(
    ("environ", "count"),
    [
        ({}, 4),
        ({"CUDA_VISIBLE_DEVICES": ""}, 0),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, 0),
        ({"CUDA_VISIBLE_DEVICES": "0,1"}, 2),
        ({"CUDA_VISIBLE_DEVICES": "1,-1,2"}, 1),
        ({"CUDA_VISIBLE_DEVICES": "GPU-8932f937, GPU-2"}, 2),
        ({"CUDA_VISIBLE_DEVICES": "MIG-1"}, 1),
        ({"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5"}, 4),
    ],
)
def test_the_environment_hides_devices(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], count: int
) -> None:
    """By index, by UUID, as MIG slices; a list ends at the first entry that is no device."""
    monkeypatch.setattr(visible, "build", lambda: "cuda")
    monkeypatch.setattr(visible, "gpus", lambda: (None,) * 4)

    assert visible.usable_gpus(environ) == count


def test_amds_devices_are_the_nodes_with_simd_units(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The processor is a node too, and has none."""
    monkeypatch.setattr(visible, "build", lambda: "hip")
    for node, simds in enumerate([0, 440, 440]):
        (tmp_path / str(node)).mkdir()
        (tmp_path / str(node) / "properties").write_text(f"cpu_cores_count 1\nsimd_count {simds}\n")

    assert visible.usable_gpus({}, tmp_path) == 2
    assert visible.usable_gpus({"HIP_VISIBLE_DEVICES": "1"}, tmp_path) == 1
    assert visible.usable_gpus({}, tmp_path / "none") == 0


@pytest.mark.parametrize(
    ("entries", "order"),
    [
        (None, (0, 1, 2)),
        ("2,0", (2, 0)),
        ("GPU-b, GPU-a", (1, 0)),  # beginnings of UUIDs, of which each fits one
        ("0,7,1", (0,)),  # what is no device hides what follows
        ("1,-1,0", (1,)),
        ("GPU-,0", ()),  # fits all three
        ("", ()),
        ("MIG-x", (None,)),
    ],
)
def test_gpus_stand_in_torchs_order(entries: str | None, order: tuple[int | None, ...]) -> None:
    """By what CUDA_VISIBLE_DEVICES says, each is found again among those of the management library."""
    environ = {} if entries is None else {"CUDA_VISIBLE_DEVICES": entries}

    assert visible.in_torchs_order(["GPU-aa", "GPU-bb", "GPU-cc"], environ) == order
