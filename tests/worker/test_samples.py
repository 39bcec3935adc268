"""Made-up data: the same for any number of ranks, different from sample to sample, learnable."""

from itertools import pairwise

import pytest
import torch

from study.domain.trial import Cell
from study.worker.accelerators import cpu
from study.worker.contracts import Place
from study.worker.samples import (
    click_batches,
    image_batches,
    masked_batches,
    noise_batches,
    times,
    token_batches,
)
from study.worker.strategies import single


def standing(share: range, seed: int = 1) -> Place:
    """A place whose global batch has eight samples."""
    cell = Cell(
        workload="",
        size="",
        task="train",
        strategy="",
        accelerator="cpu",
        devices=1,
        precision="fp32",
        batch=8,
        threads_per_device=1,
    )
    return Place(
        cell=cell,
        seed=seed,
        rank=0,
        world_size=1,
        device=torch.device("cpu"),
        accelerator=cpu,
        share=share,
        counted=len(share),
        strategy=single,
    )


def test_ranks_hold_together_what_one_rank_holds():
    """Shares of tokens and images, put together, are the global batch bit for bit."""
    whole, halves = standing(range(8)), [standing(range(4)), standing(range(4, 8))]

    tokens = [token_batches(place, length=9, vocab=50) for place in halves]
    images = [image_batches(place, side=8, classes=5) for place in halves]

    for i, batch in enumerate(token_batches(whole, length=9, vocab=50)):
        assert torch.equal(torch.cat([half[i] for half in tokens]), batch)
    for i, (pixels, labels) in enumerate(image_batches(whole, side=8, classes=5)):
        assert torch.equal(torch.cat([half[i][0] for half in images]), pixels)
        assert torch.equal(torch.cat([half[i][1] for half in images]), labels)


def test_the_seed_decides_the_data():
    """One seed gives one set of data, another seed another."""
    one, same, other = (token_batches(standing(range(8), seed), length=9, vocab=50) for seed in (1, 1, 2))

    assert all(torch.equal(a, b) for a, b in zip(one, same, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_each_token_decides_the_next():
    """A symbol is followed by the same symbol wherever it stands, so there is something to learn."""
    follows: dict[int, set[int]] = {}
    for batch in token_batches(standing(range(8)), length=40, vocab=500):
        for row in batch.tolist():
            for token, successor in pairwise(row):
                follows.setdefault(token, set()).add(successor)

    assert len(follows) == 32
    assert all(len(successors) == 1 for successors in follows.values())


def test_images_of_a_class_share_a_colour():
    """Mean colours are nearer within a class than noise alone would put different classes."""
    pixels, labels = (
        torch.cat(parts) for parts in zip(*image_batches(standing(range(8)), side=16, classes=3), strict=True)
    )

    means = pixels.mean(dim=(2, 3))
    for label in labels.unique():
        assert means[labels == label].std(dim=0, correction=0).max().item() < 0.15
    assert pixels.std(dim=(2, 3)).mean().item() == pytest.approx(0.5, rel=0.05)


def test_ranks_hold_together_the_other_pools_too():
    """Masked words, noise, times and clicks of two shares are those of one rank, bit for bit."""

    def pools(place: Place) -> list[torch.Tensor]:
        masked = masked_batches(place, length=20, vocab=50, unmasked=-1)
        clicked = click_batches(place, numeric=3, tables=2, rows=9, lookups=2)
        noise = noise_batches(place, side=8)
        tensors = [tensor for pair in masked for tensor in pair]
        tensors += [tensor for (numeric, rows), clicks in clicked for tensor in (numeric, rows, clicks)]
        return [*tensors, *noise, times(place, steps=1000)]

    first, second = pools(standing(range(4))), pools(standing(range(4, 8)))

    for whole, *halves in zip(pools(standing(range(8))), first, second, strict=True):
        assert torch.equal(torch.cat(halves), whole)


def test_as_many_words_are_masked_in_every_sample():
    """15 % of the positions have a target, which is the word that stood there; most of them are the mask."""
    place = standing(range(8))
    plain = token_batches(place, length=100, vocab=49)

    masked = stayed = 0
    for (tokens, targets), truth in zip(
        masked_batches(place, length=100, vocab=50, unmasked=-1), plain, strict=True
    ):
        chosen = targets != -1
        assert chosen.sum(dim=1).tolist() == [15] * 8
        assert torch.equal(targets[chosen], truth[chosen])
        assert torch.equal(tokens[~chosen], truth[~chosen])
        masked += (tokens[chosen] == 49).sum().item()
        stayed += (tokens[chosen] == truth[chosen]).sum().item()

    assert masked / 480 == pytest.approx(0.8, abs=0.05)
    assert stayed / 480 == pytest.approx(0.1, abs=0.05)


def test_clicks_can_be_told_from_the_features():
    """A plane through nothing divides the clicks from the rest, in every batch the same ones."""
    batches = click_batches(standing(range(8)), numeric=12, tables=2, rows=9, lookups=3)

    (first, rows), clicks = batches[0]
    direction = (2 * clicks - 1).float() @ first
    for (numeric, _), again in batches:
        assert torch.equal((numeric @ direction > 0).long(), clicks)
        assert torch.equal(again, clicks)
    assert rows.shape == (8, 2, 3)
    assert 0 <= rows.min() <= rows.max() < 9
