"""Parameters, gradients and optimiser state cut over devices (FSDP2), each block whole only while it runs.

torch's `fully_shard` gathers a block's parameters before its forward and its backward pass, and afterwards
reduces its gradients to the mean, of which each rank keeps its own shard (Zhao et al. 2023; Rajbhandari et
al. 2020, ZeRO stage 3). Blocks are the model's seams; what is outside them is one unit more, and a model
that names no blocks is one unit altogether.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, Replicate

from study.worker.contracts import Loss, Place
from study.worker.models.seams import Model
from study.worker.parameters import materialise
from study.worker.runners import WholeRunner


class ShardedRunner(WholeRunner):
    """A model cut over the last axis of a mesh; along a first axis, if there is one, stand copies of it.

    Without synchronisation only the reduction of gradients is left out: parameters are gathered as ever.
    Each rank then keeps its shard of its own gradient, so that the optimiser has as much to do.
    """

    def __init__(
        self,
        model: nn.Module,
        place: Place,
        mesh: DeviceMesh,
        *,
        loss: Loss | None,
        scale: Callable[[Any], Any],
    ) -> None:
        """The option `reshard` is the cell's: whether a block's parameters are let go after its forward pass
        and gathered once more for the backward pass. Where nothing is trained and they are not let go, they
        are gathered once and for all."""
        super().__init__(model, model, place, loss=loss, scale=scale)
        # torch warns that what a unit gives may not be changed in place; nothing here does that to it.
        warnings.filterwarnings("ignore", message=r"FSDP2-wrapped module .* returned a view tensor")
        reshard = bool(place.cell.strategy_options["reshard"])
        for block in cast("Model", model).seams.blocks:
            fully_shard(model.get_submodule(block), mesh=mesh, reshard_after_forward=reshard)
        # What is outside the blocks is needed again at once when a backward pass follows.
        fully_shard(model, mesh=mesh, reshard_after_forward=reshard and loss is None)
        materialise(model, seed=place.seed, device=place.device)
        self._units = [module for module in model.modules() if isinstance(module, FSDPModule)]
        self._shard, self._shards = mesh.get_local_rank(mesh.ndim - 1), mesh.size(mesh.ndim - 1)
        self._trains = loss is not None
        self._synchronised = True

    def train(self, inputs: Any, targets: Any) -> Any:
        mean = super().train(inputs, targets)
        if not self._synchronised:
            self._keep_own()
        return mean

    def unsynchronised(self) -> AbstractContextManager[Any] | None:
        return self._apart() if self._trains else None

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Gradients stay where they are made: with the whole parameters, which must not be let go first."""
        self._tell(synchronised=False)
        try:
            yield
        finally:
            self._tell(synchronised=True)

    def _tell(self, *, synchronised: bool) -> None:
        self._synchronised = synchronised
        root = self._units[0]
        root.set_requires_gradient_sync(synchronised)
        root.set_reshard_after_backward(synchronised)

    def _keep_own(self) -> None:
        """Let the whole parameters go; each shard has its part of the gradient that they had."""
        made = []
        for module in self._part.modules():
            for key, parameter in module._parameters.items():
                if parameter is not None and parameter.grad is not None:
                    made.append((module, key, parameter.grad))
                    parameter.grad = None
        for unit in self._units:
            unit.reshard()
        for module, key, gradient in made:
            shard = cast("DTensor", module._parameters[key])
            shard.grad = self._own_part(gradient, shard)

    def _own_part(self, gradient: torch.Tensor, shard: DTensor) -> DTensor:
        """This rank's part of a gradient, which is whole or, under tensor parallelism, split already."""
        whole = gradient
        if isinstance(gradient, DTensor):
            # Of norms that share the sequence it is still to be summed, as torch's reduction would do.
            at = [Replicate() if place.is_partial() else place for place in gradient.placements]
            whole = gradient.redistribute(placements=at).to_local()
        parts = whole.chunk(self._shards)
        mine = parts[self._shard] if self._shard < len(parts) else whole[:0]
        return DTensor.from_local(
            mine.clone(),
            shard.device_mesh,
            shard.placements,
            run_check=False,
            shape=shard.shape,
            stride=shard.stride(),
        )
