"""Giving a model its values: each parameter is drawn whole from its own generator, and this rank's part kept.

A model is made on the meta device, without memory. A strategy takes the part that a rank holds: all of
it, a stage, or shards (DTensor). Then each parameter is drawn from the seed and its full name alone, so
every rank under every strategy has the same values, and no rank ever needs more memory than its own part
and one whole parameter.
"""

import random
from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

from study.worker.models.seams import Model


def materialise(*parts: nn.Module, seed: int, device: torch.device) -> None:
    """Give every parameter and buffer of these parts of one model its value on `device`.

    A part is the model itself or a piece of it under the model's own names, with its `draw` and `seams`.
    A weight that modules share, in one part or in two, is one parameter afterwards.
    """
    made: dict[str, nn.Parameter] = {}
    for part in parts:
        model = cast("Model", part)
        for name, module, key, old in _slots(part, "_parameters"):
            if name not in made:
                made[name] = nn.Parameter(_drawn(model, name, old, seed, device), old.requires_grad)
            setattr(module, key, made[name])
        for name, module, key, old in _slots(part, "_buffers"):
            module._buffers[key] = _drawn(model, name, old, seed, device)


def full_names(part: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    """The parameters of a part, each once, by the names that they have in the whole model."""
    found = {name: parameter for name, _, _, parameter in _slots(part, "_parameters")}
    yield from cast("dict[str, nn.Parameter]", found).items()


def _slots(part: nn.Module, kind: str) -> Iterator[tuple[str, nn.Module, str, Tensor]]:
    """Every place of a parameter or buffer: full name, module, name within the module, what is there.

    Of modules that share one weight all places have the name of the first.
    """
    tied = cast("Model", part).seams.tied
    known: dict[int, str] = {}
    slots = [
        (path, module, key, tensor)
        for path, module in part.named_modules()
        for key, tensor in getattr(module, kind).items()
        if tensor is not None
    ]
    for path, module, key, tensor in slots:
        name = f"{tied[0] if path in tied and key == 'weight' else path}.{key}".lstrip(".")
        yield known.setdefault(id(tensor), name), module, key, tensor


def _drawn(model: Model, name: str, old: Tensor, seed: int, device: torch.device) -> Tensor:
    """The value of one parameter or buffer in its precision: whole, or this rank's shard of it."""
    floating = old.dtype.is_floating_point
    # Drawn in the default precision whatever the weights are held in: rounded, not other values.
    dtype = torch.get_default_dtype() if floating else old.dtype
    whole = torch.empty(old.shape, dtype=dtype, device=device)
    # torch's CPU generator uses only 32 bits of its seed, so seed and name are hashed together first.
    mixed = random.Random(repr((seed, name))).getrandbits(32)  # noqa: S311 - weights, not secrets
    with torch.no_grad():
        _fill(model, name, whole, torch.Generator(device).manual_seed(mixed))
    whole = whole.to(old.dtype)
    if not isinstance(old, DTensor):
        return whole
    mesh, placements = old.device_mesh, old.placements
    shape, offset = compute_local_shape_and_global_offset(old.shape, mesh, placements)
    mine = tuple(slice(start, start + length) for start, length in zip(offset, shape, strict=True))
    return DTensor.from_local(
        whole[mine].clone(), mesh, placements, run_check=False, shape=old.shape, stride=old.stride()
    )


def _fill(model: Model, name: str, whole: Tensor, generator: torch.Generator) -> None:
    """BatchNorm's buffers as torch starts them; everything else as the model draws it."""
    start: dict[str, Any] = {"running_mean": 0, "running_var": 1, "num_batches_tracked": 0}
    key = name.rpartition(".")[2]
    if key in start:
        whole.fill_(start[key])
    else:
        model.draw(name, whole, generator)
