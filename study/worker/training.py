"""A training job: forward and backward under the strategy, then the optimiser, on batches that lie ready."""

import math
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from study.worker.contracts import Evidence, Invalid, Note, Place, Window
from study.worker.flops import training_flops

Batch = tuple[Tensor | tuple[Tensor, Tensor], Tensor]


class Training:
    """Training a model under the strategy of its place; each step's loss stays on the device."""

    def __init__(
        self,
        place: Place,
        model: nn.Module,
        pool: Sequence[Batch],
        loss: Callable[[Tensor, Tensor], Tensor],
        optimiser: Callable[[Any], torch.optim.Optimizer],
        *,
        work_unit: str,
        work_per_step: int,
    ) -> None:
        """`model` is on the meta device, whole; `loss` is a mean over samples; `optimiser` takes groups of
        parameters."""
        self.parameters = count_parameters(model)
        self.work_unit = work_unit
        self.work_per_step = work_per_step
        self._pool = pool
        self._flops = training_flops(model, pool[0], loss, samples=place.counted)
        # fp16 gradients underflow without a scaled loss; any other precision passes through unscaled.
        self._scaler = Scaler(place.device.type, enabled=place.cell.precision == "fp16")
        self.runner = place.run(model, loss=loss, scale=self._scaler.scale)
        self._scaler.partners = self.runner.partners
        parameters = (parameter for _, parameter in self.runner.named_parameters())
        self._optimiser = (place.optimiser or optimiser)(parameter_groups(parameters))
        self._steps = 0

    def begin(self) -> None:
        """Training goes on from window to window."""

    def step(self) -> Note:
        inputs, targets = self._pool[self._steps % len(self._pool)]
        self._steps += 1
        self._optimiser.zero_grad()
        loss = self.runner.train(inputs, targets)
        self._scaler.step(self._optimiser)
        self._scaler.update()
        return loss

    def evidence(self, first: Note, window: Window) -> Evidence:
        """The losses, read from the device at once; none on a rank that has no loss.

        Raises:
            Invalid: a loss is not finite, or the losses did not fall.
        """
        if first is None:
            return Evidence(no_loss="another rank has the loss", flops=self._flops)
        first_loss, *losses = torch.stack([first, *window.notes]).double().tolist()
        require_falling(first_loss, losses)
        return Evidence(loss_first=first_loss, loss=tuple(losses), flops=self._flops)


class Scaler(torch.amp.GradScaler):
    """Scales the loss, and skips a step on every rank if a gradient overflowed on one.

    Ranks that hold copies see the same gradients, and DTensor tells its own ranks; stages do not, nor do
    plain tensors beside DTensors.
    """

    def __init__(self, device: str, *, enabled: bool, init_scale: float = 2.0**16) -> None:
        super().__init__(device, init_scale, enabled=enabled)
        self.partners: Any = None
        # Its factor is made when it first scales a loss, and a stage without a loss never scales one.
        self.scale(torch.zeros((), device=device))

    def _unscale_grads_(self, optimizer: Any, *args: Any) -> dict[torch.device, Tensor]:
        """torch's own, which says by device whether a gradient was not finite; then the partners' word.

        torch's takes plain tensors and shards in one operation, which fails: it gets one group at a time.
        """
        found: dict[torch.device, Tensor] = {}
        for group in optimizer.param_groups:
            of_group = super()._unscale_grads_(cast("Any", SimpleNamespace(param_groups=[group])), *args)
            for device, overflowed in of_group.items():
                found[device] = torch.maximum(found[device], overflowed) if device in found else overflowed
        if self.partners is not None:
            for overflowed in found.values():
                dist.all_reduce(overflowed, op=dist.ReduceOp.MAX, group=self.partners)
        return found


def parameter_groups(parameters: Iterable[Tensor]) -> list[dict[str, Any]]:
    """Groups for an optimiser, each of one kind: one fused operation does not take plain tensors and
    shards, or shards over different meshes, together."""
    kinds: dict[Any, list[Tensor]] = {}
    for parameter in parameters:
        kind = parameter.device_mesh if isinstance(parameter, DTensor) else None
        kinds.setdefault(kind, []).append(parameter)
    return [{"params": together} for together in kinds.values()]


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
