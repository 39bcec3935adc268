"""What a rank should have behind it when its window opens: compilation, a growing allocator, rebuilt buckets.

Each is counted by whoever does it; these counters are read between windows, never inside one. cuDNN counts
no autotuning, but every accelerator here keeps it off.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from study.domain.record import CountedEvent

Counts = Mapping[str, int]
Look = Callable[[], Counts]

COMPILATION = "compilation"
MEMORY_GROWTH = "memory growth"
MEMORY_RETRY = "memory retry"
BUCKET_REBUILD = "bucket rebuild"


def look_at(*shelves: Any, runner: Callable[[], Any]) -> Look:
    """A function that reads every counter there is: torch's compiler's, and what `shelves` offer.

    `shelves` are modules (an accelerator, a strategy) with a function `events(runner)`, or without one.
    `runner` gives the model under its strategy, once there is one.
    """
    offered = [shelf.events for shelf in shelves if hasattr(shelf, "events")]

    def look() -> dict[str, int]:
        found = compilations()
        for events in offered:
            found.update(events(runner()))
        return found

    return look


def nothing() -> Counts:
    """No counters: for work that has no events."""
    return {}


def compilations(modules: Mapping[str, Any] = sys.modules) -> dict[str, int]:
    """Frames that torch's compiler has taken up so far, recompiled ones included; nothing if not loaded."""
    utils = modules.get("torch._dynamo.utils")
    if utils is None:
        return {}
    # `counters` makes an entry of whatever it is asked for: only look at what is there.
    return {COMPILATION: int(utils.counters.get("frames", {}).get("total", 0))}


def allocator(stats: Mapping[str, Any]) -> dict[str, int]:
    """Segments that the caching allocator took from the device, and failed attempts at it.

    `stats` are those of `torch.cuda.memory_stats`, empty before the first allocation.
    """
    return {
        MEMORY_GROWTH: int(stats.get("segment.all.allocated", 0)),
        MEMORY_RETRY: int(stats.get("num_alloc_retries", 0)),
    }


def rebuilds(model: Any) -> dict[str, int]:
    """Whether DistributedDataParallel has rebuilt its buckets in the order in which gradients came.

    It does so once, in its second forward pass, and its log tells it from the third on
    (torch/csrc/distributed/c10d/logger.cpp).
    """
    if not hasattr(model, "_get_ddp_logging_data"):
        return {}
    return {BUCKET_REBUILD: int(model._get_ddp_logging_data().get("has_rebuilt_buckets") or 0)}


def happened(before: Counts, after: Counts) -> dict[str, int]:
    """How often each thing happened between two looks; only what happened."""
    return {name: n - before.get(name, 0) for name, n in after.items() if n > before.get(name, 0)}


def counted(begin: Counts, opening: Counts, closing: Counts) -> tuple[CountedEvent, ...]:
    """Everything that happened before the window or in it, by name."""
    before, inside = happened(begin, opening), happened(opening, closing)
    return tuple(
        CountedEvent(name=name, warmup=before.get(name, 0), window=inside.get(name, 0))
        for name in sorted({*before, *inside})
    )
