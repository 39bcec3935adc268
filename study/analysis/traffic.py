"""What parallel training sends, and how long that may take: bytes, bus bandwidth, and a model of t(n).

Bus bandwidth compares with what a link carries in one direction. A sheet's NVLink figure is both directions
summed: halve it first. Below about 16 MiB a bandwidth is a latency.

Sources: nccl-tests, PERFORMANCE.md (bus bandwidth); Shoeybi et al. 2019, arXiv 1909.08053 (two all-reduces
a layer and direction); Rajbhandari et al., SC 2020, arXiv 1910.02054 (sharding: half as much again).
"""

import math
from typing import Literal

Collective = Literal["all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce"]

BUCKET_BYTES = 25 * 2**20
"""The size at which DistributedDataParallel sends a bucket of gradients, by default."""


def bus_factor(collective: Collective, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth. Of a gather or scatter the bytes are the whole array's."""
    if collective == "all_reduce":
        return 2 * (ranks - 1) / ranks
    if collective in ("broadcast", "reduce"):
        return 1.0
    return (ranks - 1) / ranks


def bus_bandwidth(payload_bytes: float, seconds: float, collective: Collective, ranks: int) -> float:
    """Bytes a second that a link must have carried in one direction."""
    return payload_bytes / seconds * bus_factor(collective, ranks)


def data_parallel_bytes(gradient_bytes: float, ranks: int) -> float:
    """Bytes that each rank sends in a step: 2 (n - 1)/n of the gradients."""
    return gradient_bytes * bus_factor("all_reduce", ranks)


def sharded_bytes(parameter_bytes: float, ranks: int) -> float:
    """Bytes that each rank sends in a step under FSDP: two all-gathers and a reduce-scatter."""
    return parameter_bytes * (2 * bus_factor("all_gather", ranks) + bus_factor("reduce_scatter", ranks))


def tensor_parallel_bytes(
    *,
    layers: int,
    batch: int,
    sequence: int,
    width: int,
    ranks: int,
    element_bytes: int,
    recompute: bool = False,
) -> float:
    """Bytes that each rank sends in a step: two all-reduces a layer forward and two backward.

    8 b s h (t - 1)/t elements a layer, over all samples of the step; full recomputation repeats the forward
    two. Sequence parallelism sends as much, as all-gathers and reduce-scatters.
    """
    reductions = 6 if recompute else 4
    elements = layers * batch * sequence * width
    return reductions * elements * element_bytes * bus_factor("all_reduce", ranks)


def pipeline_bytes(*, batch: int, sequence: int, width: int, element_bytes: int) -> float:
    """Bytes over one boundary of a pipeline in a step: b s h elements forward, as many backward."""
    return 2 * batch * sequence * width * element_bytes


def buckets(gradient_bytes: float) -> int:
    """How many buckets the gradients fill."""
    return max(1, math.ceil(gradient_bytes / BUCKET_BYTES))


def all_reduce_s(
    payload_bytes: float, ranks: int, *, bytes_per_s: float, latency_s: float = 0.0, buckets: int = 1
) -> float:
    """2 (n - 1)/n G/B + 2 (n - 1) a k: a ring of n ranks, bus bandwidth B, latency a, k buckets."""
    hops = 2 * (ranks - 1)
    return hops / ranks * payload_bytes / bytes_per_s + hops * latency_s * buckets


def data_parallel_step_s(*, alone_s: float, backward_s: float, all_reduce_s: float, buckets: int) -> float:
    """The model t(n) = t_1 + max(0, t_ar - w t_bwd): all but the last bucket may hide, w = 1 - 1/k.

    It is a model and is labelled as one: no contention, no stragglers.
    """
    return alone_s + max(0.0, all_reduce_s - (1 - 1 / buckets) * backward_s)


def data_parallel_speedup(ranks: int, *, alone_s: float, step_s: float) -> float:
    """n t_1 / t(n), at a fixed batch on each rank."""
    return ranks * alone_s / step_s


def hiding_batch(*, all_reduce_s: float, backward_s_per_sample: float, buckets: int) -> float:
    """The batch on each rank from which on the model hides all communication; infinite with one bucket."""
    hidden = (1 - 1 / buckets) * backward_s_per_sample
    return all_reduce_s / hidden if hidden > 0 else math.inf
