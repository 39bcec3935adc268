"""A recommendation model in the shape of DLRM (Naumov et al. 2019): large tables, little arithmetic.

A bottom MLP makes a vector of the numeric features, each categorical feature looks up rows of its own
table and adds them, all pairs of these vectors meet in a dot product, and a top MLP makes one logit of
the products and the bottom vector.

The MLPs are dense: every step reads and changes all of them. The tables are sparse (`sparse` names
them): a step reads only the rows that its samples ask for, although the gradient is stored as large as
the table, and is exchanged as such where each device holds a copy. `draw` is the authors' code's.

Copies are the only seam. To lay the tables out over devices, each with some whole tables, a strategy
would have to send every sample's indices to the devices that hold its tables, and to turn the results
from "all samples of my tables" into "all tables of my samples" by an all-to-all exchange before the
dot products, and back again for the gradients. No strategy here does that.
"""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from study.worker.models.seams import Seams

Inputs = tuple[Tensor, Tensor]
"""Numeric features (batch, numeric), and the rows to add up of each table (batch, tables, rows)."""


@dataclass(frozen=True, kw_only=True)
class Dimensions:
    """The sizes of a model.

    `tables` tables of `rows` rows are `width` wide; `bottom` and `top` are the widths of the MLPs' hidden
    layers. The bottom MLP ends at `width` and the top one at a single logit.
    """

    numeric: int
    tables: int
    rows: int
    width: int
    bottom: tuple[int, ...]
    top: tuple[int, ...]

    @property
    def pairs(self) -> int:
        """Dot products between the tables' vectors and the bottom one: every unordered pair."""
        return self.tables * (self.tables + 1) // 2

    @property
    def bottom_widths(self) -> tuple[int, ...]:
        """The bottom MLP from the numeric features to a vector."""
        return (self.numeric, *self.bottom, self.width)

    @property
    def top_widths(self) -> tuple[int, ...]:
        """The top MLP from the products and the bottom vector to a logit."""
        return (self.pairs + self.width, *self.top, 1)


class DLRM(nn.Module):
    """The whole model."""

    def __init__(self, dimensions: Dimensions) -> None:
        """Weights have their values once they are drawn."""
        super().__init__()
        size = self.dimensions = dimensions
        self.tables = nn.ModuleList(
            nn.EmbeddingBag(size.rows, size.width, mode="sum") for _ in range(size.tables)
        )
        self.bottom = _layers(size.bottom_widths)
        self.top = _layers(size.top_widths)
        self.sparse = tuple(f"tables.{i}" for i in range(size.tables))
        self.seams = Seams()

    def forward(self, inputs: Inputs) -> Tensor:
        """Numeric features and the rows to look up to logits (batch)."""
        x, indices = inputs
        for layer in self.bottom:
            x = functional.relu(layer(x))
        rows = [table(indices[:, i]).to(x.dtype) for i, table in enumerate(self.tables)]
        y = torch.cat([interaction(torch.stack([x, *rows], dim=1)), x], dim=1)
        for layer in self.top[:-1]:
            y = functional.relu(layer(y))
        return self.top[-1](y).squeeze(1)

    def draw(self, name: str, tensor: Tensor, generator: torch.Generator) -> None:
        """Xavier's normal for weights, deviation 1/sqrt(outputs) for biases, uniform for tables."""
        if name.startswith("tables"):
            bound = tensor.shape[0] ** -0.5
            nn.init.uniform_(tensor, -bound, bound, generator=generator)
        elif name.endswith("bias"):
            nn.init.normal_(tensor, std=tensor.shape[0] ** -0.5, generator=generator)
        else:
            nn.init.xavier_normal_(tensor, generator=generator)


def interaction(vectors: Tensor) -> Tensor:
    """Dot products of all unordered pairs: (batch, vectors, width) to (batch, pairs)."""
    products = vectors @ vectors.transpose(1, 2)
    first, second = torch.tril_indices(vectors.shape[1], vectors.shape[1], offset=-1, device=vectors.device)
    return products[:, first, second]


def click_loss(logits: Tensor, clicked: Tensor) -> Tensor:
    """Binary cross-entropy of (batch) logits against 0 and 1."""
    return functional.binary_cross_entropy_with_logits(logits, clicked.to(logits.dtype))


def _layers(widths: tuple[int, ...]) -> nn.ModuleList:
    return nn.ModuleList(nn.Linear(taken, given) for taken, given in pairwise(widths))
