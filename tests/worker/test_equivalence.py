"""Two ranks under ddp compute what one process computes on the same global batch, in double precision.

BatchNorm differs by nature, since each rank normalises by its own share: for resnet it is frozen.
"""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

# One step of the real job at its real batch; the gradients that it left, and its loss, go to a file.
ONE_STEP = """
import sys, torch
from study.domain.study import Protocol
from study.domain.trial import Cell, Order
from study.worker.accelerators import cpu
from study.worker.contracts import Place
from study.worker.group import Alone, TorchGroup
from study.worker.samples import token_batches
from importlib import import_module

workload, folder, rank, world = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
strategy = import_module("study.worker.strategies." + ("single" if world == 1 else "ddp"))
options = {"gpt": {"sequence": 16}, "resnet": {"image": 16}}[workload]
cell = Cell(workload=workload, size="tiny", task="train", strategy="", accelerator="cpu", devices=world,
            precision="fp32", batch=8, threads_per_device=1, options=options)
order = Order(trial="t", cell=cell, protocol=Protocol(), seed=5, rank=rank, world_size=world,
              store=folder + "/store", folder=folder, deadline_s=60)
torch.set_default_dtype(torch.float64)
torch.manual_seed(5)
device = cpu.open_device(0, 1, "fp32")
group = TorchGroup(order, "gloo", device) if strategy.JOINS_GROUP else Alone()
models = []
def wrap(model):
    if workload == "resnet":
        # Frozen statistics; and a block that starts as its shortcut would hide its convolutions.
        model.eval()
        for block in model.blocks:
            torch.nn.init.normal_(block.norms[-1].weight, std=0.1)
    models.append(model)
    return strategy.apply(model, training=True, device=device)
job = import_module("study.worker.workloads." + workload).build(
    Place(cell=cell, seed=5, rank=rank, world_size=world, device=device, accelerator=cpu,
          share=strategy.share(8, rank, world), wrap=wrap))
loss = job.step()
grads = {name: p.grad for name, p in models[0].named_parameters()}
torch.save({"loss": loss, "grads": grads}, f"{folder}/rank-{rank}.pt")
group.close()
"""


def one_step(folder: Path, workload: str, world: int) -> list[dict]:
    """What each rank of a world has after one step."""
    folder.mkdir()
    processes = [
        subprocess.Popen([sys.executable, "-c", ONE_STEP, workload, str(folder), str(rank), str(world)])
        for rank in range(world)
    ]
    assert [process.wait(timeout=120) for process in processes] == [0] * world
    return [torch.load(folder / f"rank-{rank}.pt") for rank in range(world)]


@pytest.mark.torch
@pytest.mark.parametrize("workload", ["gpt", "resnet"])
def test_ddp_has_the_gradients_of_one_process(tmp_path, workload):
    """Gradients on both ranks, and the mean of their losses, equal one process's to rounding."""
    (alone,) = one_step(tmp_path / "one", workload, 1)
    ranks = one_step(tmp_path / "two", workload, 2)

    assert torch.stack([rank["loss"] for rank in ranks]).mean().item() == pytest.approx(
        alone["loss"].item(), rel=1e-12
    )
    assert ranks[0]["loss"] != ranks[1]["loss"]
    for name, truth in alone["grads"].items():
        scale = truth.abs().max().item()
        for rank in ranks:
            assert (rank["grads"][name] - truth).abs().max().item() <= 1e-10 * scale + 1e-14, name
    assert max(truth.abs().max().item() for truth in alone["grads"].values()) > 1e-3
