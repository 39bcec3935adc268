"""What the encoders share: attention in which every position sees every other, and the MLP beside it."""

from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Self-attention without a mask. `qkv` is ordered by head: a column split keeps heads whole."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.head_width = width // heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, width) to the same shape."""
        batch, length, _ = x.shape
        # (batch, length, heads, 3, head width); heads is left open for ranks that hold only some.
        qkv = self.qkv(x).view(batch, length, -1, 3, self.head_width)
        q, k, v = (qkv[:, :, :, i].transpose(1, 2) for i in range(3))
        y = functional.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(batch, length, -1))


class MLP(nn.Module):
    """Two linear layers, four times as wide between them, around an exact GELU."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(functional.gelu(self.up(x)))
