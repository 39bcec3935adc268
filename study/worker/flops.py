"""The model's floating-point operations in a step, counted once on torch's meta device.

Nothing is computed there and no memory is taken, so the count is done before the model has values, outside
every window. It is torch's own count of the plain model, forward and backward: products of matrices,
convolutions and attention, two operations a multiply-add. Attention is counted in full also under a causal
mask, the convention of Chowdhery et al. 2022 (PaLM), appendix B. What a strategy recomputes is not seen,
as it should be: these are the operations of MFU, not of HFU.

A count that fails harms no trial: it leaves its reason.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from study.worker.contracts import Flops

SAMPLES = 2
"""Samples that are counted, and divided by: BatchNorm in training refuses a lone one."""


def training_flops(
    model: nn.Module, batch: tuple[Any, Any], loss: Callable[[Any, Any], Tensor], *, samples: int
) -> Flops:
    """Of forward and backward on so many samples; `model` is whole and on the meta device, and is left so."""

    def operations() -> int:
        inputs, targets = _alike(batch)
        with FlopCounterMode(display=False) as counter:
            loss(model(inputs), targets).backward()
        return counter.get_total_flops() * samples // SAMPLES

    try:
        return _counted(operations)
    finally:
        model.zero_grad(set_to_none=True)


def answering_flops(model: nn.Module, inputs: Any, *, samples: int) -> Flops:
    """Of one forward pass on so many samples."""
    return _counted(lambda: _forward(model, _alike(inputs)) * samples // SAMPLES)


def decoding_flops(model: nn.Module, cache: Any, *, prompt: int, generate: int, samples: int) -> Flops:
    """Of reading so many prompts and generating `generate` tokens for each; `cache` has room for two tokens
    after a prompt.

    Each later token sees one position more than the one before it, so its operations grow by the same
    number each time: two of them tell all.
    """

    def operations() -> int:
        tokens = torch.empty((1, prompt), dtype=torch.long, device="meta")
        first, second, third = (_forward(model, x, cache) for x in (tokens, tokens[:, :1], tokens[:, :1]))
        later = generate - 1
        return samples * (first + later * second + later * (later - 1) // 2 * (third - second))

    return _counted(operations)


@torch.no_grad()
def _forward(model: nn.Module, *inputs: Any) -> int:
    with FlopCounterMode(display=False) as counter:
        model(*inputs)
    return counter.get_total_flops()


def _counted(operations: Callable[[], int]) -> Flops:
    """The count, or the reason why there is none."""
    try:
        return Flops(per_step=operations())
    # Whatever torch cannot count, the trial can still be measured.
    except Exception as error:
        first_line = next(iter(str(error).splitlines()), "")
        return Flops(reason=f"the operations could not be counted: {type(error).__name__}: {first_line}")


def _alike(given: Any) -> Any:
    """Tensors of the same shape and type on the meta device, but of `SAMPLES` samples."""
    if isinstance(given, tuple):
        return tuple(_alike(part) for part in given)
    return torch.empty((SAMPLES, *given.shape[1:]), dtype=given.dtype, device="meta")
