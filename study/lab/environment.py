"""The environment of a rank: an allow-list and what the cell asks for, nothing else.

A variable that changes what is measured without being in the plan (`NCCL_*`, `OMP_*`, `MKL_*`,
`TORCH_*`) is an unrecorded control. So only what a process needs to find its files, its language
and its devices is passed on.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from study.domain.trial import Cell

ALLOWED = frozenset(
    {
        "PATH", "HOME", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE",
        "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "XDG_CACHE_HOME",
        "CC", "CXX", "CUDA_HOME", "CUDA_PATH", "ROCM_PATH", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
        "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
        "ZE_AFFINITY_MASK",
    }
)  # fmt: skip

LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"


def allowed(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of `environ` that are passed on."""
    return {name: value for name, value in sorted(environ.items()) if name in ALLOWED}


def for_rank(cell: Cell, environ: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of one rank on this machine.

    Visible devices are not narrowed: a rank takes the device of its ordinal. The order by bus makes
    CUDA's ordinals agree with NVML's. Gloo is held to the loopback, where a host's own name may
    resolve to an address that nobody listens on.
    """
    return {
        **allowed(environ),
        "OMP_NUM_THREADS": str(cell.threads_per_device),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "GLOO_SOCKET_IFNAME": LOOPBACK,
    }


@contextmanager
def only_allowed(sys_path: list[str]) -> Iterator[None]:
    """While the block runs, this process has the allow-list alone, for a child that copies it.

    Libraries read variables when they are loaded, and the forkserver loads them before any rank
    exists. `sys_path` becomes the child's module path, without its current folder before it.
    """
    before = dict(os.environ)
    try:
        os.environ.clear()
        os.environ.update(allowed(before))
        os.environ.update(PYTHONPATH=os.pathsep.join(sys_path), PYTHONSAFEPATH="1")
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
