"""Tests of the environment that a rank is given."""

import contextlib
import os
from collections.abc import Callable

import pytest

from study.domain.trial import Cell
from study.lab.environment import LOOPBACK, allowed, for_rank, only_allowed


@pytest.mark.parametrize(
    "name",
    [
        "NCCL_P2P_DISABLE", "NCCL_ALGO", "OMP_PROC_BIND", "OMP_NUM_THREADS", "GOMP_CPU_AFFINITY",
        "GOMP_SPINCOUNT", "KMP_AFFINITY", "KMP_BLOCKTIME", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS",
        "MALLOC_ARENA_MAX",
        "MALLOC_CONF", "MALLOC_TRIM_THRESHOLD_", "LD_PRELOAD", "PYTHONHASHSEED", "PYTHONOPTIMIZE",
        "TORCH_LOGS", "TORCH_COMPILE_DISABLE", "TORCH_NCCL_AVOID_RECORD_STREAMS", "TORCHDYNAMO_DISABLE",
        "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "CUBLAS_WORKSPACE_CONFIG", "CUBLASLT_WORKSPACE_SIZE",
        "CUDNN_LOGINFO_DBG", "NVIDIA_TF32_OVERRIDE", "CUDA_LAUNCH_BLOCKING", "CUDA_MODULE_LOADING",
        "GLOO_SOCKET_IFNAME", "HF_TOKEN",
    ],
)  # fmt: skip
def test_what_could_change_a_measurement_is_not_passed_on(name: str) -> None:
    """A control that is in no plan does not reach the ranks."""
    assert allowed({name: "1", "PATH": "/bin"}) == {"PATH": "/bin"}


def test_the_cell_decides_threads(cell: Callable[..., Cell]) -> None:
    """The whole environment follows from the cell and the allow-list."""
    assert for_rank(cell(), {"OMP_NUM_THREADS": "64", "HOME": "/h"}) == {
        "HOME": "/h",
        "OMP_NUM_THREADS": "3",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "GLOO_SOCKET_IFNAME": LOOPBACK,
    }


def test_the_own_environment_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a server is started only the allow-list is there; afterwards all is as before, also on error."""
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    before = dict(os.environ)

    with contextlib.suppress(RuntimeError), only_allowed(["/a", "/b"]):
        inside = dict(os.environ)
        raise RuntimeError

    assert "NCCL_DEBUG" not in inside
    assert inside["PYTHONPATH"] == "/a:/b"
    assert dict(os.environ) == before
