"""Multiply-adds of one sample's forward pass, counted from a model's dimensions alone.

Twice as many are floating-point operations; training takes about three times the forward pass. Only
products of matrices and convolutions are counted, as is usual. Attention is counted in full, also where
a mask hides half of it: the convention of Chowdhery et al. 2022 (PaLM), appendix B. A head that shares
the embedding's weight is counted, the embedding's look-up is not.
"""

import math
from itertools import pairwise

from study.worker.models import bert, dlrm, gpt, resnet, unet, vit


def of_gpt(size: gpt.Dimensions, length: int) -> int:
    """Of a sequence of so many tokens, without a cache."""
    return _blocks(size.layers, size.width, length) + length * size.width * size.vocab


def of_bert(size: bert.Dimensions, length: int) -> int:
    """Of a sequence of so many tokens, with the logits of every position."""
    head = size.width**2 + size.width * size.vocab
    return _blocks(size.layers, size.width, length) + length * head


def of_vit(size: vit.Dimensions) -> int:
    """Of an image of the side that the model was made for."""
    patches = (size.length - 1) * 3 * size.patch**2 * size.width
    return patches + _blocks(size.layers, size.width, size.length) + size.width * size.classes


def of_resnet(size: resnet.Dimensions, side: int) -> int:
    """Of an image of so many pixels a side."""
    if size.small_stem:
        total = _convolution(3, size.width, 3, side)
    else:
        side = _half(side)
        total = _convolution(3, size.width, 7, side)
        side = _half(side)
    channels = size.width
    for stage, depth in enumerate(size.depths):
        width = size.width * 2**stage
        given = 4 * width if size.bottleneck else width
        for block in range(depth):
            strides = stage > 0 and block == 0
            before, side = side, _half(side) if strides else side
            if size.bottleneck:
                total += _convolution(channels, width, 1, before) + _convolution(width, width, 3, side)
                total += _convolution(width, given, 1, side)
            else:
                total += _convolution(channels, width, 3, side) + _convolution(width, given, 3, side)
            if strides or channels != given:
                total += _convolution(channels, given, 1, side)
            channels = given
    return total + channels * size.classes


def of_unet(size: unet.Dimensions, side: int) -> int:
    """Of an image of so many pixels a side."""
    widths = [size.width * factor for factor in size.factors]
    total = size.width * size.time_width + size.time_width**2 + _convolution(3, size.width, 3, side)
    skips, channels = [size.width], size.width
    for level, width in enumerate(widths):
        for _ in range(size.depth):
            total += _residual(size, channels, width, side, level in size.attention)
            skips.append(width)
            channels = width
        if level < len(widths) - 1:
            side = _half(side)
            total += _convolution(width, width, 3, side)
            skips.append(width)
    total += _residual(size, channels, channels, side, True) + _residual(
        size, channels, channels, side, False
    )
    for level, width in reversed(list(enumerate(widths))):
        for _ in range(size.depth + 1):
            total += _residual(size, channels + skips.pop(), width, side, level in size.attention)
            channels = width
        if level > 0:
            side *= 2
            total += _convolution(width, width, 3, side)
    return total + _convolution(channels, 3, 3, side)


def of_dlrm(size: dlrm.Dimensions) -> int:
    """Of a sample; the products of all pairs are made twice over, as the model makes them."""
    layers = [*pairwise(size.bottom_widths), *pairwise(size.top_widths)]
    return sum(math.prod(layer) for layer in layers) + (size.tables + 1) ** 2 * size.width


def _blocks(layers: int, width: int, length: int) -> int:
    """Transformer blocks, the MLP four times as wide: 12 width² a token, and two products of length²."""
    return layers * (12 * length * width**2 + 2 * length**2 * width)


def _convolution(taken: int, given: int, kernel: int, side: int) -> int:
    """Of a square kernel; `side` is that of what comes out."""
    return taken * given * kernel**2 * side**2


def _residual(size: unet.Dimensions, taken: int, given: int, side: int, attends: bool) -> int:
    """A residual block of the U-Net, and the attention after it."""
    total = _convolution(taken, given, 3, side) + _convolution(given, given, 3, side)
    total += size.time_width * given
    if taken != given:
        total += _convolution(taken, given, 1, side)
    if attends:
        total += 4 * _convolution(given, given, 1, side) + 2 * side**4 * given
    return total


def _half(side: int) -> int:
    """The side after a stride of two with padding: rounded up."""
    return (side + 1) // 2
