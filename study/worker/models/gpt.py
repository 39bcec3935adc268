"""A decoder-only transformer in the shape of GPT-2, with a key-value cache for decoding.

Learned token and position embeddings, pre-norm blocks of causal self-attention and a GELU MLP four
times as wide, a final norm, and a head that shares its weight with the token embedding (Radford et
al. 2019). With GPT-2's vocabulary, context and sizes its parameters count as published: 124,439,808
for 12 layers of width 768.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from study.worker.models.seams import Seams


@dataclass(frozen=True, kw_only=True)
class Dimensions:
    """The sizes of a model; `context` is the longest sequence that it has positions for."""

    layers: int
    width: int
    heads: int
    vocab: int
    context: int


class Cache:
    """Keys and values of the tokens seen so far: per layer two tensors (batch, heads, room, width/heads).

    The room is allocated once, so that decoding neither allocates nor copies the past.
    """

    def __init__(self, model: "GPT", batch: int, room: int) -> None:
        size = model.dimensions
        weight = model.tokens.weight
        shape = (size.layers, 2, batch, size.heads, room, size.width // size.heads)
        self._store = torch.empty(shape, dtype=weight.dtype, device=weight.device)
        self.length = 0

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of the new tokens; returns those of all tokens so far."""
        end = self.length + keys.shape[2]
        store = self._store[layer]
        store[0, :, :, self.length : end] = keys
        store[1, :, :, self.length : end] = values
        return store[0, :, :, :end], store[1, :, :, :end]


class Attention(nn.Module):
    """Causal self-attention. The outputs of `qkv` are ordered by head: a column split keeps heads whole."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.head_width = width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, layer: int, cache: Cache | None) -> Tensor:
        """(batch, length, width) to the same shape; with a cache the queries also see what it holds."""
        batch, length, _ = x.shape
        # (batch, length, heads, 3, head width); heads is left open for ranks that hold only some.
        qkv = self.qkv(x).view(batch, length, -1, 3, self.head_width)
        q, k, v = (qkv[:, :, :, i].transpose(1, 2) for i in range(3))
        causal = True
        if cache is not None:
            # The prompt comes first and whole; afterwards a lone query may see everything before it.
            causal = cache.length == 0
            k, v = cache.extend(layer, k, v)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, -1))


class MLP(nn.Module):
    """Two linear layers with a GELU (tanh form, as in GPT-2) between them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.gelu(self.up(x), approximate="tanh"))


class Block(nn.Module):
    """Attention and MLP, each on a normalised copy and added back."""

    def __init__(self, layer: int, width: int, heads: int) -> None:
        super().__init__()
        self.layer = layer
        self.norm_attention = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm_mlp = nn.LayerNorm(width)
        self.mlp = MLP(width)

    def forward(self, x: Tensor, cache: Cache | None = None) -> Tensor:
        x = x + self.attention(self.norm_attention(x), self.layer, cache)
        return x + self.mlp(self.norm_mlp(x))


class GPT(nn.Module):
    """The whole decoder."""

    def __init__(self, dimensions: Dimensions) -> None:
        """Weights are drawn from torch's generator as GPT-2's were."""
        super().__init__()
        size = self.dimensions = dimensions
        self.tokens = nn.Embedding(size.vocab, size.width)
        self.positions = nn.Embedding(size.context, size.width)
        self.blocks = nn.ModuleList(Block(i, size.width, size.heads) for i in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocab, bias=False)
        self.head.weight = self.tokens.weight
        self._draw_weights()
        self.seams = Seams(
            before=("tokens", "positions"),
            blocks=tuple(f"blocks.{i}" for i in range(size.layers)),
            after=("norm", "head"),
            columns=("attention.qkv", "mlp.up"),
            rows=("attention.out", "mlp.down"),
            split_limit=size.heads,
            tied=("tokens", "head"),
        )

    def forward(self, tokens: Tensor, cache: Cache | None = None) -> Tensor:
        """Logits of the next token.

        Without a cache: (batch, length) to (batch, length, vocab). With one: the tokens follow those
        that it holds, and only the last position's logits are made, (batch, vocab). The first call
        brings the whole prompt, each later call one token.
        """
        start = 0 if cache is None else cache.length
        length = tokens.shape[1]
        places = torch.arange(start, start + length, device=tokens.device)
        x = self.tokens(tokens) + self.positions(places)
        for block in self.blocks:
            x = block(x, cache)
        if cache is None:
            return self.head(self.norm(x))
        cache.length += length
        return self.head(self.norm(x[:, -1]))

    def _draw_weights(self) -> None:
        """Normal, deviation 0.02, divided by sqrt(2 × layers) where a layer adds to the residual stream."""
        deep = (2 * self.dimensions.layers) ** -0.5
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear | nn.Embedding):
                scale = deep if name.endswith(("attention.out", "mlp.down")) else 1.0
                nn.init.normal_(module.weight, std=0.02 * scale)
            if isinstance(module, nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
