"""The strategy `ddp`: every device holds the whole model and an equal share of the batch.

Training synchronises gradients through DistributedDataParallel, which averages them over ranks; with
equal shares and a mean loss that is the gradient of the whole batch (BatchNorm excepted: each rank
normalises by the statistics of its own share). Inference and checks need no synchronisation: the
ranks are independent replicas that start together.
"""

from collections.abc import Callable, Mapping
from typing import Any

from study.worker.contracts import Loss, Place, Runner
from study.worker.events import rebuilds
from study.worker.mesh import equal_share

FACTS = {
    "summary": "Data parallel: in training DistributedDataParallel, otherwise independent replicas; "
    "each device takes an equal share of the batch.",
    "tasks": ("train", "infer", "check"),
    "min_devices": 1,
    "max_devices": None,
    "startup_s": 0.1,
    "axes": ("data",),
    "needs": ("copies",),
    "offers": ("cache",),
    "shares_batch": ("data",),
}

JOINS_GROUP = True


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:
    """An equal, contiguous share of the batch.

    Raises:
        Invalid: the batch does not divide by the ranks.
    """
    return equal_share(batch, rank, mesh["data"])


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:
    """The samples of its share."""
    return len(share(batch, rank, mesh))


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The model wrapped for training, or as it is for inference."""
    from torch.nn.parallel import DistributedDataParallel

    from study.worker.parameters import materialise
    from study.worker.runners import WholeRunner

    materialise(model, seed=place.seed, device=place.device)
    if loss is None:
        return WholeRunner(model, model, place, loss=None, scale=scale)
    device_ids = None if place.device.type == "cpu" else [place.device.index]
    wrapped = DistributedDataParallel(model, device_ids=device_ids)
    return WholeRunner(wrapped, model, place, loss=loss, scale=scale, unsynchronised=wrapped.no_sync)


def events(runner: Any) -> dict[str, int]:
    """The rebuilding of the buckets, by which gradients are sent in the order in which they come."""
    return rebuilds(getattr(runner, "module", None))
