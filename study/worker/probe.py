"""What torch sees on this machine: its versions and the devices that work. Run in a child process."""

import importlib
import sys

import msgspec

from study.domain.machine import WorkerFacts
from study.domain.shelf import module_names


def describe() -> bytes:
    """JSON of `study.domain.machine.WorkerFacts`."""
    return msgspec.json.encode(worker_facts())


def worker_facts() -> WorkerFacts:
    """Versions and devices; what this build or machine does not have is null with the reason."""
    import torch

    gpu = torch.cuda.is_available()
    hip = torch.version.hip
    no_gpu = "torch sees no GPU here"
    cudnn = torch.backends.cudnn.version() if gpu else None
    nccl = _nccl() if gpu else None
    git, cuda = torch.version.git_version, f"ROCm {hip}" if hip else torch.version.cuda
    silent = "this build of torch does not say"
    reasons = (
        ("torch_git", git, silent),
        ("cuda", cuda, "this build of torch is without CUDA"),
        ("cudnn", cudnn, silent if gpu else no_gpu),
        ("nccl", nccl, silent if gpu else no_gpu),
    )
    return WorkerFacts(
        torch=str(torch.__version__),
        torch_git=git,
        cuda=cuda,
        cudnn=None if cudnn is None else str(cudnn),
        nccl=nccl,
        devices=_devices(),
        cpu_capability=torch.backends.cpu.get_cpu_capability(),
        unknown={name: reason for name, value, reason in reasons if value is None},
    )


def _devices() -> dict[str, tuple[str, ...]]:
    found = {}
    for name, module in module_names("accelerators").items():
        names = importlib.import_module(module).visible_devices()
        if names:
            found[name] = tuple(names)
    return found


def _nccl() -> str | None:
    import torch

    try:
        version = torch.cuda.nccl.version()
    except (AttributeError, RuntimeError):
        return None
    return ".".join(str(part) for part in version)


if __name__ == "__main__":
    sys.stdout.buffer.write(describe())
