"""Matrices split over devices within each block (Shoeybi et al. 2019, Megatron-LM, section 3).

The seams' column-split layers give each rank some of the outputs, and the row-split layers that follow
take them and sum over ranks, so that a block exchanges activations where a pair of layers ends, forward
and backward. Everything else is computed by every rank alike.

With sequence parallelism (Korthikanti et al. 2022, section 4.2.2) the norms and sums between the pairs are
shared too: from the first block to the last each rank holds some positions of the sequence, the sums become
reduce-scatters, and the split layers gather what they take. Sequences need not divide by the ranks.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.distributed.tensor.parallel.style import ParallelStyle

from study.worker.contracts import Invalid, Loss, Place
from study.worker.gradients import GradientSum
from study.worker.mesh import device_mesh
from study.worker.models.seams import Model
from study.worker.parameters import materialise
from study.worker.runners import WholeRunner

SEQUENCE = Shard(1)
"""Activations are (batch, sequence, width) between the split layers of a block."""


def split(model: nn.Module, mesh: DeviceMesh, *, sequence_parallel: bool) -> None:
    """Split the layers that the seams name over a mesh of one axis; parameters need have no values yet.

    Raises:
        Invalid: with `sequence_parallel`, a block has other parameters than those of layer norms.
    """
    seams = cast("Model", model).seams
    for block in seams.blocks:
        part = model.get_submodule(block)
        plan: dict[str, ParallelStyle] = {}
        for name in seams.columns:
            plan[name] = ColwiseParallel(input_layouts=SEQUENCE if sequence_parallel else Replicate())
        for name in seams.rows:
            plan[name] = (
                RowwiseParallel(output_layouts=SEQUENCE, use_local_output=False)
                if sequence_parallel
                else RowwiseParallel()
            )
        if sequence_parallel:
            plan |= {name: SequenceParallel() for name in _norms(part, set(plan))}
        parallelize_module(part, mesh, plan)
    if sequence_parallel:
        _share_sequence(model.get_submodule(seams.blocks[0]), model.get_submodule(seams.blocks[-1]), mesh)


class SplitRunner(WholeRunner):
    """A model split along the axis `tensor`; along an axis `data`, if there is one, stand copies of it.

    Copies sum their gradients once per step, after the backward pass. Plain DistributedDataParallel cannot:
    it does not take parameters that are split (torch 2.13).
    """

    def __init__(
        self, model: nn.Module, place: Place, *, loss: Loss | None, scale: Callable[[Any], Any]
    ) -> None:
        """The option `sequence_parallel` is the cell's."""
        mesh, copies = device_mesh(place), place.cell.mesh.get("data", 1)
        super().__init__(model, model, place, loss=loss, scale=lambda mean: scale(mean / copies))
        split(model, mesh["tensor"], sequence_parallel=bool(place.cell.strategy_options["sequence_parallel"]))
        materialise(model, seed=place.seed, device=place.device)
        self.partners = mesh["tensor"].get_group()
        self._sum: GradientSum | None = None
        if loss is not None and copies > 1:
            held = [parameter for _, parameter in self.named_parameters()]
            self._sum = GradientSum(held, mesh["data"].get_group())

    def train(self, inputs: Any, targets: Any) -> Any:
        mean = super().train(inputs, targets)
        self._finish_partial()
        if self._sum is not None:
            self._sum.add_up()
        return mean

    def _finish_partial(self) -> None:
        """Norms that share the sequence leave gradients that are sums still to be made: all in one message.

        An optimiser would make them too, one by one, and a search for what is not finite would not.
        """
        partial = [p for _, p in self.named_parameters() if _is_partial(p.grad)]
        GradientSum(partial, self.partners).add_up()
        for parameter in partial:
            gradient = cast("DTensor", parameter.grad)
            parameter.grad = DTensor.from_local(
                gradient.to_local(), gradient.device_mesh, [Replicate()], run_check=False
            )

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


def _is_partial(gradient: Any) -> bool:
    return isinstance(gradient, DTensor) and any(at.is_partial() for at in gradient.placements)


def _norms(block: nn.Module, others: set[str]) -> Iterator[str]:
    """The modules with parameters of a block that are not split.

    Raises:
        Invalid: one is no layer norm, so what it does may need the whole sequence.
    """
    for name, module in block.named_modules():
        if name in others or not any(True for _ in module.parameters(recurse=False)):
            continue
        if not isinstance(module, nn.LayerNorm):
            raise Invalid(f"The sequence cannot be shared: {name or 'a block'} is no layer norm.")
        yield name


def _share_sequence(first: nn.Module, last: nn.Module, mesh: DeviceMesh) -> None:
    """Each rank keeps its positions of what the first block takes; what the last one gives is whole again."""

    def cut(_: nn.Module, taken: tuple[Any, ...]) -> tuple[Any, ...]:
        x, *context = taken
        whole = DTensor.from_local(x, mesh, [Replicate()], run_check=False)
        return whole.redistribute(placements=[SEQUENCE]), *context

    def gather(_: nn.Module, __: tuple[Any, ...], given: DTensor) -> Any:
        return given.redistribute(placements=[Replicate()]).to_local()

    first.register_forward_pre_hook(cut)
    last.register_forward_hook(gather)
