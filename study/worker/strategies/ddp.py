"""The strategy `ddp`: every device holds the whole model and an equal share of the batch.

Training synchronises gradients through DistributedDataParallel, which averages them over ranks; with
equal shares and a mean loss that is the gradient of the whole batch (BatchNorm excepted: each rank
normalises by the statistics of its own share). Inference and checks need no synchronisation: the
ranks are independent replicas that start together.
"""

from typing import Any

from study.worker.contracts import Invalid
from study.worker.events import rebuilds

FACTS = {
    "summary": "Data parallel: in training DistributedDataParallel, otherwise independent replicas; "
    "each device takes an equal share of the batch.",
    "tasks": ("train", "infer", "check"),
    "min_devices": 1,
    "max_devices": None,
    "copies": True,
    "startup_s": 0.1,
}

JOINS_GROUP = True


def share(batch: int, rank: int, world_size: int) -> range:
    """An equal, contiguous share of the batch.

    Raises:
        Invalid: the batch does not divide by the ranks.
    """
    if batch % world_size:
        raise Invalid(f"A batch of {batch} cannot be shared equally by {world_size} ranks.")
    each = batch // world_size
    return range(rank * each, (rank + 1) * each)


def apply(model: Any, *, training: bool, device: Any) -> Any:
    """The model wrapped for training, or as it is for inference."""
    if not training:
        return model
    from torch.nn.parallel import DistributedDataParallel

    return DistributedDataParallel(model, device_ids=None if device.type == "cpu" else [device.index])


def events(model: Any) -> dict[str, int]:
    """The rebuilding of the buckets, by which gradients are sent in the order in which they come."""
    return rebuilds(model)
