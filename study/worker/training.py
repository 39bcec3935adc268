"""A training job: forward, loss, backward and optimiser step on batches that lie on the device."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from study.worker.contracts import Evidence, Invalid, Note, Place, Window

Batch = tuple[Tensor, Tensor]


class Training:
    """Training a model that already stands under its strategy; each step's loss stays on the device."""

    def __init__(
        self,
        place: Place,
        model: nn.Module,
        pool: Sequence[Batch],
        loss: Callable[[Tensor, Tensor], Tensor],
        optimiser: torch.optim.Optimizer,
        *,
        parameters: int,
        work_unit: str,
        work_per_step: int,
    ) -> None:
        """`parameters` counts the whole model, however the strategy spreads it."""
        self.model = model
        self.parameters = parameters
        self.work_unit = work_unit
        self.work_per_step = work_per_step
        self._pool = pool
        self._loss = loss
        self._optimiser = optimiser
        self._autocast = place.accelerator.autocast
        self._precision = place.cell.precision
        # fp16 gradients underflow without a scaled loss; any other precision passes through unscaled.
        self._scaler = torch.amp.GradScaler(place.device.type, enabled=self._precision == "fp16")
        self._steps = 0

    def begin(self) -> None:
        """Training goes on from window to window."""

    def step(self) -> Note:
        inputs, targets = self._pool[self._steps % len(self._pool)]
        self._steps += 1
        self._optimiser.zero_grad()
        with self._autocast(self._precision):
            loss = self._loss(self.model(inputs), targets)
        self._scaler.scale(loss).backward()
        self._scaler.step(self._optimiser)
        self._scaler.update()
        return loss.detach()

    def evidence(self, first: Note, window: Window) -> Evidence:
        """The losses, read from the device at once.

        Raises:
            Invalid: a loss is not finite, or the losses did not fall.
        """
        first_loss, *losses = torch.stack([first, *window.notes]).double().tolist()
        require_falling(first_loss, losses)
        return Evidence(loss_first=first_loss, loss=tuple(losses))


def require_falling(first: float, losses: Sequence[float]) -> None:
    """Refuse losses that are not finite, or whose last quarter's mean is not below the first.

    Raises:
        Invalid: with the number that is wrong.
    """
    for where, loss in (
        ("the first step", first),
        *((f"window step {i}", x) for i, x in enumerate(losses, 1)),
    ):
        if not math.isfinite(loss):
            raise Invalid(f"The loss of {where} is {loss}, so this is not training that anyone would run.")
    last = losses[-max(1, len(losses) // 4) :]
    mean = sum(last) / len(last)
    if mean >= first:
        raise Invalid(
            f"The loss did not fall: the mean of the window's last {len(last)} steps is {mean:.6g}, "
            f"the first warm-up step's was {first:.6g}."
        )


def count_parameters(model: Any) -> int:
    """Parameters of an unwrapped model; a weight that two modules share counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
