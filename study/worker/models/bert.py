"""An encoder in the shape of BERT, with its head for masked words (Devlin et al. 2019).

Token, position and segment embeddings under one norm, blocks whose norms follow the sums (post-norm),
and the head of pre-training: a transform, a norm, and the token embedding's weight used again with a
bias of its own. Without the pooler and the next-sentence head, which later recipes dropped too (Liu et
al. 2019), base and large have 109,514,298 and 335,174,458 parameters, as the published checkpoints
have in the form "for masked language modelling"; that is 109,482,240 and 335,141,888 for encoder and
pooler alone. Sequences have one fixed length, so there is no padding and no mask over positions; there
is no dropout, so that a step draws no random numbers.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from study.worker.models.encoder import MLP, Attention
from study.worker.models.seams import Seams

UNMASKED = -100
"""The target of a position that is not to be predicted."""

EPSILON = 1e-12
"""Added to the variance in BERT's norms."""


@dataclass(frozen=True, kw_only=True)
class Dimensions:
    """The sizes of a model; `context` is the longest sequence that it has positions for."""

    layers: int
    width: int
    heads: int
    vocab: int
    context: int


class Block(nn.Module):
    """Attention and MLP, each added to what it was given and then normalised."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.norm_attention = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = MLP(width)
        self.norm_mlp = nn.LayerNorm(width, eps=EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, width) to the same shape."""
        x = self.norm_attention(x + self.attention(x))
        return self.norm_mlp(x + self.mlp(x))


class BERT(nn.Module):
    """The whole encoder and its head for masked words."""

    def __init__(self, dimensions: Dimensions) -> None:
        """Weights have their values once they are drawn."""
        super().__init__()
        size = self.dimensions = dimensions
        self.tokens = nn.Embedding(size.vocab, size.width)
        self.positions = nn.Embedding(size.context, size.width)
        self.segments = nn.Embedding(2, size.width)
        self.norm = nn.LayerNorm(size.width, eps=EPSILON)
        self.blocks = nn.ModuleList(Block(size.width, size.heads) for _ in range(size.layers))
        self.transform = nn.Linear(size.width, size.width)
        self.norm_transform = nn.LayerNorm(size.width, eps=EPSILON)
        self.head = nn.Linear(size.width, size.vocab)
        self.head.weight = self.tokens.weight
        self.seams = Seams(
            before=("tokens", "positions", "segments", "norm"),
            blocks=tuple(f"blocks.{i}" for i in range(size.layers)),
            after=("transform", "norm_transform", "head"),
            columns=("attention.qkv", "mlp.up"),
            rows=("attention.out", "mlp.down"),
            split_limit=size.heads,
            tied=("tokens", "head"),
        )

    def forward(self, tokens: Tensor) -> Tensor:
        """(batch, length) to logits of the word at every position, (batch, length, vocab).

        The first half of a sequence is its first segment, the rest its second.
        """
        x = self.enter(tokens)
        for block in self.blocks:
            x = block(x)
        return self.leave(x)

    def enter(self, tokens: Tensor) -> Tensor:
        """What the first block takes: (batch, length, width)."""
        places = torch.arange(tokens.shape[1], device=tokens.device)
        segments = (2 * places >= tokens.shape[1]).long()
        return self.norm(self.tokens(tokens) + self.positions(places) + self.segments(segments))

    def leave(self, x: Tensor) -> Tensor:
        """Logits from what the last block gave."""
        return self.head(self.norm_transform(functional.gelu(self.transform(x))))

    def draw(self, name: str, tensor: Tensor, generator: torch.Generator) -> None:
        """As in the authors' code: normal, deviation 0.02, cut off at two; biases zero, norms one."""
        owner, kind = name.split(".")[-2:]
        if kind == "bias":
            nn.init.zeros_(tensor)
        elif owner.startswith("norm"):
            nn.init.ones_(tensor)
        else:
            nn.init.trunc_normal_(tensor, std=0.02, a=-0.04, b=0.04, generator=generator)


def pretraining_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy over the masked positions; `targets` (batch, length) are `UNMASKED` elsewhere."""
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=UNMASKED)
