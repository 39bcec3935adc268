"""The strategy `single`: one device, the plain model, no process group. The base of every comparison."""

from typing import Any

from study.worker.contracts import Invalid

FACTS = {
    "summary": "One device and the plain model: no process group, no wrapper.",
    "tasks": ("train", "infer", "check"),
    "min_devices": 1,
    "max_devices": 1,
    "copies": True,
    "startup_s": 0.0,
}

JOINS_GROUP = False


def share(batch: int, rank: int, world_size: int) -> range:
    """The whole batch.

    Raises:
        Invalid: there is more than one rank.
    """
    if (rank, world_size) != (0, 1):
        raise Invalid(f"The strategy single runs on one device, and {world_size} were ordered.")
    return range(batch)


def apply(model: Any, *, training: bool, device: Any) -> Any:  # noqa: ARG001 - the shelf's contract
    """The model as it is."""
    return model
