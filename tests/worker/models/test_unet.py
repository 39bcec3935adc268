"""The denoiser against published counts, its shape, and the arithmetic of adding and removing noise."""

import math

import pytest
import torch
from torch.nn import functional

from study.worker.models.unet import Attention, Dimensions, Noise, UNet, waves
from study.worker.parameters import materialise
from study.worker.training import count_parameters
from study.worker.workloads import unet

SMALL = Dimensions(width=8, factors=(1, 2, 2), depth=2, attention=(1,), groups=4)
CPU = torch.device("cpu")


def awake(model: torch.nn.Module) -> torch.nn.Module:
    """The model with its values, but none of its weights zero, so that every layer has a say."""
    materialise(model, seed=3, device=CPU)
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        if parameter.dim() > 1 and not parameter.any():
            torch.nn.init.normal_(parameter, std=0.1, generator=generator)
    return model


@pytest.mark.parametrize(
    ("size", "exactly", "published"), [("cifar", 35_746_307, 35.7e6), ("lsun", 113_673_219, 114e6)]
)
def test_parameters_count_as_published(size, exactly, published):
    """The paper says 35.7 and 114 million (appendix B); the converted checkpoints have exactly so many."""
    with torch.device("meta"):
        model = UNet(unet.dimensions(size))

    assert count_parameters(model) == exactly == pytest.approx(published, rel=0.005)


@pytest.mark.parametrize("side", [4, 8, 12])
def test_an_image_keeps_its_shape(side):
    """Any side that can be halved as often as there are levels."""
    images = torch.randn(2, 3, side, side)

    assert awake(UNet(SMALL))((images, torch.tensor([3, 700]))).shape == images.shape


@torch.no_grad()
def test_noise_depends_on_image_and_time():
    """Another time gives other noise; another sample of the batch changes nothing."""
    model = awake(UNet(SMALL)).double()
    images = torch.randn(2, 3, 8, 8, dtype=torch.float64)

    both = model((images, torch.tensor([3, 700])))

    assert torch.allclose(model((images[1:], torch.tensor([700]))), both[1:], atol=1e-12)
    assert not torch.allclose(model((images[1:], torch.tensor([701]))), both[1:], atol=1e-9)


@torch.no_grad()
def test_each_skip_is_used():
    """What any block on the way down leaves reaches the output also beside the levels below."""
    model = awake(UNet(SMALL)).double()
    inputs = (torch.randn(1, 3, 8, 8, dtype=torch.float64), torch.tensor([500]))
    taken = [residual.first.in_channels for level in model.up for residual in level.residuals]
    before = model(inputs)

    # Depth and the halving after it leave a skip each on three levels, and so does the stem.
    assert len(taken) == 9
    assert taken == [32, 32, 32, 32, 32, 24, 24, 16, 16]
    for level in model.up:
        for residual in level.residuals:
            kept = residual.first.weight.clone()
            residual.first.weight[:, -8:] = 0
            assert not torch.allclose(model(inputs), before, atol=1e-9)
            residual.first.weight.copy_(kept)
    assert torch.equal(model(inputs), before)


@torch.no_grad()
def test_attention_is_that_of_the_formula():
    """Softmax of q·k over the root of the width, over all places of the image, added to what was given."""
    attention = awake(Attention8()).double().inner
    x = torch.randn(2, 8, 3, 3, dtype=torch.float64)
    normed = attention.norm(x).flatten(2).transpose(1, 2)

    weights, biases = attention.qkv.weight.view(3, 8, 8), attention.qkv.bias.view(3, 8)
    q, k, v = (normed @ weights[i].T + biases[i] for i in range(3))
    y = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(8), dim=-1) @ v
    y = y @ attention.out.weight.view(8, 8).T + attention.out.bias

    assert torch.allclose(attention(x), x + y.transpose(1, 2).view(x.shape), atol=1e-12)


class Attention8(UNet):
    """A holder that draws an attention of eight channels as the network would."""

    def __init__(self) -> None:
        """Nothing of the network but the attention."""
        super().__init__(SMALL)
        for name in list(self._modules):
            del self._modules[name]
        self.inner = Attention(8, SMALL)


def test_blocks_start_as_what_they_are_given():
    """The layers that end a block are zero, so a fresh network predicts no noise at all."""
    model = UNet(SMALL)
    materialise(model, seed=3, device=CPU)
    x, time = torch.randn(2, 8, 8, 8), torch.randn(2, 32)
    residual = model.down[0].residuals[0]

    assert torch.equal(residual(x, time), x)
    assert model((torch.randn(1, 3, 8, 8), torch.tensor([5]))).eq(0).all()


def test_weights_are_drawn_as_published():
    """Xavier's uniform over the kernel, query, key and value each by its own width; norms one."""
    model = UNet(unet.dimensions("cifar"))
    materialise(model, seed=3, device=CPU)
    first, qkv = model.down[1].residuals[1].first.weight, model.down[1].attentions[0].qkv.weight

    assert first.abs().max().item() == pytest.approx(math.sqrt(6 / (512 * 9)), rel=0.001)
    assert qkv.abs().max().item() == pytest.approx(math.sqrt(6 / 512), rel=0.001)
    assert model.norm.weight.eq(1).all()
    assert model.stem.bias.eq(0).all()


def test_waves_tell_times_apart():
    """Sines and cosines between frequency one and one ten-thousandth."""
    found = waves(torch.tensor([0, 1, 999]), 8)

    assert found[0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert found[1, [0, 3, 4, 7]].tolist() == pytest.approx([math.sin(1), math.sin(1e-4), math.cos(1), 1])
    assert not torch.allclose(found[1], found[2])


def test_the_schedule_is_the_papers():
    """Linear from 0.0001 to 0.02; after a thousand steps 0.00004 of the variance is left."""
    schedule = Noise.schedule(1000, CPU)

    assert schedule.beta[[0, -1]].tolist() == pytest.approx([1e-4, 0.02])
    assert schedule.kept[0].item() == pytest.approx(1 - 1e-4)
    assert schedule.kept[-1].item() == pytest.approx(4.036e-5, rel=1e-3)


def test_noise_keeps_the_variance():
    """Images and noise of variance one make noisy images of variance one, at every time."""
    schedule, generator = Noise.schedule(1000, CPU), torch.Generator().manual_seed(1)
    images, noise = torch.randn((2, 8, 3, 64, 64), generator=generator)

    noisy = schedule.add(images, noise, torch.tensor([0, 10, 100, 300, 500, 700, 900, 999]))

    assert noisy.flatten(1).std(dim=1).tolist() == pytest.approx([1] * 8, abs=0.03)
    assert torch.allclose(noisy[0], images[0], atol=0.06)
    assert torch.allclose(noisy[-1], noise[-1], atol=0.06)


def test_removing_the_true_noise_leads_to_the_image():
    """From the first time a step with the true noise gives the image; from a later one the mean of what
    comes before it (equation 7)."""
    schedule = Noise.schedule(1000, CPU)
    images, noise, fresh = torch.randn(3, 2, 3, 4, 4)

    def before(time: int) -> torch.Tensor:
        noisy = schedule.add(images, noise, torch.tensor([time, time]))
        return schedule.remove(noisy, noise, fresh, time)

    beta, kept, last = schedule.beta[400], schedule.kept[400], schedule.kept[399]
    noisy = schedule.add(images, noise, torch.tensor([400, 400]))
    mean = last.sqrt() * beta / (1 - kept) * images + (1 - beta).sqrt() * (1 - last) / (1 - kept) * noisy
    assert torch.allclose(before(0), images, atol=1e-4)
    assert torch.allclose(before(400), mean + beta.sqrt() * fresh, atol=1e-5)


def test_loss_falls_from_that_of_silence():
    """A fresh network predicts nothing and is wrong by the noise's variance; fifteen steps take a fifth."""
    model = UNet(unet.dimensions("tiny"))
    materialise(model, seed=3, device=CPU)
    generator = torch.Generator().manual_seed(1)
    images, noise = torch.randn((2, 16, 3, 16, 16), generator=generator)
    at = torch.randint(1000, (16,), generator=generator)
    inputs = (Noise.schedule(1000, CPU).add(images, noise, at), at)
    optimiser = torch.optim.Adam(model.parameters(), lr=2e-3)

    losses = []
    for _ in range(15):
        losses.append(functional.mse_loss(model(inputs), noise))
        optimiser.zero_grad()
        losses[-1].backward()
        optimiser.step()

    assert losses[0].item() == pytest.approx(noise.square().mean().item())
    assert losses[-1] < 0.8 * losses[0]


def test_gradients_are_finite_under_bf16():
    """Every parameter has a gradient that is a number, and no gradient is all zero."""
    model, images = awake(UNet(SMALL)), torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(1))

    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = functional.mse_loss(model((images, torch.tensor([3, 700]))).float(), images)
    loss.backward()

    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


def test_there_are_no_seams_but_copies():
    """No blocks and no splits: the skips would have to cross every cut."""
    assert not UNet(SMALL).seams.blocks
    assert not UNet(SMALL).seams.columns
