"""Shards and splits on real ranks, for test_spread.py: `python spread_ranks.py FOLDER` forks a world of one
rank and one of four. Each leaves `FOLDER/<world>-<rank>.pt`: what it saw, by strategy. A warning ends it."""

import multiprocessing
import os
import sys
import warnings
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.fsdp
import torch.distributed.tensor.parallel
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

from study.domain.study import Protocol
from study.domain.trial import Cell, Order
from study.worker import ranks
from study.worker.accelerators import cpu
from study.worker.contracts import unscaled
from study.worker.models.gpt import GPT, Dimensions
from study.worker.parameters import materialise
from study.worker.runners import WholeRunner
from study.worker.strategies import ddp_tensor, fsdp, fsdp_tensor, single, tensor
from study.worker.training import Scaler, parameter_groups

BATCH = 8
SHAPE = Dimensions(layers=2, width=16, heads=4, vocab=32, context=8)
SPREAD: dict[str, tuple[Any, dict[str, int], dict[str, Any]]] = {
    "fsdp": (fsdp, {"shard": 4, "replicas": 1}, {"reshard": True}),
    "hybrid": (fsdp, {"shard": 2, "replicas": 2}, {"reshard": False}),
    "tensor": (tensor, {"tensor": 4}, {"sequence_parallel": True}),
    "ddp-tensor": (ddp_tensor, {"data": 2, "tensor": 2}, {"sequence_parallel": True}),
    "fsdp-tensor": (fsdp_tensor, {"shard": 2, "tensor": 2}, {"sequence_parallel": False, "reshard": True}),
    "both": (fsdp_tensor, {"shard": 2, "tensor": 2}, {"sequence_parallel": True, "reshard": False}),
}


def placed(strategy: Any, rank: int, mesh: dict[str, int], options: dict[str, Any]) -> Any:
    """Where a rank stands under a strategy."""
    world = dist.get_world_size()
    cell = Cell(
        workload="gpt",
        size="tiny",
        task="train",
        strategy="s",
        accelerator="cpu",
        devices=world,
        precision="fp32",
        batch=BATCH,
        threads_per_device=1,
        mesh=mesh,
        strategy_options=options,
    )
    order = Order(
        trial="t",
        cell=cell,
        protocol=Protocol(),
        seed=5,
        rank=rank,
        world_size=world,
        store="",
        folder="",
        deadline_s=60.0,
    )
    return replace(ranks.standing(order, cpu, strategy), device=torch.device("cpu"))


def network() -> Any:
    """A small decoder without values; the seven tokens of its sequences divide by nothing."""
    with torch.device("meta"):
        return GPT(SHAPE)


def loss_of(logits: Any, targets: Any) -> Any:
    """The mean over all tokens."""
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def batch(share: range) -> tuple[Any, Any]:
    """Inputs and targets of a share of the one batch."""
    tokens = torch.randint(32, (BATCH, 8), generator=torch.Generator().manual_seed(1))[
        share.start : share.stop
    ]
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def whole(tensor: Any) -> Any:
    """All of a tensor; torch warns that two ways of sharding one dimension are slow to put together."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(tensor, "full_tensor", lambda: tensor)().clone()


def gradients(runner: Any) -> dict[str, Any]:
    """Each whole gradient by full name, and none left behind."""
    found = {name: whole(parameter.grad) for name, parameter in runner.named_parameters()}
    for _, parameter in runner.named_parameters():
        parameter.grad = None
    return found


def held(whole: Any, like: Any) -> Any:
    """What this rank holds of a whole tensor that is laid out like another."""
    if not isinstance(like, DTensor):
        return whole
    shape, offset = compute_local_shape_and_global_offset(like.shape, like.device_mesh, like.placements)
    return whole[tuple(slice(start, start + length) for start, length in zip(offset, shape, strict=True))]


def local(tensor: Any) -> Any:
    """What this rank holds of a tensor."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def spread(rank: int, strategy: Any, mesh: dict[str, int], options: dict[str, Any]) -> dict[str, Any]:
    """Steps together and apart, then two of a fused optimiser under the scaler, of which one overflows."""
    place = placed(strategy, rank, mesh, options)
    made = place.run(network(), loss=loss_of)
    inputs, targets = batch(place.share)
    found: dict[str, Any] = {"loss": made.train(inputs, targets)}
    found["laid out"] = all(
        p.grad is not None and getattr(p, "placements", None) == getattr(p.grad, "placements", None)
        for _, p in made.named_parameters()
    )
    found["together"] = gradients(made)

    context = made.unsynchronised()
    if context is not None:
        alone = network()
        materialise(alone, seed=place.seed, device=place.device)
        own = WholeRunner(alone, alone, place, loss=loss_of, scale=unscaled)
        own.train(inputs, targets)
        own_gradients = gradients(own)
        with context:
            made.train(inputs, targets)
            gradients(made)
            made.train(inputs, targets)
        # (what the rank has, what one process has of its share), to be compared
        found["apart"] = {
            name: (local(p.grad).clone(), held(own_gradients[name], p).clone())
            for name, p in made.named_parameters()
        }
        gradients(made)
        made.train(inputs, targets)
        found["together again"] = gradients(made)

    scaler = Scaler("cpu", enabled=True, init_scale=1024.0)
    scaled = place.run(network(), loss=loss_of, scale=scaler.scale)
    scaler.partners = scaled.partners
    found["parameters"] = optimised(scaled, scaler, inputs, targets, rank)
    found["factor"] = scaler.get_scale()
    return found


def optimised(runner: Any, scaler: Scaler, inputs: Any, targets: Any, rank: int) -> list[dict[str, Any]]:
    """Parameters at the start, after a step that overflowed on every second rank, and after a good one.

    Under each strategy these ranks are all that hold a copy of what the last one holds.
    """
    parameters = dict(runner.named_parameters())
    optimiser = torch.optim.AdamW(parameter_groups(parameters.values()), lr=0.1, eps=0.1, fused=True)
    states = [{name: whole(p.detach()) for name, p in parameters.items()}]
    for overflows in (True, False):
        optimiser.zero_grad()
        runner.train(inputs, targets)
        if overflows and rank % 2 == (dist.get_world_size() - 1) % 2:
            local(parameters["blocks.0.mlp.up.weight"].grad).fill_(float("inf"))
        scaler.step(optimiser)
        scaler.update()
        states.append({name: whole(p.detach()) for name, p in parameters.items()})
    return states


def seen(rank: int, world: int) -> dict[str, Any]:
    """Every strategy on four ranks; on one rank those, on one device, and none."""
    if world == 4:
        return {name: spread(rank, *how) for name, how in SPREAD.items()}
    at_one = {
        name: (strategy, dict.fromkeys(mesh, 1), options)
        for name, (strategy, mesh, options) in SPREAD.items()
    }
    return {name: spread(rank, *how) for name, how in {"single": (single, {}, {}), **at_one}.items()}


def serve(rank: int, world: int, folder: Path) -> None:
    """One rank: leaves what it saw."""
    cpu.open_device(0, 1, "fp32")
    warnings.simplefilter("error")
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder / f'store-{world}'}",
        rank=rank,
        world_size=world,
        timeout=timedelta(seconds=100),
    )
    torch.save(seen(rank, world), folder / f"{world}-{rank}.pt")
    dist.barrier()
    sys.stdout.flush()
    os._exit(0)


def main(folder: Path) -> None:
    """Both worlds, one after the other."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    fork = multiprocessing.get_context("fork")
    for world in (1, 4):
        processes = [fork.Process(target=serve, args=(rank, world, folder)) for rank in range(world)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        if any(process.exitcode for process in processes):
            sys.exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
