"""The Vision Transformer against published counts and shapes, and how it reads an image."""

import math

import pytest
import torch
from torch.nn import functional

from study.worker.models.vit import Dimensions, ViT
from study.worker.parameters import materialise
from study.worker.training import count_parameters
from study.worker.workloads import vit

SMALL = Dimensions(layers=2, width=32, heads=4, patch=4, image=16, classes=5)


def drawn(size: Dimensions) -> ViT:
    """A model with its values, but for a head that is not zero, so that the logits say something."""
    model = ViT(size)
    materialise(model, seed=3, device=torch.device("cpu"))
    torch.nn.init.normal_(model.head.weight, generator=torch.Generator().manual_seed(1))
    return model


@pytest.fixture
def model():
    """A small classifier in double precision."""
    return drawn(SMALL).double().eval()


@pytest.mark.parametrize(
    ("size", "published"), [("s16", 22_050_664), ("b16", 86_567_656), ("l16", 304_326_632)]
)
def test_parameters_count_as_published(size, published):
    """With 1000 classes at 224 pixels: torchvision's counts of vit_b_16 and vit_l_16, DeiT's of S/16."""
    with torch.device("meta"):
        model = ViT(vit.dimensions(size))

    assert count_parameters(model) == published


def test_an_image_becomes_a_sequence(model):
    """A class token and a token for each patch, to one logit for each class."""
    images = torch.randn(3, 3, 16, 16, dtype=torch.float64)

    assert model.enter(images).shape == (3, 17, 32)
    assert model(images).shape == (3, 5)


@torch.no_grad()
def test_a_patch_is_a_product_of_its_pixels(model):
    """The token of the patch at row 1, column 2 is the projection of those pixels, and its position."""
    images = torch.randn(1, 3, 16, 16, dtype=torch.float64)
    pixels = images[0, :, 4:8, 8:12].flatten()
    patches = model.patches

    token = patches.projection.weight.flatten(1) @ pixels + patches.projection.bias

    assert torch.allclose(model.enter(images)[0, 1 + 6], token + patches.positions[0, 7], atol=1e-12)


@torch.no_grad()
def test_patches_may_be_permuted_with_their_positions_only(model):
    """Swapped patches give other logits, but the same ones if their positions are swapped too."""
    images = torch.randn(1, 3, 16, 16, dtype=torch.float64)
    swapped = images.clone()
    swapped[..., 0:4, 0:4], swapped[..., 8:12, 4:8] = images[..., 8:12, 4:8], images[..., 0:4, 0:4]
    before = model(images)
    assert not torch.allclose(model(swapped), before, atol=1e-6)

    model.patches.positions[0, [1, 10]] = model.patches.positions[0, [10, 1]].clone()

    assert torch.allclose(model(swapped), before, atol=1e-12)


@torch.no_grad()
def test_samples_of_a_batch_do_not_see_each_other(model):
    """An image has the same logits alone as in a batch."""
    images = torch.randn(3, 3, 16, 16, dtype=torch.float64)

    assert torch.allclose(model(images)[1:2], model(images[1:2]), atol=1e-12)


def test_classes_are_interchangeable(model):
    """Only the head knows classes: its rows permuted are the logits permuted."""
    images, order = torch.randn(2, 3, 16, 16, dtype=torch.float64), torch.tensor([3, 1, 4, 0, 2])
    before = model(images)

    model.head.weight.data, model.head.bias.data = model.head.weight[order], model.head.bias[order]

    assert torch.allclose(model(images), before[:, order], atol=1e-12)


def test_weights_are_drawn_as_published():
    """Xavier's uniform by each layer's own width, LeCun's normal for patches, a head of zeros."""
    model = ViT(vit.dimensions("tiny"))
    materialise(model, seed=3, device=torch.device("cpu"))
    block, width = model.blocks[0], 128

    for layer, outputs in (
        (block.attention.qkv, width),
        (block.attention.out, width),
        (block.mlp.up, 4 * width),
    ):
        bound = math.sqrt(6 / (width + outputs))
        assert layer.weight.abs().max().item() == pytest.approx(bound, rel=0.01)
        assert layer.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
    projection = model.patches.projection.weight
    assert projection.std().item() == pytest.approx((3 * 8 * 8) ** -0.5, rel=0.02)
    assert model.patches.positions.std().item() == pytest.approx(0.02, rel=0.1)
    assert block.attention.qkv.bias.eq(0).all()
    assert 0 < block.mlp.up.bias.abs().max() < 1e-5
    assert block.norm_mlp.weight.eq(1).all()
    assert model.head.weight.eq(0).all()
    assert model.patches.class_token.eq(0).all()


def test_blocks_in_order_are_the_classifier(model):
    """Every name in the seams is there, and entering, running the blocks and leaving is running the model."""
    modules, seams = dict(model.named_modules()), model.seams
    images = torch.randn(2, 3, 16, 16, dtype=torch.float64)

    x = model.enter(images)
    for name in seams.blocks:
        x = modules[name](x)

    assert torch.equal(model.leave(x), model(images))
    assert {*seams.before, *seams.after} <= set(modules)
    for block in seams.blocks:
        for name in (*seams.columns, *seams.rows):
            assert isinstance(modules[f"{block}.{name}"], torch.nn.Linear)


def test_loss_falls_from_that_of_a_guess():
    """With a head of zeros it starts at the logarithm of the classes; fifteen steps take half of it."""
    model = ViT(vit.dimensions("tiny"))
    materialise(model, seed=3, device=torch.device("cpu"))
    generator = torch.Generator().manual_seed(1)
    labels = torch.arange(20) % 10
    colours = torch.randn(10, 3, 1, 1, generator=generator)
    images = 0.5 * torch.randn(20, 3, 32, 32, generator=generator) + colours[labels]
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)

    losses = []
    for _ in range(15):
        losses.append(functional.cross_entropy(model(images), labels))
        optimiser.zero_grad()
        losses[-1].backward()
        optimiser.step()

    assert losses[0].item() == pytest.approx(math.log(10), rel=1e-6)
    assert losses[-1] < 0.5 * losses[0]


def test_gradients_are_finite_under_bf16():
    """Every parameter has a gradient that is a number, and no gradient is all zero."""
    model = drawn(SMALL)
    images, labels = torch.randn(4, 3, 16, 16, generator=torch.Generator().manual_seed(1)), torch.arange(4)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = functional.cross_entropy(model(images), labels)
    loss.backward()

    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name
