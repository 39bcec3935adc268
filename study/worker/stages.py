"""A model cut into stages along its blocks, for strategies that put layers on different devices."""

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn

from study.worker.contracts import Invalid
from study.worker.mesh import lines
from study.worker.models.seams import Model


class Stage(nn.Module):
    """Some successive blocks of a model, with its beginning if it is the first and its end if the last.

    `part` is the model with everything else taken out, so that names stay what they are. Its blocks are
    the model's own, so that no two stages of one model may hold the same.
    """

    def __init__(self, model: nn.Module, blocks: Sequence[str], *, first: bool, last: bool) -> None:
        super().__init__()
        seams = cast("Model", model).seams
        self.first, self.last, self.blocks = first, last, tuple(blocks)
        kept = {*blocks, *(seams.before if first else ()), *(seams.after if last else ())}
        self.part = _without(model, {*seams.before, *seams.blocks, *seams.after} - kept)

    def forward(self, x: Any, *context: Any) -> Any:
        """The model's input, or what the stage before gave, to what the next one takes, or the output."""
        model = cast("Model", self.part)
        if self.first:
            x = model.enter(x, *context)
        for block in self.blocks:
            x = self.part.get_submodule(block)(x, *context)
        return model.leave(x, *context) if self.last else x


def cut(model: nn.Module, stages: int) -> list[tuple[str, ...]]:
    """The blocks of each of so many stages, in order; their numbers differ by one at most.

    Raises:
        Invalid: there are fewer blocks than stages.
    """
    blocks = cast("Model", model).seams.blocks
    if stages > len(blocks):
        raise Invalid(f"{len(blocks)} blocks cannot be cut into {stages} stages.")
    edges = [len(blocks) * i // stages for i in range(stages + 1)]
    return [blocks[start:end] for start, end in pairwise(edges)]


class TiedGradients:
    """Sums the gradients of a weight of which the first and the last stage hold a copy each."""

    def __init__(self, parts: Sequence[nn.Module], mesh: Mapping[str, int], axis: str = "stages") -> None:
        """`parts` are what this rank holds of the model. Every rank of the mesh must come here."""
        tied = cast("Model", parts[0]).seams.tied
        self._group: Any = None
        self._copies: list[nn.Parameter] = []
        if not tied or mesh[axis] == 1:
            return
        ends = [[line[0], line[-1]] for line in lines(mesh, axis)]
        self._group, _ = dist.new_subgroups_by_enumeration(ends)
        held = {
            id(parameter): parameter
            for part in parts
            for path, module in part.named_modules()
            if path in tied
            for parameter in [module._parameters.get("weight")]
            if parameter is not None
        }
        self._copies = list(held.values())

    def add_up(self) -> None:
        """After the backward pass of a step: both copies have the gradient of both uses."""
        for parameter in self._copies:
            dist.all_reduce(cast("Tensor", parameter.grad), group=self._group)


class Wire:
    """Sends tensors to another rank and receives them, shape and type told once for each kind of input."""

    def __init__(self, peer: int, device: torch.device) -> None:
        """`peer` is a rank of the whole world."""
        self._peer = peer
        self._device = device
        self._known: dict[Any, tuple[torch.Size, torch.dtype]] = {}

    def send(self, tensor: Tensor, kind: Any) -> None:
        """`kind` tells both ends apart inputs that give tensors of different shapes."""
        if kind not in self._known:
            self._known[kind] = (tensor.shape, tensor.dtype)
            dist.send_object_list([(tensor.shape, tensor.dtype)], self._peer, device=self._device)
        dist.send(tensor.contiguous(), self._peer)

    def receive(self, kind: Any) -> Tensor:
        """The tensor that the peer sent for this kind of input."""
        if kind not in self._known:
            told: list[Any] = [None]
            dist.recv_object_list(told, self._peer, device=self._device)
            self._known[kind] = told[0]
        shape, dtype = self._known[kind]
        tensor = torch.empty(shape, dtype=dtype, device=self._device)
        dist.recv(tensor, self._peer)
        return tensor


def _without(model: nn.Module, names: set[str]) -> nn.Module:
    """A copy of the tree of modules, not of their parameters, in which these have nothing to hold."""
    part = _copy_of(model)
    for name in names:
        owner = part
        *path, last = name.split(".")
        for step in path:
            # Copied anew for each name: a copy of a copy is the same tree.
            owner._modules[step] = _copy_of(cast("nn.Module", owner._modules[step]))
            owner = cast("nn.Module", owner._modules[step])
        if last in owner._parameters:
            owner._parameters[last] = None
        else:
            owner._modules[last] = nn.Identity()
    return part


def _copy_of(module: nn.Module) -> nn.Module:
    twin = copy.copy(module)
    for kind in ("_modules", "_parameters", "_buffers"):
        twin.__dict__[kind] = dict(module.__dict__[kind])
    return twin
