"""A pipeline as one rank sees it: its stages of a model, through which micro-batches pass by a schedule.

The schedules are torch's: fill and drain (Huang et al. 2019, GPipe), one forward one backward
(Narayanan et al. 2019, PipeDream; 2021, PipeDream-Flush), and the latter with several stages on each rank
(Narayanan et al. 2021, Megatron-LM, section 2.2). All of them compute the same; they differ in how long
ranks wait and in how many activations they keep.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.pipelining import (
    PipelineStage,
    Schedule1F1B,
    ScheduleGPipe,
    ScheduleInterleaved1F1B,
)

from study.worker.contracts import Invalid, Loss, Place
from study.worker.gradients import GradientSum
from study.worker.mesh import device_mesh, lines
from study.worker.parameters import full_names, materialise
from study.worker.stages import Stage, TiedGradients, Wire, cut


class PipelineRunner:
    """One rank of a pipeline along the axis `stages` (`contracts.Runner`).

    Where the mesh has an axis `data` too, each line of stages is a copy with its own share of the batch, and
    gradients are summed over copies once per step, after the schedule. The last stage's rank has the
    loss of that share, and the answers. Every batch must have the shape of the first.
    """

    def __init__(
        self, model: nn.Module, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]
    ) -> None:
        """The options `schedule`, `micro_batches` and, for interleaved stages, `chunks` are the cell's.

        Raises:
            Invalid: the batch or the schedule does not suit the number of micro-batches.
        """
        cell = place.cell
        options, copies = cell.strategy_options, cell.mesh.get("data", 1)
        word, micro_batches = str(options["schedule"]), int(options["micro_batches"])
        chunks = int(options["chunks"]) if word == "interleaved" else 1
        line = next(line for line in lines(cell.mesh, "stages") if place.rank in line)
        require_schedule(word, len(line), micro_batches, len(place.share))
        mine = range(line.index(place.rank), chunks * len(line), len(line))
        blocks, final = cut(model, chunks * len(line)), chunks * len(line) - 1
        stages = [Stage(model, blocks[n], first=n == 0, last=n == final) for n in mine]
        self._first, self._last = place.rank == line[0], place.rank == line[-1]
        self._parts = [stage.part for stage in stages]
        materialise(*self._parts, seed=place.seed, device=place.device)

        mesh = device_mesh(place)
        group = mesh["stages"].get_group()
        self.partners = group
        self._tied = TiedGradients(self._parts, cell.mesh)
        self._sum: GradientSum | None = None
        if loss is not None and copies > 1:
            held = [parameter for _, parameter in self.named_parameters()]
            self._sum = GradientSum(held, mesh["data"].get_group())
        # From the last stage to the first, for what the next step's input is made of.
        self._around = Wire(line[0] if self._last else line[-1], place.device)

        self._loss, self._scale = loss, scale
        self._micro_batches, self._shares = micro_batches, micro_batches * copies
        self._losses: list[Tensor] = []
        # Weights are held in the precision for inference, and cast on the way for training.
        self._cast = (lambda: place.accelerator.autocast(cell.precision)) if loss else nullcontext
        self._schedule = _schedule(
            word,
            [
                PipelineStage(Casting(stage, self._cast), n, final + 1, place.device, group=group)
                for n, stage in zip(mine, stages, strict=True)
            ],
            micro_batches,
            None if loss is None else self._share_of_loss,
        )

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        # A tied weight may stand in two parts of one rank.
        found = {name: parameter for part in self._parts for name, parameter in full_names(part)}
        yield from found.items()

    def train(self, inputs: Any, targets: Any) -> Any:
        if self._loss is None:
            raise TypeError("a runner that trains is given a loss")
        self._losses.clear()
        # Outputs are not asked for: they would be kept, and put together to one batch, for nothing.
        self._schedule.step(
            *([inputs] if self._first else []), target=targets if self._last else None, return_outputs=False
        )
        self._tied.add_up()
        if self._sum is not None:
            self._sum.add_up()
        # In the first step one more loss comes before these: of the pass in which torch learns shapes.
        return torch.stack(self._losses[-self._micro_batches :]).mean() if self._last else None

    @torch.no_grad()
    def infer(self, inputs: Any, *context: Any) -> Any:
        if context:
            raise TypeError("micro-batches have no cache")
        return self._schedule.step(*([inputs] if self._first else []))

    def hand_back(self, answer: Any, like: Any) -> Any:
        """The last stage's answer, sent to the first of its line; the stages between do not need it."""
        kind = tuple(like.shape)
        if self._first and not self._last:
            return self._around.receive(kind)
        if self._last and not self._first:
            self._around.send(answer, kind)
        return answer

    def unsynchronised(self) -> AbstractContextManager[Any] | None:
        """Copies that do not sum their gradients; None where there is one copy."""
        return None if self._sum is None else self._apart(self._sum)

    @contextmanager
    def _apart(self, gradients: GradientSum) -> Iterator[None]:
        self._sum = None
        try:
            yield
        finally:
            self._sum = gradients

    def _share_of_loss(self, outputs: Tensor, targets: Tensor) -> Any:
        """What the backward pass of one micro-batch starts from: its part in the mean of the global batch."""
        if self._loss is None:
            raise TypeError("a runner that trains is given a loss")
        with self._cast():
            loss = self._loss(outputs, targets)
        self._losses.append(loss.detach())
        return self._scale(loss / self._shares)


class Casting(nn.Module):
    """A stage in the precision of its cell; torch's first call, made to learn shapes, leaves no trace in it.

    That call is given memory that nothing was written to, which must not reach the statistics of BatchNorm.
    """

    def __init__(self, stage: nn.Module, cast: Callable[[], AbstractContextManager[Any]]) -> None:
        super().__init__()
        self.stage = stage
        self._cast = cast
        self._called = False

    def forward(self, x: Any) -> Any:
        with self._cast():
            if self._called:
                return self.stage(x)
            self._called = True
            buffers = {name: buffer.clone() for name, buffer in self.stage.named_buffers()}
            return torch.func.functional_call(self.stage, buffers, (x,))


def require_schedule(word: str, stages: int, micro_batches: int, batch: int) -> None:
    """Refuse what a schedule of so many ranks cannot do with a batch.

    Raises:
        Invalid: the batch cannot be cut so, or the schedule needs more micro-batches, or full rounds.
    """
    if batch % micro_batches:
        raise Invalid(f"A batch of {batch} cannot be cut into {micro_batches} equal micro-batches.")
    if word == "1f1b" and micro_batches < stages:
        raise Invalid(f"1F1B with {stages} stages needs as many micro-batches, not {micro_batches}.")
    rounds = max(1, micro_batches // stages)
    if word == "interleaved" and micro_batches % rounds:
        raise Invalid(
            f"Interleaved stages on {stages} ranks take {rounds} rounds of equal length, "
            f"and {micro_batches} micro-batches do not divide by {rounds}."
        )


def _schedule(
    word: str, stages: Sequence[PipelineStage], micro_batches: int, loss: Callable[[Any, Any], Any] | None
) -> Any:
    """torch's schedule of that name. Without a backward pass 1F1B is fill and drain."""
    # The loss is a micro-batch's share already, so that gradients need no division afterwards.
    if word == "interleaved":
        return ScheduleInterleaved1F1B(list(stages), micro_batches, loss_fn=loss, scale_grads=False)
    kind = Schedule1F1B if word == "1f1b" and loss is not None else ScheduleGPipe
    return kind(stages[0], micro_batches, loss_fn=loss, scale_grads=False)
