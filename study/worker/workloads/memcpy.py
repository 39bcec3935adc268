"""The workload `memcpy`: copies within a device's memory, whose bandwidth limits decoding.

A copy reads and writes every byte, so a buffer of b bytes is 2 b bytes of traffic. A buffer that fits the
device's cache measures the cache: `1gb` is larger than any.
"""

import torch

from study.worker.contracts import Evidence, Flops, Invalid, Job, Note, Place, Window

FACTS = {
    "summary": "Copies within a device's memory: the ceiling of bandwidth, which checks a device.",
    "tasks": {"check": {"unit": "bytes"}},
    "sizes": {
        "1mb": {"bytes": 1_048_576},
        "64mb": {"bytes": 67_108_864},
        "1gb": {"bytes": 1_073_741_824},
    },
    "precisions": ("fp32",),
    "seams": {"copies": ""},
}


def build(place: Place) -> Job:
    """The job of one rank."""
    return Copying(place)


class Copying:
    """One step copies a buffer once for every sample of this rank's share; work is bytes read and written."""

    work_unit = "bytes"
    parameters = None

    def __init__(self, place: Place) -> None:
        """The buffer holds bytes drawn from the seed."""
        size = int(FACTS["sizes"][place.cell.size]["bytes"])  # type: ignore[index]
        self.work_per_step = 2 * size * place.counted
        self._times = len(place.share)
        generator = torch.Generator(place.device).manual_seed(place.seed)
        self._source = torch.randint(
            256, (size,), dtype=torch.uint8, generator=generator, device=place.device
        )
        self.copy = torch.zeros_like(self._source)

    def begin(self) -> None:
        """A window must make its own copy."""
        self.copy.zero_()

    def step(self) -> None:
        for _ in range(self._times):
            self.copy.copy_(self._source)

    def evidence(self, first: Note, window: Window) -> Evidence:  # noqa: ARG002 - no step leaves a note
        """Nothing but that the copy is one.

        Raises:
            Invalid: a byte differs.
        """
        wrong = int((self.copy != self._source).sum())
        if wrong:
            raise Invalid(f"{wrong} of {len(self.copy)} bytes of the copy differ from the original.")
        return Evidence(flops=Flops(reason="nothing is multiplied"))
