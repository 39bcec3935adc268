"""Gradients summed over ranks that hold the same part, in one go after the backward passes of a step."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

BUCKET_BYTES = 25 * 2**20
"""How much travels in one message: DistributedDataParallel's default, so that the two can be compared."""


class GradientSum:
    """All-reduces gradients by flat buffers, all on their way before the first is waited for."""

    def __init__(
        self, parameters: Sequence[nn.Parameter], group: Any, bucket_bytes: int = BUCKET_BYTES
    ) -> None:
        """`parameters` are the same, in the same order, on every rank of the group."""
        self._parameters = parameters
        self._group = group
        self._bucket_bytes = bucket_bytes

    def add_up(self) -> None:
        """Each gradient is the sum of the ranks' gradients; one that no rank has stays away."""
        gradients = [_held(p.grad) for p in self._parameters if p.grad is not None]
        sent = []
        for bucket in _buckets(gradients, self._bucket_bytes):
            flat = torch.cat([gradient.flatten() for gradient in bucket])
            sent.append((bucket, flat, dist.all_reduce(flat, group=self._group, async_op=True)))
        for bucket, flat, work in sent:
            work.wait()
            pieces = flat.split([gradient.numel() for gradient in bucket])
            for gradient, piece in zip(bucket, pieces, strict=True):
                gradient.copy_(piece.view_as(gradient))


def _held(gradient: Tensor) -> Tensor:
    """What this rank holds of a gradient: all of it, or its own part of a split one."""
    return gradient.to_local() if isinstance(gradient, DTensor) else gradient


def _buckets(gradients: Sequence[Tensor], most_bytes: int) -> Iterator[list[Tensor]]:
    """Successive gradients of one type together, up to a size; one that is larger goes alone."""
    bucket: list[Tensor] = []
    for gradient in gradients:
        full = sum(g.nbytes for g in bucket) + gradient.nbytes > most_bytes
        if bucket and (full or gradient.dtype != bucket[0].dtype):
            yield bucket
            bucket = []
        bucket.append(gradient)
    if bucket:
        yield bucket
