"""A small diffusion denoiser: the U-Net of DDPM (Ho et al. 2020), which predicts the noise in an image.

Residual blocks with GroupNorm take the time embedding in their middle, self-attention stands at one low
resolution, and each block on the way up also takes what a block on the way down left. With 128 channels,
factors 1-2-2-2 and two blocks a level there are 35,746,307 parameters (published for CIFAR-10: 35.7
million), with 1-1-2-2-4-4 113,673,219 (published for 256 pixels: 114 million). There is no dropout, so
that a step draws no random numbers.

It has no blocks to cut a pipeline at, and says so by an empty seam: a block on the way up takes the output
of one far before it, so every cut would have to pass all skips on beside the activations, and a seam
passes one tensor. Copies are all that it offers.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from study.worker.models.seams import Seams

EPSILON = 1e-6
"""Added to the variance in the norms, as in the authors' code."""

Inputs = tuple[Tensor, Tensor]
"""Noisy images (batch, 3, side, side) and the time of each (batch)."""


@dataclass(frozen=True, kw_only=True)
class Dimensions:
    """The sizes of a network.

    Level i works at the image's side divided by 2 to the power i, with `width` times `factors[i]` channels
    in `depth` residual blocks (one more on the way up), with attention after each on the levels in
    `attention`. `groups` is that of every GroupNorm.
    """

    width: int
    factors: tuple[int, ...]
    depth: int
    attention: tuple[int, ...]
    groups: int

    @property
    def time_width(self) -> int:
        """Width of the time embedding."""
        return 4 * self.width


class Residual(nn.Module):
    """Two convolutions around a shortcut, the time added between them."""

    def __init__(self, taken: int, given: int, size: Dimensions) -> None:
        super().__init__()
        self.norm_first = _norm(taken, size)
        self.first = nn.Conv2d(taken, given, 3, padding=1)
        self.time = nn.Linear(size.time_width, given)
        self.norm_last = _norm(given, size)
        self.last = nn.Conv2d(given, given, 3, padding=1)
        self.shortcut = nn.Identity() if taken == given else nn.Conv2d(taken, given, 1)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """(batch, taken, side, side) and (batch, time width) to (batch, given, side, side)."""
        y = self.first(functional.silu(self.norm_first(x)))
        y = y + self.time(functional.silu(time))[:, :, None, None]
        y = self.last(functional.silu(self.norm_last(y)))
        return self.shortcut(x) + y


class Attention(nn.Module):
    """Self-attention of one head over all places of an image, added back."""

    def __init__(self, width: int, size: Dimensions) -> None:
        super().__init__()
        self.norm = _norm(width, size)
        self.qkv = nn.Conv2d(width, 3 * width, 1)
        self.out = nn.Conv2d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, width, side, side) to the same shape."""
        # (batch, 3, one head, places, width)
        qkv = self.qkv(self.norm(x)).unflatten(1, (3, 1, -1)).flatten(4).transpose(3, 4)
        y = functional.scaled_dot_product_attention(*qkv.unbind(1))
        return x + self.out(y.squeeze(1).transpose(1, 2).reshape(x.shape))


class Level(nn.Module):
    """Residual blocks of one resolution, each with its attention if the level has it."""

    def __init__(self, taken: list[int], given: int, attends: bool, size: Dimensions) -> None:
        """`taken` are the channels that each block takes."""
        super().__init__()
        self.residuals = nn.ModuleList(Residual(channels, given, size) for channels in taken)
        self.attentions = nn.ModuleList(Attention(given, size) if attends else nn.Identity() for _ in taken)

    def forward(self, x: Tensor, time: Tensor, block: int) -> Tensor:
        """One residual block and its attention."""
        return self.attentions[block](self.residuals[block](x, time))


class UNet(nn.Module):
    """The whole denoiser."""

    def __init__(self, dimensions: Dimensions) -> None:
        """Weights have their values once they are drawn."""
        super().__init__()
        size = self.dimensions = dimensions
        widths = [size.width * factor for factor in size.factors]
        self.time_in = nn.Linear(size.width, size.time_width)
        self.time_out = nn.Linear(size.time_width, size.time_width)
        self.stem = nn.Conv2d(3, size.width, 3, padding=1)
        self.down, self.halvings, skips, channels = nn.ModuleList(), nn.ModuleList(), [size.width], size.width
        for level, width in enumerate(widths):
            taken = [channels] + [width] * (size.depth - 1)
            self.down.append(Level(taken, width, level in size.attention, size))
            skips += [width] * size.depth
            channels = width
            if level < len(widths) - 1:
                self.halvings.append(nn.Conv2d(width, width, 3, stride=2, padding=1))
                skips.append(width)
        self.middle_first = Residual(channels, channels, size)
        self.middle_attention = Attention(channels, size)
        self.middle_last = Residual(channels, channels, size)
        self.up, self.doublings = nn.ModuleList(), nn.ModuleList()
        for level, width in reversed(list(enumerate(widths))):
            taken = []
            for _ in range(size.depth + 1):
                taken.append(channels + skips.pop())
                channels = width
            self.up.append(Level(taken, width, level in size.attention, size))
            if level > 0:
                self.doublings.append(nn.Conv2d(width, width, 3, padding=1))
        self.norm = _norm(size.width * size.factors[0], size)
        self.head = nn.Conv2d(size.width * size.factors[0], 3, 3, padding=1)
        self.seams = Seams()

    def forward(self, inputs: Inputs) -> Tensor:
        """Noisy images and their times to the noise in them, of the images' shape.

        The side must divide by two as often as there are levels, less one.
        """
        images, times = inputs
        time = self.time_in(waves(times, self.dimensions.width).to(self.time_in.weight.dtype))
        time = self.time_out(functional.silu(time))
        x = self.stem(images)
        skips = [x]
        for i, level in enumerate(self.down):
            for block in range(self.dimensions.depth):
                x = level(x, time, block)
                skips.append(x)
            if i < len(self.halvings):
                x = self.halvings[i](x)
                skips.append(x)
        x = self.middle_last(self.middle_attention(self.middle_first(x, time)), time)
        for i, level in enumerate(self.up):
            for block in range(self.dimensions.depth + 1):
                x = level(torch.cat([x, skips.pop()], dim=1), time, block)
            if i < len(self.doublings):
                x = self.doublings[i](functional.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.head(functional.silu(self.norm(x)))

    def draw(self, name: str, tensor: Tensor, generator: torch.Generator) -> None:
        """Xavier's uniform, but zero for a layer that ends a residual block, an attention or the network, so
        that each starts as what it was given; biases zero, norms one. The authors have a variance of 1e-10
        for that zero."""
        owner, kind = name.split(".")[-2:]
        if kind == "bias" or owner in ("last", "out", "head"):
            nn.init.zeros_(tensor)
        elif owner.startswith("norm"):
            nn.init.ones_(tensor)
        else:
            given, taken, *kernel = tensor.shape
            # Query, key and value are three layers in the paper: each is drawn by its own width.
            given //= 3 if owner == "qkv" else 1
            bound = (6 / ((given + taken) * math.prod(kernel))) ** 0.5
            nn.init.uniform_(tensor, -bound, bound, generator=generator)


def waves(times: Tensor, width: int) -> Tensor:
    """Sines and cosines at geometric frequencies (Vaswani et al. 2017): (batch) to (batch, width)."""
    half = width // 2
    steps = torch.arange(half, device=times.device, dtype=torch.get_default_dtype())
    angles = times[:, None] * torch.exp(steps * (-math.log(10_000) / (half - 1)))
    return torch.cat([angles.sin(), angles.cos()], dim=1)


@dataclass(frozen=True, kw_only=True)
class Noise:
    """The schedule of DDPM: in `steps` steps from an image to noise, each of variance beta (steps)."""

    beta: Tensor
    kept: Tensor
    """The share of the image's variance that is left at each time: the product of 1 - beta so far."""

    @classmethod
    def schedule(cls, steps: int, device: torch.device) -> "Noise":
        """Linear from 0.0001 to 0.02 over 1000 steps; with fewer, larger ones that end in noise as well."""
        # Counted in double precision: the product of a thousand factors near one.
        scale = 1000 / steps
        beta = torch.linspace(1e-4 * scale, 0.02 * scale, steps, dtype=torch.float64, device=device)
        beta = beta.clamp(max=0.999)
        kept = torch.cumprod(1 - beta, dim=0)
        dtype = torch.get_default_dtype()
        return cls(beta=beta.to(dtype), kept=kept.to(dtype))

    def add(self, images: Tensor, noise: Tensor, times: Tensor) -> Tensor:
        """The images at their times (equation 4)."""
        kept = self.kept[times][:, None, None, None]
        return kept.sqrt() * images + (1 - kept).sqrt() * noise

    def remove(self, images: Tensor, predicted: Tensor, fresh: Tensor, time: int) -> Tensor:
        """One step of sampling, from `time` to the time before (algorithm 2, with the variance beta).

        `predicted` is the model's word on the noise; `fresh` is noise that is added anew, but for time 0.
        """
        beta, kept = self.beta[time], self.kept[time]
        cleaner = (images - beta / (1 - kept).sqrt() * predicted) / (1 - beta).sqrt()
        return cleaner + beta.sqrt() * fresh if time > 0 else cleaner


def _norm(channels: int, size: Dimensions) -> nn.GroupNorm:
    return nn.GroupNorm(size.groups, channels, eps=EPSILON)
