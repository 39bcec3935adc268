"""Bytes of parallel training, bus bandwidth, and the model of data-parallel scaling."""

import math

import pytest

from study.analysis.traffic import (
    all_reduce_s,
    buckets,
    bus_bandwidth,
    bus_factor,
    data_parallel_bytes,
    data_parallel_speedup,
    data_parallel_step_s,
    hiding_batch,
    pipeline_bytes,
    sharded_bytes,
    tensor_parallel_bytes,
)

BERT_LARGE = 1.34e9
"""Bytes of BERT-large's gradients in FP32."""


def test_published_bus_bandwidths(published):
    """32 ranks: 0.92 GB/s at 32 KiB to 94 GB/s at 1 GiB."""
    data = published["busbw_stas_32"]

    found = [bus_bandwidth(rate, 1.0, "all_reduce", data["n"]) for rate in data["algbw"]]

    assert found == pytest.approx(data["published"]["busbw"], abs=data["tolerance"])


@pytest.mark.parametrize(
    ("collective", "factor"),
    [
        ("all_reduce", 1.5),
        ("reduce_scatter", 0.75),
        ("all_gather", 0.75),
        ("all_to_all", 0.75),
        ("broadcast", 1.0),
        ("reduce", 1.0),
    ],
)
def test_bus_factors_on_four_ranks(collective, factor):
    """As nccl-tests defines them; bytes over seconds times the factor."""
    assert bus_factor(collective, 4) == factor
    assert bus_bandwidth(8e9, 2.0, collective, 4) == 4e9 * factor


@pytest.mark.parametrize(("bytes_per_s", "milliseconds"), [(20e9, 67), (45e9, 30)])
def test_bert_large_on_two_devices(bytes_per_s, milliseconds):
    """1.34 GB of gradients: 67 ms at 20 GB/s, 30 ms at 45."""
    found = all_reduce_s(BERT_LARGE, 2, bytes_per_s=bytes_per_s)

    assert 1e3 * found == pytest.approx(milliseconds, abs=0.5)


def test_every_bucket_pays_the_latency_of_every_hop():
    """Four ranks, ten buckets, 5 µs: six hops each; the volume is 1.5 of the payload."""
    found = all_reduce_s(1e9, 4, bytes_per_s=10e9, latency_s=5e-6, buckets=10)

    assert found == pytest.approx(0.15 + 6 * 5e-6 * 10)
    assert data_parallel_bytes(1e9, 4) == 1.5e9


def test_what_cannot_hide_behind_the_backward_pass_is_paid():
    """t = t_1 + max(0, t_ar - (1 - 1/k) t_bwd): 100 ms, 60 backward, 90 of all-reduce, 4 buckets."""
    step_s = data_parallel_step_s(alone_s=0.1, backward_s=0.06, all_reduce_s=0.09, buckets=4)
    hidden = data_parallel_step_s(alone_s=0.1, backward_s=0.06, all_reduce_s=0.044, buckets=4)
    one = data_parallel_step_s(alone_s=0.1, backward_s=0.06, all_reduce_s=0.044, buckets=1)

    assert step_s == pytest.approx(0.145)
    assert hidden == 0.1
    assert one == pytest.approx(0.144)
    assert data_parallel_speedup(2, alone_s=0.1, step_s=step_s) == pytest.approx(2 / 1.45)


def test_gradients_fill_buckets_of_25_mib():
    """BERT-large fills 52; a tiny model one."""
    assert buckets(BERT_LARGE) == 52
    assert buckets(1000) == 1


def test_from_some_batch_on_all_communication_hides():
    """30 ms of all-reduce behind 2 ms of backward a sample and four buckets: from 20 samples on."""
    batch = hiding_batch(all_reduce_s=0.03, backward_s_per_sample=0.002, buckets=4)

    assert batch == pytest.approx(20)
    exact = {"alone_s": 1.0, "all_reduce_s": 0.03, "buckets": 4}
    assert data_parallel_step_s(**exact, backward_s=0.002 * batch) == pytest.approx(1.0)
    assert hiding_batch(all_reduce_s=0.03, backward_s_per_sample=0.002, buckets=1) == math.inf


def test_sharded_parameters_send_half_as_much_again():
    """3 (n - 1)/n against 2 (n - 1)/n."""
    assert sharded_bytes(1e9, 8) == pytest.approx(3 * 7 / 8 * 1e9)
    assert sharded_bytes(1e9, 8) == pytest.approx(1.5 * data_parallel_bytes(1e9, 8))


def test_tensor_parallel_sends_four_all_reduces_a_layer():
    """8 b s h (t - 1)/t elements a layer, half as much again with recomputation; none on one rank."""
    shape = {"layers": 24, "batch": 8, "sequence": 1024, "width": 1024, "element_bytes": 2}

    found = tensor_parallel_bytes(**shape, ranks=4)

    assert found == 24 * 8 * (8 * 1024 * 1024) * 2 * 3 / 4
    assert tensor_parallel_bytes(**shape, ranks=4, recompute=True) == 1.5 * found
    assert tensor_parallel_bytes(**shape, ranks=1) == 0


def test_a_pipeline_sends_activations_forward_and_their_gradients_back():
    """2 b s h elements over each boundary in a step."""
    assert pipeline_bytes(batch=8, sequence=1024, width=1024, element_bytes=2) == 2 * 8 * 1024 * 1024 * 2
