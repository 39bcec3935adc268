"""What a forkserver may preload, and that ranks run from one."""

import multiprocessing
import subprocess
import sys

import msgspec
import pytest

from study.domain.record import Reading
from study.domain.study import Protocol
from study.domain.trial import Cell, Order

pytestmark = pytest.mark.torch

LOOK = """
import os, sys
import study.worker.preload
import torch
assert len(os.listdir("/proc/self/task")) == 1, "threads"
assert not torch.cuda.is_initialized(), "cuda"
assert "torch._dynamo" in sys.modules and "study.worker.strategies.layer_split" in sys.modules
"""


def test_preload_starts_nothing():
    """The server has one thread and no CUDA context, and what is slow to import is there."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOOK], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_a_rank_runs_from_a_forkserver_and_says_so(tmp_path):
    """Two ranks forked from the preloaded server train together, and tell how they were started."""
    from study.worker.ranks import serve

    cell = Cell(
        workload="gpt",
        size="tiny",
        task="train",
        strategy="ddp",
        accelerator="cpu",
        devices=2,
        precision="fp32",
        batch=4,
        threads_per_device=1,
        options={"sequence": 16},
        mesh={"data": 2},
    )
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["study.worker.preload"])
    ranks = []
    for rank in range(2):
        order = Order(
            trial="t",
            cell=cell,
            protocol=Protocol(warmup_steps=2, warmup_s=0.0, window_steps=8),
            seed=1,
            rank=rank,
            world_size=2,
            store=str(tmp_path / "store"),
            folder=str(tmp_path),
            deadline_s=60,
        )
        ranks.append(server.Process(target=serve, args=(msgspec.json.encode(order),)))
        ranks[-1].start()
    for process in ranks:
        process.join(60)

    for rank in range(2):
        reading = msgspec.json.decode((tmp_path / f"reading-{rank}.json").read_bytes(), type=Reading)
        assert reading.start_method == "forkserver"
        assert len(reading.step_ns) == 8
