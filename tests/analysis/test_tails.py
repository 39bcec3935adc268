"""Percentiles of latency, and when they are refused."""

import random

import msgspec
import numpy as np
import pytest
from fakes.records import DECODE_TOKENS, fake_run
from scipy import stats

from study.analysis import reasons
from study.analysis.tails import P99_REQUESTS, latency, order_statistic, percentile


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


def test_the_least_number_of_requests_follows_from_the_binomial():
    """Below 368 values no order statistic bounds the p99 from above with 97.5 % confidence."""
    assert 1 - 0.99**P99_REQUESTS >= 0.975 > 1 - 0.99 ** (P99_REQUESTS - 1)


def test_p99_is_refused_below_the_least_number_of_requests():
    """With 367 requests a trial it is null with a reason, with 368 it is there."""
    few, enough = latency(decoding(P99_REQUESTS - 1)), latency(decoding(P99_REQUESTS))

    assert few.request_p99_s is None
    assert few.unknown == {"request_p99_s": reasons.FEW_REQUESTS}
    assert enough.request_p99_s.n == 5
    assert enough.unknown == {}


def test_the_interval_comes_from_the_trials():
    """The median of the first token: one median a trial, then a t interval on the five logs."""
    trials = decoding(20)
    medians = [np.median([v / 1e9 for v in readings[0].first_token_ns]) for readings in trials]
    logs = np.log(medians)
    low, high = stats.t.interval(0.95, 4, logs.mean(), stats.sem(logs))

    found = latency(trials).first_token_s

    assert found.value == pytest.approx(np.exp(logs.mean()))
    assert (found.low, found.high) == pytest.approx((np.exp(low), np.exp(high)))
    assert (found.n, found.unit) == (5, "s")


def test_a_request_waits_for_its_slowest_rank():
    """Latency of two ranks is the larger one of each step."""
    _, records = fake_run(blocks=1)
    (record,) = (r for r in records if r.cell.task == "infer" and r.cell.batch == 8)
    slow = msgspec.structs.replace(record.outcome.readings[1], first_token_ns=(10**9,) * 20)

    found = latency([(record.outcome.readings[0], slow)])

    assert found.first_token_s.value == pytest.approx(1.0)
    assert found.first_token_s.refusal == reasons.TOO_FEW


def test_requests_are_counted_over_all_trials():
    """Twenty steps in five trials are a hundred requests, and the percentiles are in order."""
    found = latency(decoding(20))

    assert found.requests == 100
    assert found.token_s.value * DECODE_TOKENS < 2 * found.request_p50_s.value
    assert found.request_p50_s.value < found.request_p90_s.value


def test_what_does_not_decode_has_no_latency():
    """Training has none, and neither has nothing."""
    _, records = fake_run(blocks=1)
    training = [r.outcome.readings for r in records if r.cell.task == "train"]

    assert latency(training) is None
    assert latency([]) is None
