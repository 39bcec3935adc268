"""The accelerator `cuda`: one GPU per rank, NVIDIA or, by torch's ROCm build, AMD; NCCL between ranks.

The device works behind the host's back, so a mark is an event in its stream, and times between
events are read only after the window.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from study.domain.record import Numerics
from study.worker.events import allocator

FACTS = {
    "summary": "One GPU per rank, NVIDIA or AMD; ranks talk through NCCL (RCCL).",
    "backend": "nccl",
    "precisions": ("fp32", "tf32", "bf16", "fp16"),
    "startup_s": 5.0,
}


def open_device(local_rank: int, threads: int, precision: str) -> Any:
    """This node's GPU number `local_rank` as the current device, with every rounding switch set.

    fp32 means fp32: TF32 is off for matrix products and for convolutions, where cuDNN would use it
    by default. cuDNN's autotuning stays off, because its choice may differ between trials.
    """
    import torch

    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)
    rounding = "tf32" if precision == "tf32" else "ieee"
    torch.backends.cuda.matmul.fp32_precision = rounding
    torch.backends.cudnn.conv.fp32_precision = rounding  # type: ignore[attr-defined]
    torch.backends.cuda.matmul.allow_fp16_accumulation = False
    torch.backends.cudnn.benchmark = False
    return device


def device_name() -> str:
    """The product name of the current GPU."""
    import torch

    return torch.cuda.get_device_name()


def threads() -> int | None:
    """Host threads per operation as torch reports them."""
    import torch

    return torch.get_num_threads()


def mark() -> Any:
    """An event at this point of the current stream."""
    import torch

    event = torch.cuda.Event(enable_timing=True)
    event.record()
    return event


def elapsed_ns(earlier: Any, later: Any) -> int:
    """Nanoseconds between two events that the device has passed; events resolve about 0.5 µs."""
    return round(earlier.elapsed_time(later) * 1e6)


def synchronise() -> None:
    """Wait until the current GPU has done all that was asked of it."""
    import torch

    torch.cuda.synchronize()


def reset_peak_memory() -> str:
    """Begin a new peak of memory allocated by tensors."""
    import torch

    torch.cuda.reset_peak_memory_stats()
    return ""


def peak_memory_bytes() -> int:
    """The largest memory allocated to tensors since the reset; not what the allocator keeps in reserve."""
    import torch

    return torch.cuda.max_memory_allocated()


def autocast(precision: str) -> AbstractContextManager[Any]:
    """bf16 and fp16 by autocast; fp32 and tf32 plain, tf32 being a switch."""
    import torch

    dtypes = {"bf16": torch.bfloat16, "fp16": torch.float16}
    return torch.autocast("cuda", dtype=dtypes[precision]) if precision in dtypes else nullcontext()


def numerics() -> Numerics:
    """The rounding switches as they stand."""
    import torch

    return Numerics(
        matmul_tf32=torch.backends.cuda.matmul.fp32_precision == "tf32",
        convolution_tf32=torch.backends.cudnn.conv.fp32_precision == "tf32",  # type: ignore[attr-defined]
        reduced_precision_accumulation=torch.backends.cuda.matmul.allow_fp16_accumulation,
        deterministic=torch.are_deterministic_algorithms_enabled(),
    )


def visible_devices() -> tuple[str, ...]:
    """Names of the GPUs that torch can use, in its order; none where there is no GPU."""
    import torch

    if not torch.cuda.is_available():
        return ()
    return tuple(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count()))


def temperature_c() -> tuple[float | None, str]:
    """The GPU's temperature as its management library tells it, to a degree."""
    import torch

    try:
        return float(torch.cuda.temperature()), ""
    except Exception as error:  # no library, no permission, a card that does not tell: each has its own class
        return None, f"the management library does not tell the temperature ({type(error).__name__})"


def events(model: Any) -> dict[str, int]:  # noqa: ARG001 - the shelf's contract
    """What the caching allocator did."""
    import torch

    return allocator(torch.cuda.memory_stats())
