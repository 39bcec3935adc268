"""Residual networks (He et al. 2015): 18 and 50 layers as published, and shapes small enough for a test.

The bottleneck strides in its 3×3 convolution (the widespread "v1.5"). Parameters count as published:
11,689,512 for ResNet-18 and 25,557,032 for ResNet-50 with 1000 classes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from study.worker.models.seams import Seams

Norm = Callable[[int], nn.Module]


@dataclass(frozen=True, kw_only=True)
class Dimensions:
    """The sizes of a network.

    `bottleneck` chooses the block of three convolutions over that of two; `depths` are the blocks of
    each stage; `width` the channels of the first; `small_stem` reads small images by one 3×3
    convolution in place of 7×7 with stride and pooling.
    """

    bottleneck: bool
    depths: tuple[int, ...]
    width: int
    classes: int
    small_stem: bool


class Block(nn.Module):
    """A residual block: convolutions around a shortcut, which is projected where shapes differ."""

    def __init__(self, taken: int, width: int, stride: int, bottleneck: bool, norm: Norm) -> None:
        """`taken` channels in, `width` (times four for a bottleneck) out."""
        super().__init__()
        given = 4 * width if bottleneck else width
        layers = (
            [(taken, width, 1, 1), (width, width, 3, stride), (width, given, 1, 1)]
            if bottleneck
            else [(taken, width, 3, stride), (width, given, 3, 1)]
        )
        self.convolutions = nn.ModuleList(_convolution(*layer) for layer in layers)
        self.norms = nn.ModuleList(norm(layer[1]) for layer in layers)
        self.shortcut = (
            nn.Identity()
            if (taken, stride) == (given, 1)
            else nn.Sequential(_convolution(taken, given, 1, stride), norm(given))
        )

    def forward(self, x: Tensor) -> Tensor:
        y = x
        last = len(self.norms) - 1
        for i, (convolution, norm) in enumerate(zip(self.convolutions, self.norms, strict=True)):
            y = norm(convolution(y))
            if i < last:
                y = functional.relu(y)
        return functional.relu(y + self.shortcut(x))


class ResNet(nn.Module):
    """Stem, stages of residual blocks, mean over the image, and a linear head."""

    def __init__(self, dimensions: Dimensions, norm: Norm = nn.BatchNorm2d) -> None:
        """`norm` makes a normalisation for so many channels."""
        super().__init__()
        size = self.dimensions = dimensions
        stem = [_convolution(3, size.width, 3, 1)] if size.small_stem else [_convolution(3, size.width, 7, 2)]
        tail: list[nn.Module] = [] if size.small_stem else [nn.MaxPool2d(3, stride=2, padding=1)]
        self.stem = nn.Sequential(*stem, norm(size.width), nn.ReLU(), *tail)
        blocks, channels = [], size.width
        for stage, depth in enumerate(size.depths):
            width = size.width * 2**stage
            for i in range(depth):
                stride = 2 if stage > 0 and i == 0 else 1
                blocks.append(Block(channels, width, stride, size.bottleneck, norm))
                channels = 4 * width if size.bottleneck else width
        self.blocks = nn.ModuleList(blocks)
        self.head = nn.Linear(channels, size.classes)
        self.seams = Seams(
            before=("stem",),
            blocks=tuple(f"blocks.{i}" for i in range(len(blocks))),
            after=("head",),
        )

    def forward(self, images: Tensor) -> Tensor:
        """(batch, 3, side, side) to logits (batch, classes)."""
        x = self.enter(images)
        for block in self.blocks:
            x = block(x)
        return self.leave(x)

    def enter(self, images: Tensor) -> Tensor:
        """What the first block takes."""
        return self.stem(images)

    def leave(self, x: Tensor) -> Tensor:
        """Logits from what the last block gave."""
        return self.head(x.mean(dim=(2, 3)))

    def draw(self, name: str, tensor: Tensor, generator: torch.Generator) -> None:
        """He's normal for convolutions, torch's uniform for the head; norms one, but each block's last norm
        zero, so that a block starts as its shortcut and the first steps are calm (Goyal et al. 2017,
        section 5.1)."""
        if tensor.dim() == 4:
            nn.init.kaiming_normal_(tensor, mode="fan_out", nonlinearity="relu", generator=generator)
        elif name.startswith("head."):
            bound = self.head.in_features**-0.5
            nn.init.uniform_(tensor, -bound, bound, generator=generator)
        else:
            last = 2 if self.dimensions.bottleneck else 1
            starts_at_one = name.endswith(".weight") and not name.endswith(f".norms.{last}.weight")
            tensor.fill_(1.0 if starts_at_one else 0.0)


def _convolution(taken: int, given: int, kernel: int, stride: int) -> nn.Conv2d:
    return nn.Conv2d(taken, given, kernel, stride=stride, padding=kernel // 2, bias=False)
