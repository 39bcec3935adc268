"""The variables by which libraries are told how to compute: what a rank really had of them goes on record."""

from collections.abc import Mapping

FAMILIES = (
    "OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "MALLOC_", "TORCH_", "PYTORCH_", "NCCL_", "GLOO_",
    "CUBLAS_", "CUDNN_", "PYTHONHASHSEED", "CUDA_DEVICE_ORDER", "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING", "LD_PRELOAD",
)  # fmt: skip
"""None whose value names a folder, a person or a device's serial number, but LD_PRELOAD."""


def switches(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of these families, in order; of LD_PRELOAD, which is a path, only that it is set."""
    return {
        name: "set" if name == "LD_PRELOAD" else value
        for name, value in sorted(environ.items())
        if name.startswith(FAMILIES)
    }
