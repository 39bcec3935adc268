"""Ranks that stay: one process imports torch once and forks worlds of one, two and four ranks on demand.

Started as `python rank_pool.py FOLDER`; a line of JSON (`Case`) on its input is answered by a line on its
output, "ok" or what went wrong, when every rank of that world has left `FOLDER/rank-<n>.pt`: the losses,
gradients and parameters of a real training job, or the answers of one that
infers. A world that failed is thrown away.
"""

import importlib
import multiprocessing
import os
import sys
import traceback
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import msgspec

from study.domain.fact import Fact
from study.domain.study import Protocol
from study.domain.trial import Cell, Order

SEED = 5
STEPS = 5
PATIENCE_S = 120.0


class Case(Fact, frozen=True, kw_only=True):
    """A cell to run, the strategy's and the workload's modules, the precision of everything."""

    cell: Cell
    strategy: str
    workload: str
    double: bool


def answer(case: Case, rank: int, group: list[Any], store: str) -> dict[str, Any]:
    """Losses of five SGD steps, gradients after the first, parameters after the last, by full name; or all
    answers of one step of inference, with the share of the batch that they are for."""
    import torch

    from study.worker import ranks
    from study.worker.accelerators import cpu
    from study.worker.group import TorchGroup

    strategy: Any = importlib.import_module(case.strategy)
    order = Order(
        trial="t",
        cell=case.cell,
        protocol=Protocol(),
        seed=SEED,
        rank=rank,
        world_size=case.cell.devices,
        store=store,
        folder="",
        deadline_s=PATIENCE_S / 2,
    )
    device = cpu.open_device(0, 1, "fp32") if not group else torch.device("cpu")
    if not group:
        group.append(TorchGroup(order, "gloo", device) if case.cell.devices > 1 else None)
    torch.set_default_dtype(torch.float64 if case.double else torch.float32)
    torch.manual_seed(SEED)
    spy = Spy(strategy)
    place = ranks.standing(order, cpu, spy)
    job: Any = importlib.import_module(case.workload).build(
        replace(place, device=device, optimiser=lambda groups: torch.optim.SGD(groups, lr=0.05))
    )
    if case.cell.task == "infer":
        job.step()
        return {"answers": spy.answers, "share": [place.share.start, place.share.stop]}
    notes = [job.step()]
    grads = {name: whole(p.grad) for name, p in spy.runner.named_parameters()}
    notes += [job.step() for _ in range(STEPS - 1)]
    parameters = {name: whole(p.detach()) for name, p in spy.runner.named_parameters()}
    return {"loss": [n for n in notes if n is not None], "grads": grads, "parameters": parameters}


class Spy:
    """A strategy that is watched: it sees a model that can be compared, and its runner is kept."""

    def __init__(self, strategy: Any) -> None:
        self.share, self.counted = strategy.share, strategy.counted
        self._strategy = strategy
        self.runner: Any = None
        self.answers: list[Any] = []

    def apply(self, model: Any, place: Any, **more: Any) -> Any:
        """BatchNorm is frozen, since its statistics are those of a share; and what starts all zero or all
        one is made uneven, since a block that starts as its shortcut hides its layers' mistakes."""
        import torch

        for module in model.modules():
            if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
                module.eval()
        draw = model.draw

        def uneven(name: str, tensor: Any, generator: Any) -> None:
            draw(name, tensor, generator)
            if tensor.is_floating_point() and tensor.numel() > 1 and tensor.min() == tensor.max():
                tensor.add_(torch.empty_like(tensor).normal_(std=0.1, generator=generator))

        model.draw = uneven
        self.runner = self._strategy.apply(model, place, **more)
        infer = self.runner.infer

        def seen(inputs: Any, *context: Any) -> Any:
            answer = infer(inputs, *context)
            self.answers.append(whole(answer))
            return answer

        self.runner.infer = seen
        return self.runner


def whole(tensor: Any) -> Any:
    """All of a tensor of which this rank may hold a shard."""
    return None if tensor is None else getattr(tensor, "full_tensor", lambda: tensor)().clone()


def serve_rank(rank: int, store: str, folder: Path, pipe: Connection) -> None:
    """One rank: answers cases until the pipe closes."""
    import torch

    group: list[Any] = []
    while True:
        try:
            case = msgspec.json.decode(pipe.recv_bytes(), type=Case)
        except EOFError:
            os._exit(0)
        try:
            torch.save(answer(case, rank, group, store), folder / f"rank-{rank}.pt")
            pipe.send("ok")
        except BaseException:
            pipe.send(traceback.format_exc())


def main(folder: Path) -> None:
    """Serve until the input ends."""
    importlib.import_module("study.worker.preload")
    # A step's operations are no part of the contract, and to count them takes longer than five steps.
    flops: Any = importlib.import_module("study.worker.flops")
    flops._counted = lambda operations: flops.Flops(reason="they are not counted here")
    fork = multiprocessing.get_context("fork")
    worlds: dict[int, list[tuple[Any, Connection]]] = {}
    for number, line in enumerate(sys.stdin):
        size = msgspec.json.decode(line, type=Case).cell.devices
        if size not in worlds:
            worlds[size] = []
            for rank in range(size):
                ours, theirs = fork.Pipe()
                process = fork.Process(
                    target=serve_rank,
                    args=(rank, str(folder / f"store-{number}"), folder, theirs),
                    daemon=True,
                )
                process.start()
                theirs.close()
                worlds[size].append((process, ours))
        for _, pipe in worlds[size]:
            pipe.send_bytes(line.encode())
        said = collect([pipe for _, pipe in worlds[size]])
        if said != "ok":
            for process, _ in worlds.pop(size):
                process.kill()
        print(msgspec.json.encode(said).decode(), flush=True)


def collect(pipes: list[Connection]) -> str:
    """ "ok" if every rank says so in time, else what the first one says that does not."""
    waiting = list(pipes)
    while waiting:
        ready = wait(waiting, timeout=PATIENCE_S)
        if not ready:
            return "Timed out waiting for ranks."
        for pipe in ready:
            try:
                said = pipe.recv()
            except EOFError:
                return "A rank ended."
            if said != "ok":
                return str(said)
            waiting.remove(pipe)
    return "ok"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
