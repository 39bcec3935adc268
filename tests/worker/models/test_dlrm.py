"""The recommendation model: its counts, what it looks up, and the products of pairs."""

import math

import pytest
import torch

from study.worker.models.dlrm import DLRM, Dimensions, click_loss, interaction
from study.worker.parameters import materialise
from study.worker.training import count_parameters
from study.worker.workloads import dlrm

SMALL = Dimensions(numeric=5, tables=3, rows=20, width=4, bottom=(8,), top=(16, 8))


@pytest.fixture
def model():
    """A small model with fixed weights, in double precision."""
    model = DLRM(SMALL).double()
    materialise(model, seed=3, device=torch.device("cpu"))
    return model


@pytest.fixture
def inputs():
    """Six samples that each ask for two rows of every table."""
    generator = torch.Generator().manual_seed(1)
    numeric = torch.randn(6, 5, dtype=torch.float64, generator=generator)
    return numeric, torch.randint(20, (6, 3, 2), generator=generator)


@pytest.mark.parametrize(("size", "dense"), [("small", 475_985), ("medium", 2_368_897)])
def test_dense_parameters_are_those_of_the_published_mlps(size, dense):
    """13-512-256-64-16 and 367-512-256-1; MLPerf's 13-512-256-128 and 479-1024-1024-512-256-1."""
    with torch.device("meta"):
        model = DLRM(dlrm.dimensions(size))
    sparse = sum(count_parameters(model.get_submodule(name)) for name in model.sparse)

    assert sparse == 26 * 100_000 * model.dimensions.width
    assert count_parameters(model) - sparse == dense


def test_each_sample_gets_one_logit(model, inputs):
    """And the same one alone as in a batch."""
    numeric, rows = inputs

    logits = model(inputs)

    assert logits.shape == (6,)
    assert torch.allclose(model((numeric[2:3], rows[2:3])), logits[2:3], atol=1e-12)


def test_rows_of_a_table_are_added(model, inputs):
    """Their order does not matter, and one row twice is not the row once."""
    numeric, rows = inputs
    once, twice = rows[..., :1], rows[..., :1].expand(-1, -1, 2)

    assert torch.allclose(model((numeric, rows.flip(-1))), model(inputs), atol=1e-12)
    assert not torch.allclose(model((numeric, twice)), model((numeric, once)), atol=1e-9)


@torch.no_grad()
def test_the_products_are_those_of_all_pairs():
    """Each unordered pair once, none with itself: the loop that the paper writes."""
    vectors = torch.randn(2, 4, 6, dtype=torch.float64)

    pairs = [vectors[:, i] @ vectors[:, j].T for i in range(4) for j in range(i)]
    naive = torch.stack([pair.diagonal() for pair in pairs], dim=1)

    assert naive.shape == (2, 6)
    assert torch.allclose(interaction(vectors), naive, atol=1e-12)


def test_the_products_do_not_know_an_order():
    """Permuted vectors have the same products, in another order."""
    vectors = torch.randn(1, 5, 6, dtype=torch.float64)
    order = torch.randperm(5, generator=torch.Generator().manual_seed(1))

    before, after = interaction(vectors), interaction(vectors[:, order])

    assert not torch.equal(before, after)
    assert torch.allclose(before.sort().values, after.sort().values, atol=1e-12)


def test_a_step_changes_only_rows_that_were_asked_for(model, inputs):
    """The gradient is as large as the table, and zero but for those rows."""
    click_loss(model(inputs), torch.tensor([0, 1, 0, 1, 1, 0])).backward()

    for i, name in enumerate(model.sparse):
        gradient = model.get_submodule(name).weight.grad
        assert gradient.shape == (20, 4)
        assert set(gradient.abs().sum(1).nonzero().flatten().tolist()) == set(
            inputs[1][:, i].flatten().tolist()
        )


def test_weights_are_drawn_as_published():
    """Tables uniform within one over the root of their rows, layers by Xavier's normal."""
    model = DLRM(dlrm.dimensions("small"))
    materialise(model, seed=3, device=torch.device("cpu"))
    layer = model.bottom[1]

    assert model.tables[0].weight.abs().max().item() == pytest.approx(100_000**-0.5, rel=0.001)
    assert layer.weight.std().item() == pytest.approx(math.sqrt(2 / (512 + 256)), rel=0.02)
    assert layer.bias.std().item() == pytest.approx(256**-0.5, rel=0.2)


def test_the_loss_is_that_of_a_coin():
    """Binary cross-entropy: the mean of -log p of what happened, the logarithm of two for a logit of zero."""
    clicks = torch.tensor([0, 1, 1])

    assert click_loss(torch.zeros(3), clicks).item() == pytest.approx(math.log(2))
    assert click_loss(torch.tensor([2.0, 2.0, -2.0]), clicks).item() == pytest.approx(
        (2 * math.log1p(math.exp(2)) + math.log1p(math.exp(-2))) / 3
    )


def test_loss_falls():
    """Fifteen steps of plain SGD on one batch that can be learnt take a quarter of it."""
    model = DLRM(dlrm.dimensions("tiny"))
    materialise(model, seed=3, device=torch.device("cpu"))
    generator = torch.Generator().manual_seed(1)
    clicks = torch.arange(32) % 2
    numeric = 0.5 * torch.randn(32, 8, generator=generator) + (2 * clicks[:, None] - 1)
    inputs = (numeric, torch.randint(200, (32, 6, 1), generator=generator))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)

    losses = []
    for _ in range(15):
        losses.append(click_loss(model(inputs), clicks))
        optimiser.zero_grad()
        losses[-1].backward()
        optimiser.step()

    assert losses[-1] < 0.75 * losses[0]


def test_gradients_are_finite_under_bf16(inputs):
    """Every parameter has a gradient that is a number, and no gradient is all zero."""
    model = DLRM(SMALL)
    materialise(model, seed=3, device=torch.device("cpu"))

    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = click_loss(model((inputs[0].float(), inputs[1])), torch.tensor([0, 1, 0, 1, 1, 0]))
    loss.backward()

    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_there_are_no_seams_but_copies():
    """Tables are not laid out over devices."""
    assert not DLRM(SMALL).seams.blocks
    assert not DLRM(SMALL).seams.columns
