"""Percentiles of latency, and when they are refused."""

import random

import msgspec
import numpy as np
import pytest
from fakes.records import DECODE_TOKENS, cell, fake_run
from scipy import stats

from study.analysis import reasons
from study.analysis.tails import P90_REQUESTS, P99_REQUESTS, latency, order_statistic, percentile

ONE = cell(task="infer")
REPLICAS = cell(task="infer", strategy="ddp", devices=2)
TOGETHER = cell(task="infer", strategy="tp", devices=2)


def decoding(steps: int, blocks: int = 5):
    """The readings of every trial of the cell that decodes on one device."""
    _, records = fake_run(blocks=blocks, steps=steps)
    return [r.outcome.readings for r in records if r.cell.task == "infer" and r.cell.batch == 4]


def test_p99_is_the_order_statistic():
    """Of 1 to 1000 it is the 990th value, of 1 to 368 the 365th: the ceiling of 0.99 n."""
    values = list(range(1, 1001))
    random.Random(1).shuffle(values)

    assert order_statistic(values, 0.99) == 990
    assert order_statistic(range(1, 369), 0.99) == 365


def test_the_median_is_unbiased_between_order_statistics():
    """Hyndman-Fan type 8: at p = 0.9 of ten values the position is 1/3 + 0.9 (10 + 1/3) = 9.6333."""
    assert percentile(range(1, 11), 0.9) == pytest.approx(1 / 3 + 0.9 * (10 + 1 / 3))
    assert percentile([3, 1, 2], 0.5) == 2


@pytest.mark.parametrize(("share", "least"), [(0.9, P90_REQUESTS), (0.99, P99_REQUESTS)])
def test_the_least_number_of_requests_follows_from_the_binomial(share, least):
    """Below that no order statistic bounds the percentile from above with 97.5 % confidence."""
    assert 1 - share**least >= 0.975 > 1 - share ** (least - 1)


def test_p99_is_refused_below_the_least_number_of_requests():
    """With 367 requests a trial it is null with a reason, with 368 it is there."""
    few, enough = latency(ONE, decoding(P99_REQUESTS - 1)), latency(ONE, decoding(P99_REQUESTS))

    assert few.request_p99_s is None
    assert few.unknown == {"request_p99_s": reasons.FEW_REQUESTS}
    assert enough.request_p99_s.n == 5
    assert enough.unknown == {}


def test_p90_is_refused_below_the_least_number_of_requests():
    """With 35 requests a trial it is null with a reason, with 36 it is there."""
    few, enough = latency(ONE, decoding(P90_REQUESTS - 1)), latency(ONE, decoding(P90_REQUESTS))

    assert few.request_p90_s is None
    assert few.unknown == dict.fromkeys(("request_p90_s", "request_p99_s"), reasons.FEW_REQUESTS)
    assert enough.request_p90_s.n == 5
    assert enough.unknown == {"request_p99_s": reasons.FEW_REQUESTS}


def test_the_interval_comes_from_the_trials():
    """The median of the first token: one median a trial, then a t interval on the five logs."""
    trials = decoding(20)
    medians = [np.median([v / 1e9 for v in readings[0].first_token_ns]) for readings in trials]
    logs = np.log(medians)
    low, high = stats.t.interval(0.95, 4, logs.mean(), stats.sem(logs))

    found = latency(ONE, trials).first_token_s

    assert found.value == pytest.approx(np.exp(logs.mean()))
    assert (found.low, found.high) == pytest.approx((np.exp(low), np.exp(high)))
    assert (found.n, found.unit) == (5, "s")


def ranks_of_other_pace():
    """Two ranks of one trial: twenty requests of 0.1 s each, and of 0.1 and 0.3 s in turn."""
    _, records = fake_run(blocks=1)
    (record,) = (r for r in records if r.cell.task == "infer" and r.cell.batch == 8)
    even, uneven = (10**8,) * 20, (10**8, 3 * 10**8) * 10
    return tuple(
        msgspec.structs.replace(reading, first_token_ns=times, token_ns=times, step_ns=times)
        for reading, times in zip(record.outcome.readings, (even, uneven), strict=True)
    )


def test_requests_of_independent_replicas_do_not_wait_for_one_another():
    """Replicas answer requests of their own: of forty requests, thirty take 0.1 s, so the median does."""
    found = latency(REPLICAS, [ranks_of_other_pace()])

    assert found.requests == 40
    assert found.first_token_s.value == found.request_p50_s.value == pytest.approx(0.1)
    assert found.request_p90_s.value == pytest.approx(0.3)
    assert found.first_token_s.refusal == reasons.TOO_FEW


def test_a_group_that_answers_together_waits_for_its_slowest_rank():
    """One answer of all ranks: of twenty requests, ten take 0.1 s and ten 0.3 s."""
    found = latency(TOGETHER, [ranks_of_other_pace()])

    assert found.requests == 20
    assert found.first_token_s.value == pytest.approx(0.2)
    assert found.request_p90_s is None


def test_replicas_at_one_pace_have_the_latency_of_one():
    """The largest of several equal replicas would be longer by chance alone; a pooled median is not."""
    chance = random.Random(5)
    _, records = fake_run(blocks=1)
    reading = next(r for r in records if r.cell.task == "infer" and r.cell.batch == 4).outcome.readings[0]

    def rank():
        times = tuple(round(10**8 * chance.lognormvariate(0.0, 0.2)) for _ in range(400))
        return msgspec.structs.replace(reading, first_token_ns=times, token_ns=times, step_ns=times)

    ranks = tuple(rank() for _ in range(4))

    assert latency(REPLICAS, [ranks]).request_p50_s.value == pytest.approx(0.1, rel=0.03)
    assert latency(TOGETHER, [ranks]).request_p50_s.value > 0.115


def test_requests_are_counted_over_all_trials():
    """Forty steps in five trials are two hundred requests, and the percentiles are in order."""
    found = latency(ONE, decoding(40))

    assert found.requests == 200
    assert found.token_s.value * DECODE_TOKENS < 2 * found.request_p50_s.value
    assert found.request_p50_s.value < found.request_p90_s.value


def test_what_does_not_decode_has_no_latency():
    """Training has none, and neither has nothing."""
    _, records = fake_run(blocks=1)
    training = [r.outcome.readings for r in records if r.cell.task == "train"]

    assert latency(ONE, training) is None
    assert latency(ONE, []) is None
