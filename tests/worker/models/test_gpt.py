"""The decoder against published counts and against itself without a cache."""

import math

import pytest
import torch

from study.worker.models.gpt import GPT, Cache, Dimensions
from study.worker.parameters import materialise
from study.worker.training import count_parameters
from study.worker.workloads import gpt

TINY = Dimensions(layers=3, width=32, heads=4, vocab=61, context=24)


def drawn(model: GPT) -> GPT:
    """The model with its values."""
    materialise(model, seed=3, device=torch.device("cpu"))
    return model


@pytest.fixture
def model():
    """A small decoder with fixed weights, in double precision."""
    torch.manual_seed(3)
    return drawn(GPT(TINY).double()).eval()


@pytest.mark.parametrize(
    ("size", "published"), [("124m", 124_439_808), ("355m", 354_823_168), ("1.5b", 1_557_611_200)]
)
def test_parameters_count_as_published(size, published):
    """GPT-2's sizes have as many parameters as its published checkpoints."""
    with torch.device("meta"):
        model = GPT(gpt.dimensions(size))

    assert count_parameters(model) == published


def test_tiny_has_about_a_million_parameters():
    """The size for machines without a GPU stays small."""
    with torch.device("meta"):
        assert count_parameters(GPT(gpt.dimensions("tiny"))) == pytest.approx(0.9e6, rel=0.1)


def test_no_position_sees_a_later_token(model):
    """Changing a token changes no logit before it, and changes those from it on."""
    tokens = torch.randint(61, (2, 12))
    changed = tokens.clone()
    changed[:, 7] = (changed[:, 7] + 1) % 61

    before, after = model(tokens), model(changed)

    assert torch.equal(before[:, :7], after[:, :7])
    assert not torch.isclose(before[:, 7:], after[:, 7:]).all(dim=-1).any()


@torch.no_grad()
def test_decoding_with_a_cache_is_decoding_without(model):
    """Greedy tokens, and the logits they come from, equal those of the whole sequence at every step."""
    tokens = torch.randint(61, (3, 6))
    cache = Cache(room=24)
    cached = model(tokens, cache)

    for _ in range(18):
        whole = model(tokens)[:, -1]
        assert torch.allclose(cached, whole, atol=1e-12)
        assert torch.equal(cached.argmax(-1), whole.argmax(-1))
        tokens = torch.cat([tokens, cached.argmax(-1, keepdim=True)], dim=1)
        if tokens.shape[1] < 24:
            cached = model(tokens[:, -1:], cache)


@torch.no_grad()
def test_a_cache_can_be_used_again(model):
    """Once cleared a cache gives what a fresh one gives."""
    first, second = torch.randint(61, (2, 1, 9))
    cache = Cache(room=12)
    model(first, cache)
    cache.clear()

    again = model(second, cache)

    assert torch.equal(again, model(second, Cache(room=12)))


def test_first_loss_is_that_of_a_guess():
    """Fresh weights know nothing: the loss starts at the logarithm of the vocabulary."""
    torch.manual_seed(0)
    model = drawn(GPT(gpt.dimensions("tiny")))
    tokens = torch.randint(512, (4, 65))

    loss = torch.nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())

    assert loss.item() == pytest.approx(math.log(512), rel=0.02)


def test_seams_name_what_is_there(model):
    """Every name in the seams is a module; splits are linear; blocks come in the order they run."""
    modules, seams = dict(model.named_modules()), model.seams

    assert {*seams.before, *seams.blocks, *seams.after, *seams.tied} <= set(modules)
    assert [modules[name] for name in seams.blocks] == list(model.blocks)
    for block in seams.blocks:
        for name in (*seams.columns, *seams.rows):
            assert isinstance(modules[f"{block}.{name}"], torch.nn.Linear)
    first, second = (modules[name].weight for name in seams.tied)
    assert first is second


@torch.no_grad()
def test_attention_may_be_split_by_column_and_row(model):
    """Halves of the heads, split as the seams say, add up to the whole layer."""
    attention, x = model.blocks[0].attention, torch.randn(2, 5, 32, dtype=torch.float64)
    whole = attention(x, 0, None)

    parts = torch.zeros_like(whole)
    for half in range(2):
        columns, rows = slice(48 * half, 48 * (half + 1)), slice(16 * half, 16 * (half + 1))
        part = GPT(TINY).double().blocks[0].attention
        part.qkv.weight, part.qkv.bias = (
            torch.nn.Parameter(attention.qkv.weight[columns]),
            torch.nn.Parameter(attention.qkv.bias[columns]),
        )
        part.out.weight, part.out.bias = torch.nn.Parameter(attention.out.weight[:, rows]), None
        parts += part(x, 0, None)

    assert torch.allclose(parts + attention.out.bias, whole, atol=1e-12)
