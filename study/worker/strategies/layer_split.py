"""The strategy `layer-split`: layers on different devices, the batch passing through them as a whole.

The plainest model parallelism: a model that is too large for one device is cut into stages, activations
are sent forward and their gradients back. One batch at a time means that one device works while all
others wait, so speed cannot grow with devices; what grows is the model that fits. Huang et al. 2019
(GPipe, figure 2b) draw it as what a pipeline with micro-batches improves on.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, cast

from study.worker.contracts import Loss, Place, Runner

FACTS = {
    "summary": "Layers on different devices, one batch at a time: what grows is the model that fits.",
    "tasks": ("train", "infer"),
    "min_devices": 1,
    "max_devices": None,
    "startup_s": 0.1,
    "axes": ("stages",),
    "needs": ("blocks",),
    "offers": ("cache",),
}

JOINS_GROUP = True


def share(batch: int, rank: int, mesh: Mapping[str, int]) -> range:  # noqa: ARG001 - the shelf's contract
    """The whole batch: the first stage needs the inputs, the last one the targets."""
    return range(batch)


def counted(batch: int, rank: int, mesh: Mapping[str, int]) -> int:
    """The last stage has the result, so it counts the work."""
    return batch if rank == mesh["stages"] - 1 else 0


def stage_blocks(model: Any, rank: int, mesh: Mapping[str, int]) -> tuple[str, ...]:
    """The blocks that a rank holds."""
    from study.worker.stages import cut

    return cut(model, mesh["stages"])[rank]


def apply(model: Any, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]) -> Runner:
    """The stage of this rank, and its wires to the stages before and after it."""
    return StageRunner(model, stage_blocks(model, place.rank, place.cell.mesh), place, loss=loss, scale=scale)


class StageRunner:
    """One stage; passes on what it makes and waits for what it needs."""

    def __init__(
        self,
        model: Any,
        blocks: tuple[str, ...],
        place: Place,
        *,
        loss: Loss | None,
        scale: Callable[[Any], Any],
    ) -> None:
        """`blocks` are those of this rank's stage."""
        import torch.distributed as dist

        from study.worker.parameters import materialise
        from study.worker.stages import Stage, TiedGradients, Wire

        rank, final = place.rank, place.cell.mesh["stages"] - 1
        self._first, self._last = rank == 0, rank == final
        self._stage = Stage(model, blocks, first=self._first, last=self._last)
        materialise(self._stage.part, seed=place.seed, device=place.device)
        self._tied = TiedGradients([self._stage.part], place.cell.mesh)
        self._before = Wire(rank - 1, place.device)
        self._after = Wire(rank + 1, place.device)
        # From the last stage to the first, for the token that decoding goes on with.
        self._around = Wire(0 if self._last else final, place.device)
        self._loss = loss
        self._scale = scale
        self._autocast = place.accelerator.autocast
        self._precision = place.cell.precision
        self.partners = dist.group.WORLD

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        from study.worker.parameters import full_names

        return full_names(self._stage.part)

    def train(self, inputs: Any, targets: Any) -> Any:
        if self._loss is None:
            raise TypeError("a runner that trains is given a loss")
        kind = tuple(inputs.shape)
        x = inputs if self._first else self._before.receive(kind).requires_grad_()
        with self._autocast(self._precision):
            y = self._stage(x)
            loss = self._loss(y, targets) if self._last else None
        if loss is not None:
            self._scale(loss).backward()
        else:
            self._after.send(y.detach(), kind)
            y.backward(self._after.receive(("gradient", kind)))
        if not self._first:
            self._before.send(cast("Any", x.grad), ("gradient", kind))
        self._tied.add_up()
        return None if loss is None else loss.detach()

    def infer(self, inputs: Any, *context: Any) -> Any:
        import torch

        kind = ("infer", tuple(inputs.shape))
        with torch.no_grad():
            y = self._stage(inputs if self._first else self._before.receive(kind), *context)
        if self._last:
            return y
        self._after.send(y, kind)
        return None

    def hand_back(self, answer: Any, like: Any) -> Any:
        """The last stage's answer, sent to the first; the stages between do not need it."""
        kind = ("answer", tuple(like.shape))
        if self._first and not self._last:
            return self._around.receive(kind)
        if self._last and not self._first:
            self._around.send(answer, kind)
        return answer

    def unsynchronised(self) -> AbstractContextManager[Any] | None:
        """None: nothing is exchanged that a step could do without."""
        return None
