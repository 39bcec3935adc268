"""A strategy that is wrong on purpose: every rank works on the first share of the batch."""

from collections.abc import Mapping

from study.worker.strategies import ddp

FACTS = {
    "summary": "Data parallel whose ranks all take the same share.",
    "tasks": ("train",),
    "min_devices": 2,
    "max_devices": None,
    "startup_s": 0.1,
    "axes": ("data",),
    "needs": ("copies",),
    "shares_batch": ("data",),
}

JOINS_GROUP = True

counted, apply = ddp.counted, ddp.apply


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:
    """The first share, whatever the rank."""
    return ddp.share(batch, 0, mesh)
