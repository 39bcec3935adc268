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

    A layer's room is allocated when it is first used and kept, so that decoding neither allocates nor
    copies the past. Only the layers and heads that a rank holds take room.
    """

    def __init__(self, room: int) -> None:
        """`room` is the greatest number of tokens."""
        self._room = room
        self._store: dict[int, Tensor] = {}
        self._seen: dict[int, int] = {}

    @property
    def length(self) -> int:
        """Tokens that every layer has seen."""
        return min(self._seen.values(), default=0)

    def clear(self) -> None:
        """Forget all tokens and keep the room."""
        self._seen.clear()

    def seen(self, layer: int) -> int:
        """Tokens that a layer has seen."""
        return self._seen.get(layer, 0)

    def extend(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of the new tokens; returns those of all tokens so far."""
        start = self.seen(layer)
        end = self._seen[layer] = start + keys.shape[2]
        if layer not in self._store:
            batch, heads, _, width = keys.shape
            self._store[layer] = keys.new_empty((2, batch, heads, self._room, width))
        store = self._store[layer]
        store[0, :, :, start:end] = keys
        store[1, :, :, start:end] = values
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
            causal = cache.seen(layer) == 0
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
        """Weights have their values once they are drawn."""
        super().__init__()
        size = self.dimensions = dimensions
        self.tokens = nn.Embedding(size.vocab, size.width)
        self.positions = nn.Embedding(size.context, size.width)
        self.blocks = nn.ModuleList(Block(i, size.width, size.heads) for i in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, size.vocab, bias=False)
        self.head.weight = self.tokens.weight
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
        x = self.enter(tokens, cache)
        for block in self.blocks:
            x = block(x, cache)
        return self.leave(x, cache)

    def enter(self, tokens: Tensor, cache: Cache | None = None) -> Tensor:
        """What the first block takes: (batch, length, width)."""
        start = 0 if cache is None else cache.length
        places = torch.arange(start, start + tokens.shape[1], device=tokens.device)
        return self.tokens(tokens) + self.positions(places)

    def leave(self, x: Tensor, cache: Cache | None = None) -> Tensor:
        """Logits from what the last block gave."""
        return self.head(self.norm(x if cache is None else x[:, -1]))

    def draw(self, name: str, tensor: Tensor, generator: torch.Generator) -> None:
        """As GPT-2's: normal, deviation 0.02, divided by sqrt(2 × layers) where a layer adds to the residual
        stream; biases zero, norms one."""
        if name.endswith(".bias"):
            nn.init.zeros_(tensor)
        elif "norm" in name:
            nn.init.ones_(tensor)
        else:
            deep = name.endswith(("attention.out.weight", "mlp.down.weight"))
            scale = (2 * self.dimensions.layers) ** -0.5 if deep else 1.0
            nn.init.normal_(tensor, std=0.02 * scale, generator=generator)
