"""Shards and splits beyond what the contract test sees: ranks apart, overflow, fused steps, one rank."""

import importlib
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from study.worker.contracts import Invalid
from study.worker.models.seams import Seams
from study.worker.splits import split

pytestmark = pytest.mark.xdist_group("spread")

RANKS = Path(__file__).with_name("spread_ranks.py")
NAMES = ("fsdp", "hybrid", "tensor", "ddp-tensor", "fsdp-tensor", "both")
APART = ("fsdp", "hybrid", "ddp-tensor", "fsdp-tensor", "both")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """What each rank of a world of one and of a world of four saw under each strategy."""
    folder = tmp_path_factory.mktemp("worlds")
    subprocess.run([sys.executable, str(RANKS), str(folder)], check=True, timeout=500)
    return {world: [torch.load(folder / f"{world}-{rank}.pt") for rank in range(world)] for world in (1, 4)}


@pytest.fixture(scope="module")
def truth(worlds):
    """What one process saw without a strategy."""
    return worlds[1][0]["single"]


def off(found, right):
    """The largest difference of tensors by name, relative to the largest value."""
    assert found.keys() == right.keys()
    largest = max(value.abs().max() for value in right.values())
    return max((found[name] - right[name]).abs().max() for name in right) / largest


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("world", [1, 4])
def test_gradients_are_right_and_laid_out_like_their_parameters(worlds, truth, name, world):
    """On one device and on four: no sum is left to be made, and no warning was given."""
    for rank in worlds[world]:
        assert rank[name]["laid out"]
        assert off(rank[name]["together"], truth["together"]) < 1e-5


@pytest.mark.torch
@pytest.mark.parametrize("name", APART)
def test_ranks_apart_keep_their_own_gradients_and_nothing_of_them_afterwards(worlds, truth, name):
    """Within the context each rank has its part of its own share's gradient, and after it the sum alone."""
    copies = 2 if name == "ddp-tensor" else 1
    for rank in worlds[4]:
        mine = {key: pair[0] for key, pair in rank[name]["apart"].items() if pair[0].numel()}
        own = {key: pair[1] / copies for key, pair in rank[name]["apart"].items() if pair[1].numel()}
        assert off(mine, own) < 1e-5
        assert off(rank[name]["together again"], truth["together"]) < 1e-5


@pytest.mark.torch
def test_a_split_alone_cannot_do_without_exchange(worlds):
    """There is no context in which its ranks do not exchange."""
    assert "apart" not in worlds[4][0]["tensor"]


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_all_ranks_skip_a_step_that_overflowed_on_some_and_take_the_next(worlds, truth, name):
    """A fused step over plain tensors and shards: nothing moves at first, then what one process does."""
    for rank in worlds[4]:
        start, skipped, stepped = rank[name]["parameters"]
        assert off(skipped, start) == 0
        assert off(stepped, truth["parameters"][2]) < 1e-5
        assert off(stepped, start) > 0.01
        assert rank[name]["factor"] == truth["factor"] == 512.0


def test_a_sequence_is_not_shared_where_a_block_has_other_parameters():
    """A norm over the batch needs all positions, and the sentence names it."""
    model = nn.ModuleDict({"block": nn.ModuleDict({"up": nn.Linear(2, 2), "norm": nn.BatchNorm1d(2)})})
    model.seams = Seams(blocks=("block",), columns=("up",))

    with pytest.raises(Invalid, match="norm is no layer norm"):
        split(model, None, sequence_parallel=True)


@pytest.mark.parametrize(
    ("name", "mesh"),
    [
        ("fsdp", {"shard": 2, "replicas": 3}),
        ("tensor", {"tensor": 6}),
        ("ddp_tensor", {"data": 2, "tensor": 3}),
        ("fsdp_tensor", {"shard": 3, "tensor": 2}),
    ],
)
def test_each_sample_is_counted_once_by_a_rank_that_has_it(name, mesh):
    """Over all ranks the work is the batch, and those who split a matrix have the same samples."""
    strategy = importlib.import_module(f"study.worker.strategies.{name}")
    ranks = range(math.prod(mesh.values()))
    split_over = mesh.get("tensor", 1)

    counted = [strategy.counted(12, rank, mesh) for rank in ranks]
    shares = [strategy.share(12, rank, mesh) for rank in ranks]

    assert counted == [len(shares[rank]) if rank % split_over == 0 else 0 for rank in ranks]
    assert sorted(i for rank in ranks if counted[rank] for i in shares[rank]) == list(range(12))
    assert all(shares[rank] == shares[rank - rank % split_over] for rank in ranks)
