"""Made-up training data: drawn on the device from the seed, the same for any number of ranks, and learnable.

A sample depends on the seed and on its index in the global batch alone, so ranks that share a batch
hold together what one rank alone would hold. A pool of a few batches is made before the warm-up and
used in turn: no reading, decoding or copying is part of what is measured.

What is to be learnt is easy on purpose. A loss that does not fall within some ten steps then means
broken training (wrong gradients, a diverged precision), not a hard problem.
"""

import random
from collections.abc import Callable

import torch
from torch import Tensor

from study.worker.contracts import Place

POOL = 4
ALPHABET = 32
LOOKS = 8


def token_batches(place: Place, *, length: int, vocab: int) -> list[Tensor]:
    """A pool of (samples of this rank, length) token indices: symbols that follow each other in one order."""
    drawn, device, share = _drawing(place), place.device, place.share
    size = min(vocab, ALPHABET)
    alphabet = torch.randperm(vocab, generator=drawn("alphabet"), device=device)[:size]
    places = torch.arange(length, device=device)
    pool = []
    for index in range(POOL):
        starts = torch.randint(size, (place.cell.batch, 1), generator=drawn("start", index), device=device)
        pool.append(alphabet[(starts[share.start : share.stop] + places) % size])
    return pool


def image_batches(place: Place, *, side: int, classes: int) -> list[tuple[Tensor, Tensor]]:
    """A pool of images (samples of this rank, 3, side, side) with labels: noise around a class's colour."""
    drawn, device, share = _drawing(place), place.device, place.share
    looks = min(classes, LOOKS)
    colours = torch.randn((looks, 3, 1, 1), generator=drawn("colours"), device=device)
    # The same labels in every batch, so that losses of a small batch can be compared with each other.
    labels = torch.randint(looks, (place.cell.batch,), generator=drawn("labels"), device=device)
    labels = labels[share.start : share.stop]
    pool = []
    for index in range(POOL):
        images = torch.empty((len(share), 3, side, side), device=device)
        for image, sample in zip(images, share, strict=True):
            image.normal_(generator=drawn("noise", index, sample))
        pool.append((images.mul_(0.5).add_(colours[labels]), labels))
    return pool


def _drawing(place: Place) -> Callable[..., torch.Generator]:
    """A generator of its own for each thing that is drawn, on the device.

    torch's CPU generator uses only 32 bits of its seed, so the parts are hashed together first.
    """

    def drawn(*what: object) -> torch.Generator:
        mixed = random.Random(repr((place.seed, *what))).getrandbits(32)  # noqa: S311 - samples, not secrets
        return torch.Generator(place.device).manual_seed(mixed)

    return drawn
