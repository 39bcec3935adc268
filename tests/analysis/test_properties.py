"""What must hold for any numbers: scale, symmetry, order, independence of cells, missing is not zero."""

import math

import msgspec
import pytest
from fakes.records import failed, fake_run, quick_truths
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from study.analysis import analyse
from study.analysis.desk import computed
from study.analysis.intervals import Repeats, estimate, of_cell, p_value, paired, welch
from study.analysis.scaling import karp_flatt
from study.analysis.tails import order_statistic, percentile
from study.analysis.verdicts import holm, judge
from study.domain.record import Measured

RATE = st.floats(min_value=1e-2, max_value=1e5)
RATES = st.lists(RATE, min_size=3, max_size=8)
CALM = settings(deadline=None)
FEW = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def cell(rates):
    """Repeats with these rates."""
    return Repeats(
        trials=tuple(map(str, range(len(rates)))),
        blocks=tuple(range(len(rates))),
        work=(10**12,) * len(rates),
        wall_s=tuple(1e12 / rate for rate in rates),
    )


def close(a, b):
    """Equal but for rounding."""
    return math.isclose(a, b, rel_tol=1e-6)


@CALM
@given(RATES, st.floats(min_value=1e-3, max_value=1e3))
def test_another_unit_scales_estimate_and_interval_alike(rates, factor):
    """Seconds or hours: value and ends are multiplied, nothing else changes."""
    before, after = estimate(of_cell(cell(rates))), estimate(of_cell(cell([r * factor for r in rates])))

    for end in ("value", "low", "high"):
        assert close(getattr(after, end), factor * getattr(before, end))


@CALM
@given(RATES, RATES, st.floats(min_value=1e-3, max_value=1e3))
def test_a_ratio_knows_no_unit(a, b, factor):
    """Scaling both sides leaves ratio, interval and p."""
    before, after = (
        welch(cell(a), cell(b)),
        welch(cell([x * factor for x in a]), cell([x * factor for x in b])),
    )

    assert close(before.value, after.value)
    assert math.isclose(before.error, after.error, rel_tol=1e-6, abs_tol=1e-12)


@CALM
@given(RATES, RATES)
def test_swapping_sides_inverts_the_ratio(a, b):
    """Welch and paired: value and ends are inverted and change places, p stays."""
    for compare in (welch, paired):
        there, back = compare(cell(a), cell(b)), compare(cell(b), cell(a))
        assert close(there.value * back.value, 1.0)
        shown, swapped = estimate(there), estimate(back)
        if shown.low > 1e-100:
            assert close(shown.low * swapped.high, 1.0)
        assert math.isclose(p_value(there), p_value(back), rel_tol=1e-6, abs_tol=1e-12)


@CALM
@given(RATES)
def test_the_interval_is_in_order_around_the_geometric_mean(rates):
    """low <= geometric mean <= high."""
    found = estimate(of_cell(cell(rates)))
    geometric = math.exp(math.fsum(map(math.log, rates)) / len(rates))

    assert found.low <= geometric * (1 + 1e-9)
    assert geometric <= found.high * (1 + 1e-9)


@CALM
@given(RATES, st.floats(min_value=0.5, max_value=0.95), st.floats(min_value=0.951, max_value=0.9999))
def test_a_higher_level_never_narrows_the_interval(rates, less, more):
    """More confidence costs width."""
    narrow, wide = (estimate(of_cell(cell(rates)), level=level) for level in (less, more))

    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@CALM
@given(st.lists(st.floats(min_value=0, max_value=1), max_size=12))
def test_holm_never_lowers_a_p_and_keeps_their_order(p_values):
    """Adjusted values are at least the raw ones, at most one, and ranked alike."""
    adjusted = holm(p_values)

    assert all(raw <= new <= 1 for raw, new in zip(p_values, adjusted, strict=True))
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [adjusted[i] for i in ranked] == sorted(adjusted)


@CALM
@given(RATES, RATES, st.integers(min_value=1, max_value=10))
def test_a_larger_family_never_makes_a_claim_bolder(a, b, others):
    """What is not clear alone is not clear among more comparisons."""
    ratio = welch(cell(a), cell(b))
    (alone,) = judge("f", [ratio], 0.02)

    among = judge("f", [ratio] * (others + 1), 0.02)[0]

    if among.kind == "clear":
        assert alone.kind == "clear"
    if alone.kind in ("open", "same"):
        assert among.kind in ("open", "same")


@CALM
@given(st.floats(min_value=0.1, max_value=64), st.integers(min_value=2, max_value=64))
def test_karp_flatt_falls_as_the_speedup_rises(speedup, devices):
    """Linear is zero, none is one, and a better speed-up is a smaller serial fraction."""
    assert karp_flatt(devices, devices) == pytest.approx(0, abs=1e-12)
    assert karp_flatt(1, devices) == pytest.approx(1)
    assert karp_flatt(speedup * 1.01, devices) < karp_flatt(speedup, devices)


@CALM
@given(st.lists(st.integers(min_value=1, max_value=10**12), min_size=1, max_size=500))
def test_percentiles_lie_within_the_data_and_in_order(values):
    """p50 <= p90, both within the data; the p99 is one of the values and not exceeded by 99 %."""
    p50, p90, p99 = percentile(values, 0.5), percentile(values, 0.9), order_statistic(values, 0.99)

    assert min(values) <= p50 <= p90 <= max(values)
    assert p99 in values
    assert sum(v <= p99 for v in values) >= 0.99 * len(values)


@FEW
@given(st.randoms(use_true_random=False), st.sets(st.integers(0, 54), max_size=20))
def test_the_order_of_records_does_not_matter(shuffler, spoilt):
    """Shuffled records, some of them failed, give the same analysis."""
    run, records = fake_run(steps=2)
    told = [failed(r) if n in spoilt else r for n, r in enumerate(records)]
    mixed = told.copy()
    shuffler.shuffle(mixed)

    assert analyse(run, mixed) == analyse(run, told)


@FEW
@given(st.sets(st.integers(0, 54), max_size=54))
def test_missing_never_becomes_zero(spoilt):
    """Whatever fails: no rate, ratio or time is zero, and every mean rests on measured trials alone."""
    run, records = fake_run(steps=2)
    told = [failed(r) if n in spoilt else r for n, r in enumerate(records)]

    analysis = analyse(run, told)

    for trial in analysis.trials:
        assert (trial.rate is None) == (trial.outcome != "measured")
    for summary in analysis.cells:
        good = [r for r in told if r.cell_id == summary.cell_id and isinstance(r.outcome, Measured)]
        assert summary.measured == len(good)
        assert (summary.rate is None) == (not good)
        if summary.rate is not None:
            assert summary.rate.value > 0
            assert summary.rate.n == len(good)
            assert (summary.rate.low is None) == (len(good) < 3)
    for series in analysis.series:
        for point in series.points:
            for value in (point.rate, point.speedup, point.efficiency):
                assert value is None or value.value > 0


@FEW
@given(st.integers(1, 10), st.floats(min_value=1.0, max_value=1e5))
def test_adding_a_cell_never_changes_another_cells_estimate(kept, rate):
    """Rates and pointwise speed-ups of the cells that were there stay as they were to the last bit."""
    truths = quick_truths()[:kept]
    run, records = fake_run(truths=truths, steps=2)
    new = quick_truths()[0]
    new = msgspec.structs.replace(new, rate=rate, cell=msgspec.structs.replace(new.cell, batch=1024))
    more, added = fake_run(truths=[*truths, new], steps=2)
    extra = [r for r in added if r.cell.batch == 1024]

    before, after = computed(run, records), computed(more, [*records, *extra])

    for cell_before in before.cells:
        cell_after = after.cell(cell_before.cell_id)
        for name in ("rate", "latency", "step_mean_s", "step_median_s", "measured"):
            assert getattr(cell_after, name) == getattr(cell_before, name)
    speedups = {s.series.key: [p.speedup for p in s.points] for s in after.series}
    for series in before.series:
        assert speedups[series.series.key] == [p.speedup for p in series.points]
