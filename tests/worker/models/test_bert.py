"""The encoder against published counts, naive attention, and what masked words must and must not do."""

import math

import pytest
import torch

from study.worker.models.bert import BERT, UNMASKED, Dimensions, pretraining_loss
from study.worker.models.encoder import Attention
from study.worker.parameters import materialise
from study.worker.training import count_parameters
from study.worker.workloads import bert

SMALL = Dimensions(layers=2, width=32, heads=4, vocab=61, context=24)


@pytest.fixture
def model():
    """A small encoder with fixed weights, in double precision."""
    model = BERT(SMALL).double()
    materialise(model, seed=3, device=torch.device("cpu"))
    return model.eval()


@pytest.mark.parametrize(
    ("size", "masked", "pooled"),
    [("base", 109_514_298, 109_482_240), ("large", 335_174_458, 335_141_888)],
)
def test_parameters_count_as_published(size, masked, pooled):
    """With the head for masked words, and with a pooler in its place, the counts of bert-*-uncased."""
    with torch.device("meta"):
        model = BERT(bert.dimensions(size))
    width = model.dimensions.width
    head = (
        count_parameters(model.transform) + count_parameters(model.norm_transform) + model.head.bias.numel()
    )

    assert count_parameters(model) == masked
    assert count_parameters(model) - head + width * width + width == pooled


def test_every_position_sees_every_other(model):
    """Changing one token changes the logits at all positions: nothing is causal."""
    tokens = torch.randint(60, (2, 12), generator=torch.Generator().manual_seed(1))
    changed = tokens.clone()
    changed[:, 7] += 1

    before, after = model(tokens), model(changed)

    assert before.shape == (2, 12, 61)
    assert (before != after).any(dim=-1).all()


def test_samples_of_a_batch_do_not_see_each_other(model):
    """A sequence has the same logits alone as in a batch."""
    tokens = torch.randint(61, (3, 12), generator=torch.Generator().manual_seed(1))

    assert torch.allclose(model(tokens)[1:2], model(tokens[1:2]), atol=1e-12)


@torch.no_grad()
def test_order_is_known_by_positions_and_segments_alone(model):
    """Without them a permuted sequence has permuted logits; with them it has others."""
    tokens = torch.arange(12)[None]
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    with_places = model(tokens[:, order])
    assert not torch.allclose(with_places, model(tokens)[:, order], atol=1e-6)

    model.positions.weight.zero_()
    model.segments.weight.zero_()

    assert torch.allclose(model(tokens[:, order]), model(tokens)[:, order], atol=1e-12)


@torch.no_grad()
def test_the_second_half_is_the_second_segment(model):
    """Both rows of the segment embedding are used, each for one half."""
    tokens = torch.zeros((1, 8), dtype=torch.long)
    model.positions.weight.zero_()

    x = model.enter(tokens)[0]

    assert torch.equal(x[:4], x[:1].expand(4, -1))
    assert torch.equal(x[4:], x[4:5].expand(4, -1))
    assert not torch.equal(x[0], x[4])


@torch.no_grad()
def test_attention_is_that_of_the_formula():
    """Softmax of q·k over the root of the head's width, times v, head by head."""
    attention = Attention(24, 3).double()
    x = torch.randn(2, 7, 24, dtype=torch.float64)
    weights, biases = attention.qkv.weight.view(3, 3, 8, 24), attention.qkv.bias.view(3, 3, 8)

    heads = []
    for head in range(3):
        q, k, v = (x @ weights[head, i].T + biases[head, i] for i in range(3))
        scores = q @ k.transpose(1, 2) / math.sqrt(8)
        heads.append(scores.exp() / scores.exp().sum(dim=-1, keepdim=True) @ v)
    naive = torch.cat(heads, dim=-1) @ attention.out.weight.T + attention.out.bias

    assert torch.allclose(attention(x), naive, atol=1e-12)


@torch.no_grad()
def test_attention_may_be_split_by_column_and_row():
    """Halves of the heads, split as the seams say, add up to the whole layer."""
    attention, x = Attention(32, 4).double(), torch.randn(2, 5, 32, dtype=torch.float64)

    parts = torch.zeros_like(x)
    for half in range(2):
        columns, rows = slice(48 * half, 48 * (half + 1)), slice(16 * half, 16 * (half + 1))
        part = Attention(32, 4).double()
        part.qkv.weight = torch.nn.Parameter(attention.qkv.weight[columns])
        part.qkv.bias = torch.nn.Parameter(attention.qkv.bias[columns])
        part.out.weight, part.out.bias = torch.nn.Parameter(attention.out.weight[:, rows]), None
        parts += part(x)

    assert torch.allclose(parts + attention.out.bias, attention(x), atol=1e-12)


def test_only_masked_positions_are_learnt_from(model):
    """The loss is the mean over masked positions, and logits elsewhere have no gradient."""
    logits = torch.randn(2, 5, 61, requires_grad=True)
    targets = torch.full((2, 5), UNMASKED)
    targets[0, 1], targets[1, 4] = 7, 9

    loss = pretraining_loss(logits, targets)
    loss.backward()

    chosen = logits.log_softmax(dim=-1)
    assert loss.item() == pytest.approx(-(chosen[0, 1, 7] + chosen[1, 4, 9]).item() / 2)
    assert {(int(i), int(j)) for i, j in logits.grad.abs().sum(-1).nonzero()} == {(0, 1), (1, 4)}


def test_weights_are_drawn_as_published():
    """Deviation 0.02, cut off at two deviations; norms one, biases zero; the head shares the embedding."""
    model = BERT(bert.dimensions("tiny"))
    materialise(model, seed=3, device=torch.device("cpu"))
    weight = model.blocks[0].mlp.up.weight

    # Cut off at two, a normal keeps 0.88 of its deviation.
    assert weight.std().item() == pytest.approx(0.88 * 0.02, rel=0.01)
    assert weight.abs().max() <= 0.04
    assert model.norm.weight.eq(1).all()
    assert model.blocks[1].norm_mlp.bias.eq(0).all()
    assert model.head.bias.eq(0).all()
    assert model.head.weight is model.tokens.weight


def test_blocks_in_order_are_the_encoder(model):
    """Every name in the seams is there, and entering, running the blocks and leaving is running the model."""
    modules, seams = dict(model.named_modules()), model.seams
    tokens = torch.randint(61, (2, 10))

    x = model.enter(tokens)
    for name in seams.blocks:
        x = modules[name](x)

    assert torch.equal(model.leave(x), model(tokens))
    assert {*seams.before, *seams.after, *seams.tied} <= set(modules)
    for block in seams.blocks:
        for name in (*seams.columns, *seams.rows):
            assert isinstance(modules[f"{block}.{name}"], torch.nn.Linear)


def test_loss_falls_from_that_of_a_guess():
    """It starts at the logarithm of the vocabulary, and fifteen steps on one batch take a third of it."""
    model = BERT(bert.dimensions("tiny"))
    materialise(model, seed=3, device=torch.device("cpu"))
    targets = (torch.arange(32) % 16 + torch.arange(8)[:, None]) % 24
    masked = torch.arange(32) % 6 == 1
    tokens, targets = torch.where(masked, 511, targets), torch.where(masked, targets, UNMASKED)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)

    losses = []
    for _ in range(15):
        losses.append(pretraining_loss(model(tokens), targets))
        optimiser.zero_grad()
        losses[-1].backward()
        optimiser.step()

    assert losses[0].item() == pytest.approx(math.log(512), rel=0.03)
    assert losses[-1] < 2 / 3 * losses[0]


def test_gradients_are_finite_under_bf16():
    """Every parameter has a gradient that is a number, and no gradient is all zero."""
    model = BERT(SMALL)
    materialise(model, seed=3, device=torch.device("cpu"))
    tokens = torch.randint(61, (2, 10), generator=torch.Generator().manual_seed(1))

    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = pretraining_loss(model(tokens), tokens)
    loss.backward()

    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name
