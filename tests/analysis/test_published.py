"""The desk's arithmetic against published measurements and tables."""

import pytest
from fakes.records import Truth, cell, fake_run

from study.analysis import analyse, reasons
from study.analysis.intervals import estimate, of_cell, welch
from study.analysis.scaling import amdahl, karp_flatt, scaled_serial_fraction

STRONG = [
    "nvidia_bert_dgxa100_ph1_mixed",
    "nvidia_bert_dgxa100_ph1_tf32",
    "nvidia_bert_dgxa100_ph2_mixed",
    "nvidia_bert_dgxa100_ph2_tf32",
]
DLPERF = [
    "dlperf_ngc_rn50_fp32",
    "dlperf_ngc_rn50_amp",
    "dlperf_pytorch_rn50_dali",
    "dlperf_pytorch_rn50_dataloader",
    "dlperf_ngc_bert_fp32_b32",
    "dlperf_ngc_bert_amp_b64",
    "dlperf_ngc_bert_amp_b96",
]


def measured_series(rates_by_devices, scaling="weak", blocks=1):
    """A run whose only series has these rates, one a block, and its analysis."""
    truths = [
        Truth(
            cell=cell(
                "published",
                strategy="single" if n == 1 else "ddp",
                devices=n,
                batch=64 if scaling == "strong" else 64 * n,
            ),
            scaling=scaling,
            rate=1.0,
            unit="rows",
        )
        for n in rates_by_devices
    ]
    run, _ = fake_run(truths=truths, cores=2000, blocks=blocks)
    ids = dict(zip(rates_by_devices, (c.id for c in run.plan.cells), strict=True))
    rates = {ids[n]: several for n, several in rates_by_devices.items()}
    run, records = fake_run(truths=truths, cores=2000, blocks=blocks, rates=rates, steps=2)
    analysis = analyse(run, records)
    return {point.devices: point for point in analysis.series[0].points}, analysis


@pytest.mark.parametrize("name", [*STRONG, *DLPERF])
def test_published_speedups_are_reproduced(published, name):
    """Speed-ups of published throughputs, through the whole desk, to the printed digits; one run each,
    so no interval and no verdict."""
    data = published[name]
    rates = {n: [rate] for n, rate in zip(data["n"], data["throughput"], strict=True)}

    points, _ = measured_series(rates, scaling="strong" if name in STRONG else "weak")

    for n, speedup in zip(data["n"], data["published"]["speedup"], strict=True):
        assert points[n].speedup.value == pytest.approx(speedup, abs=data["tolerance"])
        assert points[n].efficiency.value == pytest.approx(points[n].speedup.value / n)
        assert points[n].speedup.low is None
        if n > 1:
            assert points[n].verdict.kind == "not_compared"


def test_published_weak_scaling_of_one_machine(published):
    """One and eight GPUs of one DGX A100: 7.91 and 7.89."""
    data = published["nvidia_bert_dgxa100_1_8"]

    for phase in ("ph1", "ph2"):
        one, eight = data[f"throughput_{phase}"]
        points, _ = measured_series({1: [one], 8: [eight]})
        assert points[8].speedup.value == pytest.approx(data["published"][f"speedup_{phase}"], abs=0.02)


@pytest.mark.parametrize("name", ["dlperf_ngc_rn50_amp", "dlperf_pytorch_rn50_dali"])
def test_intervals_of_published_trials(published, repeats_of, name):
    """Five to ten published trials a cell: the Welch interval of each speed-up, computed elsewhere.

    Points differ in the fourth digit: theirs are geometric means, ours total over total.
    """
    data = published[name]
    trials = {int(n): repeats_of(rates) for n, rates in data["trials"].items()}

    for n, computed in data["computed_ci"].items():
        found = estimate(welch(trials[int(n)], trials[1]))
        assert found.value == pytest.approx(computed["S"], rel=1e-3)
        assert (found.low, found.high) == pytest.approx(tuple(computed["ci95"]), abs=0.0015)


@pytest.mark.parametrize("name", ["dlperf_ngc_rn50_amp", "dlperf_pytorch_rn50_dali"])
def test_the_mean_of_published_trials_is_near_the_published_average(published, repeats_of, name):
    """Total over total, the harmonic mean, lies below the printed arithmetic mean by less than 0.2 %."""
    data = published[name]

    for n, average in data["published_average"].items():
        found = of_cell(repeats_of(data["trials"][n])).value
        assert 0.998 * average < found < average + 0.01


def test_published_trials_through_the_whole_desk(published):
    """Four GPUs of the AMP set, five trials each: 3.911 (3.885 to 3.936), clear, overhead 2.2 %."""
    trials = published["dlperf_ngc_rn50_amp"]["trials"]

    points, analysis = measured_series({1: trials["1"], 4: trials["4"]}, blocks=5)

    assert points[4].speedup.low == pytest.approx(3.885, abs=1e-3)
    assert points[4].speedup.high == pytest.approx(3.936, abs=1e-3)
    assert points[4].overhead.value == pytest.approx(1 - 3.911 / 4, abs=1e-3)
    assert points[4].verdict.kind == "clear"
    assert analysis.series[0].base_rate.value == pytest.approx(801.3, abs=0.1)


@pytest.mark.parametrize("name", ["karp_flatt_quinn_a", "karp_flatt_quinn_b"])
def test_karp_flatt_tables(published, name):
    """The two textbook tables: constant 0.100, and rising from 0.070 to 0.100."""
    data = published[name]

    found = [karp_flatt(s, n) for s, n in zip(data["speedup"], data["n"], strict=True)]

    assert found == pytest.approx(data["published"]["e"], abs=data["tolerance"])


def test_gustafson_1988(published):
    """Scaled speed-ups of 1,021, 1,020 and 1,016 on 1,024 processors: 0.3 to 0.8 % serial."""
    data = published["gustafson_1988"]

    found = [scaled_serial_fraction(s, data["n"]) for s in data["published"]["scaled_speedups"]]

    assert found == pytest.approx([3 / 1023, 4 / 1023, 8 / 1023])
    assert round(max(found), 3) == data["published"]["serial_fraction_range"][1]


def test_karp_flatt_inverts_amdahl():
    """The serial fraction of a speed-up that follows Amdahl's law is the one put in."""
    for n in (2, 4, 8, 64):
        assert karp_flatt(amdahl(0.07, n), n) == pytest.approx(0.07)


@pytest.mark.parametrize("name", ["megatron_tp_v100", "megatron_tp_a100"])
def test_megatron_tensor_parallel_efficiency(published, repeats_of, name):
    """Weak scaling with parameters as the unit of work: 89.6, 82.5, 74.3 % (V100), A100 alike."""
    data = published[name]
    cells = [
        repeats_of([params / milliseconds])
        for params, milliseconds in zip(data["params_b"], data["iter_ms"], strict=True)
    ]

    found = [100 * welch(of, cells[0]).value / n for of, n in zip(cells, data["n"], strict=True)]

    assert found == pytest.approx(data["published"]["scaling_pct"], abs=data["tolerance"])


def test_megatron_data_parallel_efficiency(published, repeats_of):
    """Model and data parallel runs against the one-GPU base: 93.3, 85.5, 79.0 and 72.7 %."""
    data = published["megatron_dp_a100"]
    base = repeats_of([data["base_params_b"] / data["base_iter_ms"]])
    cells = [repeats_of([p / t]) for p, t in zip(data["params_b"], data["iter_ms"], strict=True)]

    found = [100 * welch(of, base).value / mp for of, mp in zip(cells, data["mp"], strict=True)]

    assert found == pytest.approx(data["published"]["scaling_pct"], abs=data["tolerance"])


def test_async_tensor_parallel_ratios(published, repeats_of):
    """Six published ratios of A over B, 1.04 to 1.16."""
    data = published["torchtitan_asynctp"]

    found = [welch(repeats_of([a]), repeats_of([b])).value for a, b in zip(data["a"], data["b"], strict=True)]

    assert found == pytest.approx(data["published"]["speedup"], abs=data["tolerance"])


def test_an_impossible_published_speedup_is_refused(published):
    """A speed-up of 190 on four GPUs is not stated: neither estimate nor verdict, but a reason."""
    data = published["lambda_anomaly_ncf"]
    rates = {n: [rate] for n, rate in zip(data["n"], data["throughput"], strict=True)}

    points, analysis = measured_series(rates)

    assert points[4].speedup is None
    assert points[4].efficiency is None
    assert points[4].unknown["speedup"] == reasons.IMPLAUSIBLE
    assert points[4].verdict.reason == points[4].unknown["speedup"]
    assert points[4].rate is not None
    assert all("speedup" not in finding.sentence.slots for finding in analysis.findings)


def test_a_speedup_above_the_devices_without_repeats_is_not_called_superlinear(published):
    """BERT on two nodes, 2.02: one run each, so it is neither superlinear nor linear."""
    data = published["nvidia_bert_dgxa100_ph1_mixed"]
    rates = {n: [rate] for n, rate in zip(data["n"][:2], data["throughput"], strict=False)}

    points, _ = measured_series(rates, scaling="strong")

    assert points[2].speedup.value > 2
    assert points[2].verdict.reason == "Fewer than three trials were measured, so no interval is given."
