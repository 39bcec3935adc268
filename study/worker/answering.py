"""An inference job in which each step answers one batch and stands alone."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from study.worker.contracts import Evidence, Note, Place, Window
from study.worker.flops import answering_flops
from study.worker.inference import prepared, require_sound
from study.worker.training import count_parameters


class Answering:
    """Answers the batches of a pool in turn; what is kept is whether each answer was a number."""

    def __init__(
        self, place: Place, model: nn.Module, pool: Sequence[Any], *, work_unit: str, work_per_step: int
    ) -> None:
        """`model` is on the meta device, whole; the pool's floats have the precision already (`DTYPES`)."""
        self.parameters = count_parameters(model)
        model = prepared(model, place.cell.precision)
        self._flops = answering_flops(model, pool[0], samples=place.counted)
        self.runner = place.run(model)
        self.work_unit = work_unit
        self.work_per_step = work_per_step
        self._pool = pool
        self._steps = 0

    def begin(self) -> None:
        """Each step stands alone."""

    def step(self) -> Tensor | None:
        """Whether every logit is finite, still on the device; None if another rank has them."""
        inputs = self._pool[self._steps % len(self._pool)]
        self._steps += 1
        logits = self.runner.infer(inputs)
        return None if logits is None else logits.isfinite().all()

    def evidence(self, first: Note, window: Window) -> Evidence:  # noqa: ARG002 - nothing is learnt from it
        """Nothing but that the answers were numbers.

        Raises:
            Invalid: a step gave a logit that is not finite.
        """
        require_sound(window.notes, "a logit was not finite")
        return Evidence(flops=self._flops)
