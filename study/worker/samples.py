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


def masked_batches(place: Place, *, length: int, vocab: int, unmasked: int) -> list[tuple[Tensor, Tensor]]:
    """A pool of (samples of this rank, length) tokens, some of them masked, with what they were.

    Of `token_batches` 15 % are to be predicted, as many in every sample; of these 80 % become the mask (the
    last word of the vocabulary), 10 % any word, and 10 % stay (Devlin et al. 2019, appendix A.1). The target
    of all others is `unmasked`.
    """
    drawn, device, share = _drawing(place), place.device, place.share
    hidden = max(1, round(0.15 * length))
    pool = []
    for index, tokens in enumerate(token_batches(place, length=length, vocab=vocab - 1)):
        lots, fates = torch.rand((2, place.cell.batch, length), generator=drawn("mask", index), device=device)
        words = torch.randint(
            vocab - 1, (place.cell.batch, length), generator=drawn("word", index), device=device
        )
        lots, fates, words = (of[share.start : share.stop] for of in (lots, fates, words))
        chosen = lots.argsort(dim=1).argsort(dim=1) < hidden
        seen = torch.where(chosen & (fates < 0.8), vocab - 1, tokens)
        seen = torch.where(chosen & (fates >= 0.9), words, seen)
        pool.append((seen, torch.where(chosen, tokens, unmasked)))
    return pool


def noise_batches(place: Place, *, side: int) -> list[Tensor]:
    """A pool of normal noise of the shape of images: (samples of this rank, 3, side, side)."""
    drawn = _drawing(place)
    pool = []
    for index in range(POOL):
        noise = torch.empty((len(place.share), 3, side, side), device=place.device)
        for image, sample in zip(noise, place.share, strict=True):
            image.normal_(generator=drawn("added noise", index, sample))
        pool.append(noise)
    return pool


def times(place: Place, *, steps: int) -> Tensor:
    """A random time below `steps` for each sample of this rank: (samples)."""
    drawn = _drawing(place)("times")
    found = torch.randint(steps, (place.cell.batch,), generator=drawn, device=place.device)
    return found[place.share.start : place.share.stop]


def click_batches(
    place: Place, *, numeric: int, tables: int, rows: int, lookups: int
) -> list[tuple[tuple[Tensor, Tensor], Tensor]]:
    """A pool of features (samples of this rank, numeric) and rows (samples, tables, lookups), with clicks.

    The numeric features tell a click from none; every row is asked for as often as any other.
    """
    drawn, device, share = _drawing(place), place.device, place.share
    mine = slice(share.start, share.stop)
    direction = torch.randn(numeric, generator=drawn("direction"), device=device)
    # The same clicks in every batch, so that losses of a small batch can be compared with each other.
    clicks = torch.randint(2, (place.cell.batch,), generator=drawn("clicks"), device=device)[mine]
    pool = []
    for index in range(POOL):
        batch = place.cell.batch
        features = torch.randn((batch, numeric), generator=drawn("features", index), device=device)[mine]
        features = 0.5 * features + (2 * clicks[:, None] - 1) * direction
        asked = torch.randint(rows, (batch, tables, lookups), generator=drawn("rows", index), device=device)[
            mine
        ]
        pool.append(((features, asked), clicks))
    return pool


def _drawing(place: Place) -> Callable[..., torch.Generator]:
    """A generator of its own for each thing that is drawn, on the device.

    torch's CPU generator uses only 32 bits of its seed, so the parts are hashed together first.
    """

    def drawn(*what: object) -> torch.Generator:
        mixed = random.Random(repr((place.seed, *what))).getrandbits(32)  # noqa: S311 - samples, not secrets
        return torch.Generator(place.device).manual_seed(mixed)

    return drawn
