"""The workload `gemm`: products of square matrices, the most arithmetic that a device can be given.

Its best rate is the measured ceiling that a model's utilisation is held against. A product of n × n matrices
is exactly 2 n³ operations, over 3 n² elements: at n = 8192 arithmetic alone limits it. With strategy `ddp`
every device multiplies at once, which shows whether they share power or a host.
"""

import torch
from torch import Tensor

from study.worker.contracts import Evidence, Flops, Invalid, Job, Note, Place, Window
from study.worker.inference import DTYPES

FACTS = {
    "summary": "Products of square matrices: the ceiling of arithmetic, which checks a device.",
    "tasks": {"check": {"unit": "multiplications"}},
    "sizes": {"small": {"n": 512}, "medium": {"n": 4096}, "large": {"n": 8192}},
    "precisions": ("fp32", "tf32", "bf16", "fp16"),
    "seams": {"copies": ""},
}

TOLERANCES = {"fp32": 1e-4, "tf32": 1e-2, "bf16": 1e-2, "fp16": 1e-2}
"""Greatest error allowed, as a share of the row's largest element: five times the rounding of one element
in bf16 (2⁻⁹), and for fp32 less than the rounding of tf32 would leave."""


def build(place: Place) -> Job:
    """The job of one rank."""
    return Multiplying(place)


class Multiplying:
    """One step multiplies the same two matrices once for every sample of this rank's share."""

    work_unit = "multiplications"
    parameters = None

    def __init__(self, place: Place) -> None:
        """Elements are normally distributed, the same on every rank."""
        self.n = int(FACTS["sizes"][place.cell.size]["n"])  # type: ignore[index]
        self.work_per_step = place.counted
        self._times = len(place.share)
        self._precision = place.cell.precision
        dtype = DTYPES.get(self._precision, torch.float32)
        generator = torch.Generator(place.device).manual_seed(place.seed)
        shape = (self.n, self.n)
        self._a = torch.randn(shape, generator=generator, device=place.device).to(dtype)
        self._b = torch.randn(shape, generator=generator, device=place.device).to(dtype)
        self.product = torch.zeros_like(self._a)

    def begin(self) -> None:
        """A window must make its own product."""
        self.product.zero_()

    @torch.no_grad()
    def step(self) -> None:
        for _ in range(self._times):
            torch.matmul(self._a, self._b, out=self.product)

    def evidence(self, first: Note, window: Window) -> Evidence:  # noqa: ARG002 - no step leaves a note
        """The operations, once the product's first and last row are right.

        Raises:
            Invalid: a row is not what double precision gives.
        """
        for row in (0, self.n - 1):
            error = relative_error(self.product[row], self._a[row].double() @ self._b.double())
            # Written so that an error that is no number is refused too.
            if not error <= TOLERANCES[self._precision]:
                raise Invalid(
                    f"Row {row} of the product is wrong by {error:.2g} of its largest element, and "
                    f"{TOLERANCES[self._precision]:g} is allowed at {self._precision}."
                )
        return Evidence(flops=Flops(per_step=self.work_per_step * 2 * self.n**3))


def relative_error(found: Tensor, exact: Tensor) -> float:
    """The greatest difference, as a share of the largest exact element."""
    return float((found.double() - exact).abs().max() / exact.abs().max())
