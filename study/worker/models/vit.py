"""The Vision Transformer (Dosovitskiy et al. 2021): an image is read as a sequence of patches.

A convolution makes one token of each patch, a learned class token is put in front, learned positions
are added, and pre-norm blocks of attention and MLP follow; a linear head reads the class token. With
1000 classes at 224 pixels B/16 and L/16 have 86,567,656 and 304,326,632 parameters, S/16 has
22,050,664. There is no dropout, so that a step draws no random numbers.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from study.worker.models.encoder import MLP, Attention
from study.worker.models.seams import Seams

EPSILON = 1e-6
"""Added to the variance in the norms, as in the authors' code."""


@dataclass(frozen=True, kw_only=True)
class Dimensions:
    """The sizes of a model; `image` and `patch` are the sides of both in pixels."""

    layers: int
    width: int
    heads: int
    patch: int
    image: int
    classes: int

    @property
    def length(self) -> int:
        """Tokens of an image: its patches and the class token."""
        return (self.image // self.patch) ** 2 + 1


class Patches(nn.Module):
    """From an image to a sequence: the class token, then a token for every patch, and their positions."""

    def __init__(self, size: Dimensions) -> None:
        super().__init__()
        self.projection = nn.Conv2d(3, size.width, size.patch, stride=size.patch)
        self.class_token = nn.Parameter(torch.empty(1, 1, size.width))
        self.positions = nn.Parameter(torch.empty(1, size.length, size.width))

    def forward(self, images: Tensor) -> Tensor:
        """(batch, 3, side, side) to (batch, length, width)."""
        patches = self.projection(images).flatten(2).transpose(1, 2)
        first = self.class_token.expand(len(images), -1, -1).to(patches.dtype)
        return torch.cat([first, patches], dim=1) + self.positions


class Block(nn.Module):
    """Attention and MLP, each on a normalised copy and added back."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm_attention = nn.LayerNorm(width, eps=EPSILON)
        self.attention = Attention(width, heads)
        self.norm_mlp = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = MLP(width)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, width) to the same shape."""
        x = x + self.attention(self.norm_attention(x))
        return x + self.mlp(self.norm_mlp(x))


class ViT(nn.Module):
    """The whole classifier."""

    def __init__(self, dimensions: Dimensions) -> None:
        """Weights have their values once they are drawn."""
        super().__init__()
        size = self.dimensions = dimensions
        self.patches = Patches(size)
        self.blocks = nn.ModuleList(Block(size.width, size.heads) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width, eps=EPSILON)
        self.head = nn.Linear(size.width, size.classes)
        self.seams = Seams(
            before=("patches",),
            blocks=tuple(f"blocks.{i}" for i in range(size.layers)),
            after=("norm", "head"),
            columns=("attention.qkv", "mlp.up"),
            rows=("attention.out", "mlp.down"),
            split_limit=size.heads,
        )

    def forward(self, images: Tensor) -> Tensor:
        """(batch, 3, side, side) to logits (batch, classes)."""
        x = self.enter(images)
        for block in self.blocks:
            x = block(x)
        return self.leave(x)

    def enter(self, images: Tensor) -> Tensor:
        """What the first block takes: (batch, length, width)."""
        return self.patches(images)

    def leave(self, x: Tensor) -> Tensor:
        """Logits from what the last block gave."""
        return self.head(self.norm(x[:, 0]))

    def draw(self, name: str, tensor: Tensor, generator: torch.Generator) -> None:
        """As in the authors' code: Xavier's uniform for linear layers, a head and a class token of zeros,
        LeCun's normal for the patches, and a normal of deviation 0.02 for the positions."""
        owner, kind = name.split(".")[-2:]
        if name == "patches.positions":
            nn.init.normal_(tensor, std=0.02, generator=generator)
        elif name == "patches.class_token" or owner == "head":
            nn.init.zeros_(tensor)
        elif owner.startswith("norm"):
            nn.init.constant_(tensor, 1.0 if kind == "weight" else 0.0)
        elif kind == "bias":
            deviation = 1e-6 if ".mlp." in name else 0.0
            nn.init.normal_(tensor, std=deviation, generator=generator)
        elif owner == "projection":
            taken = tensor[0].numel()
            deviation = taken**-0.5 / TRUNCATED_DEVIATION
            nn.init.trunc_normal_(
                tensor, std=deviation, a=-2 * deviation, b=2 * deviation, generator=generator
            )
        else:
            # Query, key and value are three layers in the paper: each is drawn by its own width.
            given, taken = tensor.shape
            given //= 3 if owner == "qkv" else 1
            bound = (6 / (given + taken)) ** 0.5
            nn.init.uniform_(tensor, -bound, bound, generator=generator)


TRUNCATED_DEVIATION = 0.87962566
"""The deviation of a standard normal that is cut off at two (the constant of JAX's initialisers)."""
