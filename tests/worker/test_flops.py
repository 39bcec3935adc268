"""The operations of a step: torch's count against formulas, shared by ranks, harmless when it fails."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from study.worker.flops import answering_flops, decoding_flops, training_flops
from study.worker.models.gpt import GPT, Cache
from study.worker.models.resnet import ResNet
from study.worker.workloads import gpt, resnet


def on_meta(model, size):
    """A model without values."""
    with torch.device("meta"):
        return model(size)


def next_token_loss(logits, targets):
    """Cross-entropy over all positions."""
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def gpt_training(size, length, samples=1):
    """The count for training a gpt on so many sequences."""
    tokens = torch.zeros((3, length), dtype=torch.long)
    return training_flops(on_meta(GPT, size), (tokens, tokens), next_token_loss, samples=samples)


@pytest.mark.parametrize(("name", "length"), [("tiny", 64), ("124m", 1024)])
def test_training_a_gpt_is_the_formula_of_palm(name, length):
    """6 N + 12 L H Q T per token with attention in full, N without positions and with the tied head once."""
    size = gpt.dimensions(name)
    model = on_meta(GPT, size)
    in_products = sum(p.numel() for p in model.parameters()) - model.positions.weight.numel()

    per_token = gpt_training(size, length).per_step / length

    assert per_token == pytest.approx(6 * in_products + 12 * size.layers * size.width * length, rel=0.01)


def test_training_a_gpt_is_the_formula_of_megatron():
    """72 B s l h² (1 + s/6h + V/12lh): the other convention counts the same matrices and none else."""
    size = gpt.dimensions("124m")
    s, layers, h, vocabulary = 512, size.layers, size.width, size.vocab

    found = gpt_training(size, s, samples=4).per_step

    shape = 1 + s / (6 * h) + vocabulary / (12 * layers * h)
    assert found == pytest.approx(72 * 4 * s * layers * h**2 * shape, rel=0.01)


def test_an_image_of_resnet_18_is_as_published():
    """1.814 billion multiply-adds (torchvision); training takes thrice that, but for the first layer."""
    images = torch.zeros((1, 3, 224, 224))
    model = on_meta(ResNet, resnet.dimensions("resnet18"))

    answered = answering_flops(model, images, samples=1).per_step
    trained = training_flops(model, (images, torch.zeros(1).long()), functional.cross_entropy, samples=1)

    assert answered == pytest.approx(2 * 1.814e9, rel=0.01)
    assert trained.per_step == 3 * answered - 2 * 64 * 3 * 7**2 * 112**2


def test_ranks_shares_add_up_to_the_models_step():
    """A rank that counts three samples and one that counts five count what one of eight would."""
    size = gpt.dimensions("tiny")

    shares = [gpt_training(size, 16, samples).per_step for samples in (0, 3, 5)]

    assert shares[0] == 0
    assert sum(shares) == gpt_training(size, 16, 8).per_step


def test_decoding_is_every_token_counted_one_by_one():
    """The sum of all passes, each made for itself on the meta device."""
    model = on_meta(GPT, gpt.dimensions("tiny")).eval()
    cache, passes = Cache(15), [torch.zeros((1, 10)).long(), *[torch.zeros((1, 1)).long()] * 5]

    one_by_one = 0
    for tokens in passes:
        with torch.no_grad(), torch.utils.flop_counter.FlopCounterMode(display=False) as counter:
            model(tokens.to("meta"), cache)
        one_by_one += counter.get_total_flops()

    found = decoding_flops(model, Cache(12), prompt=10, generate=6, samples=3)
    assert found.per_step == 3 * one_by_one


def test_a_count_leaves_the_model_as_it_was():
    """On the meta device, without gradients: it is drawn and wrapped afterwards."""
    model = on_meta(GPT, gpt.dimensions("tiny"))
    tokens = torch.zeros((1, 8), dtype=torch.long)

    training_flops(model, (tokens, tokens), next_token_loss, samples=1)

    assert {p.device.type for p in model.parameters()} == {"meta"}
    assert all(p.grad is None and p.requires_grad for p in model.parameters())


def test_a_count_that_fails_leaves_its_reason():
    """A model that reads a value on the host cannot be counted, and nothing else happens."""

    class Reads(nn.Linear):
        def forward(self, x):
            return super().forward(x) * x.sum().item()

    model = on_meta(lambda size: Reads(size, size), 4)

    found = answering_flops(model, torch.zeros((1, 4)), samples=1)

    assert found.per_step is None
    assert found.reason.startswith("the operations could not be counted: RuntimeError: ")
