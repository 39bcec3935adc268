"""The workload `allreduce`: the sum over all devices that data-parallel training waits for, and nothing else.

Each device brings a message and has the sum of all messages afterwards. What the links carried is the bus
bandwidth, 2 (n - 1)/n × bytes / time (nccl-tests, PERFORMANCE.md); `25mb` is the bucket in which
DistributedDataParallel sends gradients. Below about 16 MiB it is a latency that is measured.
"""

import torch
import torch.distributed as dist

from study.worker.contracts import Evidence, Flops, Invalid, Job, Note, Place, Window
from study.worker.inference import DTYPES

FACTS = {
    "summary": "Sums over all devices by message size: what links carry, which checks the exchange.",
    # One message of every device makes one sum: a batch of 4 on 2 devices is 2 sums a step.
    "tasks": {"check": {"unit": "messages"}},
    "sizes": {
        "1mb": {"bytes": 1_048_576},
        "25mb": {"bytes": 26_214_400},
        "64mb": {"bytes": 67_108_864},
        "256mb": {"bytes": 268_435_456},
    },
    "precisions": ("fp32", "bf16", "fp16"),
    "seams": {"copies": ""},
}

PERIOD = 7
"""Messages repeat these many small whole numbers, whose sums are exact at every precision."""


def build(place: Place) -> Job:
    """The job of one rank.

    Raises:
        Invalid: there is nobody to exchange with.
    """
    if place.world_size < 2:
        raise Invalid("A sum over devices needs two of them: ask for the strategy ddp on 2 devices or more.")
    return Summing(place)


class Summing:
    """One step sums one message over all ranks for every sample of this rank's share."""

    work_unit = "messages"
    parameters = None

    def __init__(self, place: Place) -> None:
        """A message holds whole elements of the precision."""
        self.work_per_step = place.counted
        self._times = len(place.share)
        self._rank, self._ranks = place.rank, place.world_size
        dtype = DTYPES.get(place.cell.precision, torch.float32)
        length = FACTS["sizes"][place.cell.size]["bytes"] // dtype.itemsize  # type: ignore[index]
        self._pattern = (torch.arange(length, device=place.device) % PERIOD).to(dtype)
        self.message = torch.empty_like(self._pattern)

    def begin(self) -> None:
        """Every window sums fresh messages; rank r brings the pattern and r."""
        torch.add(self._pattern, self._rank, out=self.message)

    def step(self) -> None:
        """Sums what the last step summed: a fresh message would be a copy that is not the exchange."""
        for _ in range(self._times):
            dist.all_reduce(self.message)

    def evidence(self, first: Note, window: Window) -> Evidence:  # noqa: ARG002 - no step leaves a note
        """Nothing but that the exchange sums: a fresh message is summed once more and every element compared.

        After many sums the window's own message has overflowed, so it cannot tell.

        Raises:
            Invalid: an element is not the sum.
        """
        self.begin()
        dist.all_reduce(self.message)
        expected = self._ranks * self._pattern + self._ranks * (self._ranks - 1) // 2
        wrong = int((self.message != expected).sum())
        if wrong:
            raise Invalid(f"{wrong} of {len(expected)} elements are not the sum over {self._ranks} devices.")
        return Evidence(flops=Flops(reason="nothing is multiplied"))
