"""Pipelines beyond what the contract test sees: one rank, copies apart, precisions, statistics, refusals."""

import importlib
import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from study.worker.contracts import Invalid
from study.worker.schedules import require_schedule

pytestmark = pytest.mark.xdist_group("pipelines")

RANKS = Path(__file__).with_name("pipeline_ranks.py")
WORDS = ("gpipe", "1f1b", "interleaved")


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """What each rank of a world of one and of a world of two pipelines saw."""
    folder = tmp_path_factory.mktemp("worlds")
    subprocess.run([sys.executable, str(RANKS), str(folder)], check=True, timeout=300)
    return {world: [torch.load(folder / f"{world}-{rank}.pt") for rank in range(world)] for world in (1, 4)}


@pytest.fixture(scope="module")
def truth(worlds):
    """The loss and the gradients of one process without a pipeline."""
    return worlds[1][0]["single"]


def off(found, right):
    """The largest difference of gradients, relative to the largest gradient."""
    largest = max(gradient.abs().max() for gradient in right.values())
    return max((found[name] - right[name]).abs().max() for name in found) / largest


@pytest.mark.torch
@pytest.mark.parametrize("word", WORDS)
def test_one_rank_is_a_pipeline_too(worlds, truth, word):
    """All stages on one device, and the same loss and gradients: the base of a comparison."""
    loss, gradients = worlds[1][0][word]

    assert gradients.keys() == truth[1].keys()
    assert float(loss) == pytest.approx(float(truth[0]), rel=1e-5)
    assert off(gradients, truth[1]) < 1e-5


@pytest.mark.torch
def test_pipelines_apart_do_not_sum_and_do_again_afterwards(worlds, truth):
    """Within the context each pipeline has its own share's part; the two parts are the whole."""
    ranks = worlds[4]

    for first, second in ((ranks[0], ranks[2]), (ranks[1], ranks[3])):
        both = {name: first["apart"][name] + second["apart"][name] for name in first["apart"]}
        assert off(first["apart"], truth[1]) > 0.1
        assert off(both, truth[1]) < 1e-5
    for rank in ranks:
        assert off(rank["together"], truth[1]) < 1e-5
        assert off(rank["together again"], truth[1]) < 1e-5


@pytest.mark.torch
def test_without_gradients_there_is_nothing_to_do_without(worlds):
    """Inference has no context in which ranks do not exchange them."""
    assert all(rank["no context without copies"] for rank in worlds[4])


@pytest.mark.torch
def test_the_pass_that_learns_shapes_leaves_no_trace(worlds):
    """After one step each BatchNorm has seen four micro-batches, and numbers in all of them."""
    for rank in worlds[4]:
        counts = [value for name, value in rank["statistics"].items() if name.endswith("tracked")]
        assert counts
        assert all(count == 4 for count in counts)
        assert all(value.isfinite().all() for value in rank["statistics"].values())


@pytest.mark.torch
def test_a_scaled_loss_gives_the_same_gradients_on_every_stage(worlds, truth):
    """The scaler of fp16 works on ranks that have no loss as well, and the loss is told unscaled."""
    losses = [rank["scaled"][0] for rank in worlds[4]]

    assert losses[0] is losses[2] is None
    assert float(losses[1] + losses[3]) / 2 == pytest.approx(float(truth[0]), rel=1e-5)
    assert all(off(rank["scaled"][1], truth[1]) < 1e-5 for rank in worlds[4])


@pytest.mark.torch
@pytest.mark.parametrize("word", WORDS)
def test_stages_run_in_the_precision_of_the_cell(worlds, truth, word):
    """bf16 rounds on the way, so gradients are near and not equal; activations travel as they are."""
    for rank in worlds[4]:
        assert 1e-5 < off(rank[f"bf16 {word}"][1], truth[1]) < 0.1


@pytest.mark.torch
def test_an_answer_is_handed_back_to_the_first_stage_of_its_own_pipeline(worlds):
    """The last stage keeps it, the first one gets it, and the pipelines do not mix."""
    ranks = worlds[4]

    for first, last in ((ranks[0], ranks[1]), (ranks[2], ranks[3])):
        assert first["answer"] is None
        assert torch.equal(first["handed"], last["answer"])
        assert torch.equal(last["handed"], last["answer"])
    assert not torch.equal(ranks[0]["handed"], ranks[2]["handed"])


@pytest.mark.torch
def test_one_rank_hands_its_answer_to_itself(worlds):
    """The first stage is the last one's as well."""
    assert worlds[1][0]["handed"]


@pytest.mark.torch
def test_a_pipeline_refuses_a_cache_and_training_without_a_loss(worlds):
    """Both are mistakes of whoever calls, told at once."""
    assert worlds[1][0]["refused"] == ["micro-batches have no cache", "a runner that trains is given a loss"]


@pytest.mark.torch
def test_gradients_are_summed_in_buckets_of_one_type(worlds):
    """Of four ranks with 1 to 4 times a value each has the sum; a gradient that is not there stays away."""
    for rank in worlds[4]:
        *sums, absent = rank["sums"]
        assert [gradient.unique().tolist() for gradient in sums] == [[10.0], [20.0], [30.0]]
        assert [gradient.dtype for gradient in sums] == [torch.float32, torch.float64, torch.float32]
        assert absent is None


@pytest.mark.parametrize(
    ("word", "stages", "micro_batches", "batch", "words"),
    [
        ("gpipe", 2, 3, 8, "A batch of 8 cannot be cut into 3 equal micro-batches."),
        ("1f1b", 4, 2, 8, "1F1B with 4 stages needs as many micro-batches, not 2."),
        ("interleaved", 2, 5, 10, "Interleaved stages on 2 ranks take 2 rounds of equal length, "),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(word, stages, micro_batches, batch, words):
    """The numbers that do not go together are told."""
    with pytest.raises(Invalid, match=words):
        require_schedule(word, stages, micro_batches, batch)


@pytest.mark.parametrize("word", WORDS)
def test_a_schedule_that_can_be_passes(word):
    """Two full rounds of as many micro-batches as stages."""
    require_schedule(word, 4, 8, 8)


@pytest.mark.parametrize(
    ("name", "mesh"), [("pipeline", {"stages": 4}), ("ddp_pipeline", {"data": 2, "stages": 3})]
)
def test_each_sample_is_counted_once_and_by_a_last_stage(name, mesh):
    """Over all ranks the work is the batch, and no stage before the last one reports any."""
    strategy = importlib.import_module(f"study.worker.strategies.{name}")

    counted = [strategy.counted(12, rank, mesh) for rank in range(math.prod(mesh.values()))]

    assert sum(counted) == 12
    assert {rank % mesh["stages"] for rank, samples in enumerate(counted) if samples} == {mesh["stages"] - 1}


def test_pipelines_of_one_mesh_cover_the_batch():
    """The ranks of one pipeline have the same samples, and the pipelines have all."""
    strategy = importlib.import_module("study.worker.strategies.ddp_pipeline")

    shares = [strategy.share(8, rank, {"data": 2, "stages": 2}) for rank in range(4)]

    assert shares == [range(4), range(4), range(4, 8), range(4, 8)]
