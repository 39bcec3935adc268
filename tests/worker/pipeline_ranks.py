"""Pipelines on real ranks, for test_schedules.py: `python pipeline_ranks.py FOLDER` forks a world of one rank
and one of four, and each rank leaves `FOLDER/<world>-<rank>.pt`: what it saw, by name."""

import multiprocessing
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from study.domain.study import Protocol
from study.domain.trial import Cell, Order
from study.worker import ranks
from study.worker.accelerators import cpu
from study.worker.contracts import unscaled
from study.worker.gradients import GradientSum
from study.worker.models.resnet import Dimensions, ResNet
from study.worker.strategies import ddp_pipeline, pipeline, single
from study.worker.training import Scaler

BATCH = 8
SHAPE = Dimensions(bottleneck=False, depths=(2, 2), width=4, classes=3, small_stem=True)


def placed(strategy: Any, rank: int, mesh: dict[str, int], precision: str = "fp32", **options: Any) -> Any:
    """Where a rank stands under a strategy."""
    world = dist.get_world_size()
    cell = Cell(
        workload="resnet",
        size="tiny",
        task="train",
        strategy="s",
        accelerator="cpu",
        devices=world,
        precision=precision,
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


def runner(
    *where: Any, trains: bool = True, scale: Any = unscaled, frozen: bool = True, **options: Any
) -> Any:
    """A small network under a strategy, with its share of one batch."""
    place = placed(*where, **options)
    with torch.device("meta"):
        model = ResNet(SHAPE)
    if frozen:
        model.eval()
    draw = torch.Generator().manual_seed(1)
    images = torch.randn((BATCH, 3, 8, 8), generator=draw)[place.share.start : place.share.stop]
    labels = torch.randint(3, (BATCH,), generator=draw)[place.share.start : place.share.stop]
    loss = torch.nn.functional.cross_entropy if trains else None
    return place.run(model, loss=loss, scale=scale), images, labels


def gradients(of: Any) -> dict[str, Any]:
    """Each gradient of this rank's part, by full name, and none left behind."""
    found = {name: parameter.grad for name, parameter in of.named_parameters()}
    for _, parameter in of.named_parameters():
        parameter.grad = None
    return found


def refusal(call: Callable[[], Any]) -> str:
    """What a call says when it refuses, or nothing."""
    try:
        call()
    except TypeError as error:
        return str(error)
    return ""


def alone(rank: int) -> dict[str, Any]:
    """One rank under each schedule, and without any."""
    plain, images, labels = runner(single, rank, {})
    found = {"single": (plain.train(images, labels), gradients(plain))}
    for word in ("gpipe", "1f1b", "interleaved"):
        made, images, labels = runner(pipeline, rank, {"stages": 1}, schedule=word, micro_batches=4, chunks=2)
        found[word] = (made.train(images, labels), gradients(made))
    made, images, labels = runner(
        pipeline, rank, {"stages": 1}, trains=False, schedule="gpipe", micro_batches=4
    )
    answer = made.infer(images)
    found["handed"] = made.hand_back(answer, answer) is answer
    found["refused"] = [
        refusal(lambda: made.infer(images, "a cache")),
        refusal(lambda: made.train(images, labels)),
    ]
    return found


def four(rank: int) -> dict[str, Any]:
    """Two pipelines of two stages."""
    where = (ddp_pipeline, rank, {"data": 2, "stages": 2})
    options: dict[str, Any] = {"schedule": "1f1b", "micro_batches": 4, "chunks": 2}
    found: dict[str, Any] = {}

    made, images, labels = runner(*where, **options)
    made.train(images, labels)
    found["together"] = gradients(made)
    with made.unsynchronised():
        made.train(images, labels)
    found["apart"] = gradients(made)
    made.train(images, labels)
    found["together again"] = gradients(made)

    made, images, labels = runner(*where, frozen=False, **options)
    made.train(images, labels)
    found["statistics"] = {
        name: buffer.clone() for part in made._parts for name, buffer in part.named_buffers()
    }

    scaler = Scaler("cpu", enabled=True)
    made, images, labels = runner(*where, scale=scaler.scale, **options)
    optimiser = torch.optim.SGD([p for _, p in made.named_parameters()], lr=0.0)
    loss = made.train(images, labels)
    scaler.partners = made.partners
    scaler.step(optimiser)
    found["scaled"] = (loss, gradients(made))

    for word in ("gpipe", "1f1b", "interleaved"):
        made, images, labels = runner(*where, precision="bf16", **{**options, "schedule": word})
        found[f"bf16 {word}"] = (made.train(images, labels), gradients(made))

    made, images, labels = runner(*where, trains=False, **options)
    answer = made.infer(images)
    found["answer"] = answer
    found["handed"] = made.hand_back(answer, torch.empty((len(images), 3)))
    found["no context without copies"] = made.unsynchronised() is None

    parameters = [torch.nn.Parameter(torch.zeros(3, dtype=kind)) for kind in (torch.float32, torch.float64)]
    parameters += [torch.nn.Parameter(torch.zeros(2, 2)), torch.nn.Parameter(torch.zeros(1))]
    for number, parameter in enumerate(parameters[:3], 1):
        parameter.grad = torch.full_like(parameter, float(number * (rank + 1)))
    GradientSum(parameters, dist.group.WORLD, bucket_bytes=20).add_up()
    found["sums"] = [parameter.grad for parameter in parameters]
    return found


def serve(rank: int, world: int, folder: Path) -> None:
    """One rank of a world."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store-{world}", rank=rank, world_size=world)
    torch.save((alone if world == 1 else four)(rank), folder / f"{world}-{rank}.pt")
    dist.barrier()
    os._exit(0)


def main(folder: Path) -> None:
    """Both worlds, one after the other."""
    fork = multiprocessing.get_context("fork")
    for world in (1, 4):
        members = [fork.Process(target=serve, args=(rank, world, folder)) for rank in range(world)]
        for member in members:
            member.start()
        for member in members:
            member.join(120)
            if member.exitcode:
                for other in members:
                    other.kill()
                sys.exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
