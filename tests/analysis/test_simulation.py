"""The stated error rates, held against simulated studies whose truth is known. All seeds are fixed."""

import math
import random

import numpy as np
import pytest
from fakes.records import Truth, cell, fake_run
from scipy import stats

from study.analysis import analyse
from study.analysis.intervals import Repeats, estimate, of_cell, paired, welch

STUDIES = 3000


def trials(generator, rate, cv, count):
    """One cell: windows of a second or so, every launch with a rate of its own (the trial effect)."""
    rates = rate * np.exp(generator.normal(0.0, cv, count))
    wall_s = generator.uniform(0.9, 1.1, count)
    return Repeats(
        trials=tuple(map(str, range(count))),
        blocks=tuple(range(count)),
        work=tuple(int(w) for w in rates * wall_s * 1e6),
        wall_s=tuple(float(w) * 1e6 for w in wall_s),
    )


@pytest.mark.parametrize("count", [3, 5, 7])
@pytest.mark.parametrize("cv", [0.005, 0.05])
def test_the_interval_of_a_rate_covers_as_stated(count, cv):
    """In 93 to 97 % of studies the 95 % interval contains the true rate, at any number of trials."""
    generator = np.random.default_rng([count, round(cv * 1000)])

    hits = 0
    for _ in range(STUDIES):
        found = estimate(of_cell(trials(generator, 400.0, cv, count)))
        hits += found.low <= 400.0 <= found.high

    assert 0.93 <= hits / STUDIES <= 0.97


@pytest.mark.parametrize("count", [3, 5, 7])
@pytest.mark.parametrize("cvs", [(0.01, 0.01), (0.004, 0.012)])
def test_the_interval_of_a_speedup_covers_as_stated(count, cvs):
    """The same for the speed-up, with equal spreads and with the spread growing with devices."""
    generator = np.random.default_rng([count, round(cvs[1] * 1000)])

    hits = 0
    for _ in range(STUDIES):
        one, two = (trials(generator, rate, cv, count) for rate, cv in zip((400.0, 648.0), cvs, strict=True))
        found = estimate(welch(two, one))
        hits += found.low <= 1.62 <= found.high

    assert 0.93 <= hits / STUDIES <= 0.97


@pytest.mark.parametrize("count", [3, 5, 7])
def test_the_paired_interval_covers_as_stated_under_drift(count):
    """Paired by block, with blocks that drift by 3 %: 93 to 97 %."""
    generator = np.random.default_rng(count)

    hits = 0
    for _ in range(STUDIES):
        drift = np.exp(generator.normal(0.0, 0.03, count))
        a, b = (trials(generator, rate, 0.005, count) for rate in (105.0, 100.0))
        a, b = (
            Repeats(
                trials=side.trials,
                blocks=side.blocks,
                work=side.work,
                wall_s=tuple(w / d for w, d in zip(side.wall_s, drift, strict=True)),
            )
            for side in (a, b)
        )
        found = estimate(paired(a, b))
        hits += found.low <= 1.05 <= found.high

    assert 0.93 <= hits / STUDIES <= 0.97


def a_a_study(seed, factor=1.0):
    """Three names for one configuration, the last one `factor` times the others, while blocks drift."""
    chance = random.Random(seed)
    drift = [math.exp(chance.gauss(0.0, 0.01)) for _ in range(5)]
    truths = [
        Truth(
            cell=cell(variant=name),
            scaling="strong",
            rate=4000.0 * (factor if name == "c" else 1.0),
            unit="tokens",
            work_per_sample=64,
            cv=0.005,
        )
        for name in ("a", "b", "c")
    ]
    return analyse(*fake_run(truths=truths, seed=seed, steps=4, drift=lambda block: drift[block - 1]))


def test_equal_variants_are_told_apart_no_more_often_than_stated():
    """In 200 studies of one configuration under three names at most 5 % find any difference.

    The bound is the 99.9 % point of the binomial distribution with the stated rate.
    """
    false_alarms = 0
    for seed in range(200):
        kinds = {comparison.verdict.kind for comparison in a_a_study(seed).comparisons}
        false_alarms += bool(kinds & {"clear", "small"})

    assert false_alarms <= stats.binom.ppf(0.999, 200, 0.05)


def test_a_true_difference_of_a_tenth_is_found():
    """Ten percent at a spread of half a percent: clear in every one of thirty studies, the other pair not."""
    for seed in range(30):
        found = {c.level_a: c.verdict for c in a_a_study(seed, factor=1.10).comparisons}
        assert (found["c"].kind, found["c"].direction) == ("clear", "faster")
        assert found["b"].kind != "clear"


def test_the_speedups_of_a_study_are_found():
    """The quick study with ten seeds: its true speed-ups lie in nearly all of the fifty intervals."""
    truths = {
        "gpt-train": 1.62,
        "resnet-train": 1.90,
        "gpt-infer": 1.85,
        "resnet-infer": 1.40,
        "sleep-check": 1 / 0.55,
    }

    hits = 0
    for seed in range(10):
        for series in analyse(*fake_run(seed=seed, steps=3)).series:
            speedup = series.points[1].speedup
            hits += speedup.low <= truths[f"{series.workload}-{series.task}"] <= speedup.high

    assert hits >= stats.binom.ppf(0.001, 50, 0.95)
