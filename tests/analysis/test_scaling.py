"""Series: bases, speed-ups, losses, and what is missing."""

import math

import msgspec
import pytest
from fakes.records import cell_id, failed, fake_run, quick_truths

from study.analysis import reasons
from study.analysis.desk import computed
from study.analysis.scaling import amdahl, linearity
from study.domain.estimate import Estimate
from study.domain.fact import require_reasons


def series_by_task(parts):
    """The series of the quick study by workload and task."""
    return {(series.workload, series.task): series for series in parts.series}


@pytest.fixture
def parts(quick):
    """The numbers of the quick study."""
    return computed(*quick)


def test_the_base_is_the_single_device_version(parts):
    """The speed-up is against `single`; against the strategy's own device it is another number."""
    series = series_by_task(parts)["gpt", "train"]
    one, two = series.points

    assert series.base_rate == parts.cell(series.series.base).rate
    assert two.speedup.value == pytest.approx(two.rate.value / series.base_rate.value)
    own = parts.cell(series.series.own_base).rate
    assert two.own_speedup.value == pytest.approx(two.rate.value / own.value)
    assert two.own_speedup.value > two.speedup.value
    assert (one.speedup.value, one.speedup.method) == (1.0, "exact")


def test_the_wrappers_cost_is_base_over_own_base(parts):
    """Plain over wrapped at one device, paired by block: true 4000/3880."""
    series = series_by_task(parts)["gpt", "train"]

    assert series.wrapper_cost.method == "paired_t_log"
    assert series.wrapper_cost.low < 4000 / 3880 < series.wrapper_cost.high


def test_a_wrapper_that_was_not_run_has_no_cost(parts):
    """Without the strategy on one device its cost is null, with the reason."""
    series = series_by_task(parts)["resnet", "train"]

    assert series.wrapper_cost is None
    assert series.unknown == {"wrapper_cost": reasons.NO_OWN_BASE}
    assert series.points[1].unknown["own_speedup"] == reasons.NO_OWN_BASE


def test_efficiency_is_speedup_over_devices(parts):
    """Value and both ends are divided by n."""
    for series in parts.series:
        point = series.points[1]
        for end in ("value", "low", "high"):
            assert getattr(point.efficiency, end) == pytest.approx(getattr(point.speedup, end) / 2)


def test_karp_flatt_is_for_strong_scaling_and_maps_the_ends(parts):
    """The upper end of the speed-up is the lower end of the serial fraction; weak scaling has none."""
    found = series_by_task(parts)
    strong, weak = found["gpt", "train"].points[1], found["resnet", "train"].points[1]

    assert strong.karp_flatt.low == pytest.approx((1 / strong.speedup.high - 0.5) / 0.5)
    assert strong.karp_flatt.high == pytest.approx((1 / strong.speedup.low - 0.5) / 0.5)
    assert (weak.karp_flatt, weak.unknown["karp_flatt"]) == (None, reasons.STRONG_ONLY)


def test_overhead_is_for_weak_scaling(parts):
    """One minus efficiency, its ends swapped; strong scaling has none."""
    found = series_by_task(parts)
    strong, weak = found["gpt", "train"].points[1], found["resnet", "train"].points[1]

    assert weak.overhead.value == pytest.approx(1 - weak.efficiency.value)
    assert weak.overhead.low == pytest.approx(1 - weak.efficiency.high)
    assert (strong.overhead, strong.unknown["overhead"]) == (None, reasons.WEAK_ONLY)


def test_nothing_is_lost_without_an_interval():
    """Of two trials the speed-up is a point, and what it loses is null with the reason."""
    parts = computed(*fake_run(blocks=2))

    for series in parts.series:
        point = series.points[1]
        assert point.speedup.low is None
        assert (point.karp_flatt, point.overhead) == (None, None)
        lost, other = ("karp_flatt", "overhead")[:: 1 if series.series.scaling == "strong" else -1]
        assert point.unknown[lost] == reasons.TOO_FEW
        assert point.unknown[other] in (reasons.WEAK_ONLY, reasons.STRONG_ONLY)
        require_reasons(point, point.unknown)


def test_nothing_is_lost_at_one_device(parts):
    """Karp-Flatt, overhead and verdict are not defined at one device."""
    one = parts.series[0].points[0]

    assert (one.karp_flatt, one.overhead, one.verdict) == (None, None, None)
    assert one.unknown["karp_flatt"] == reasons.ONE_DEVICE


def test_the_truth_of_the_sleeping_workload_is_amdahls(parts):
    """A serial share of 0.1 on two devices: 1/(0.1 + 0.45); other workloads have no truth."""
    found = series_by_task(parts)

    assert found["sleep", "check"].points[1].truth == pytest.approx(1 / 0.55)
    assert found["sleep", "check"].points[0].truth == 1.0
    assert found["gpt", "train"].points[1].truth is None


def test_amdahls_limits():
    """Nothing serial gives n, everything serial gives one; half serial on many devices gives two."""
    assert amdahl(0.0, 8) == 8
    assert amdahl(1.0, 8) == 1
    assert amdahl(0.5, 10**9) == pytest.approx(2.0)


def test_a_base_that_failed_leaves_no_speedup():
    """Every trial of the base failed: rates stay, speed-ups are null with the reason, never zero."""
    run, records = fake_run()
    base = run.plan.series[0].base

    parts = computed(run, [failed(r) if r.cell_id == base else r for r in records])

    series = parts.series[0]
    assert (series.base_rate, series.unknown["base_rate"]) == (None, reasons.BASE_NOT_MEASURED)
    assert series.points[1].rate is not None
    assert series.points[1].speedup is None
    assert series.points[1].unknown["speedup"] == reasons.BASE_NOT_MEASURED
    assert series.points[1].own_speedup is not None
    assert series.points[1].verdict.reason == reasons.BASE_NOT_MEASURED


def test_a_study_without_one_device_has_no_base():
    """Two and four devices alone form a series without speed-ups, and it says why."""
    _, _, two, *_ = quick_truths()
    four = msgspec.structs.replace(two, cell=msgspec.structs.replace(two.cell, devices=4))

    series = computed(*fake_run(truths=[two, four], cores=4)).series[0]

    assert [point.speedup for point in series.points] == [None, None]
    assert series.unknown["base_rate"] == reasons.NO_BASE
    assert series.points[0].unknown["own_speedup"] == reasons.NO_OWN_BASE


def test_the_parallel_code_stands_in_for_a_missing_single_version():
    """With ddp on one device as the base, base and own base are one cell and the wrapper has no cost."""
    _, one, two, *_ = quick_truths()

    series = computed(*fake_run(truths=[one, two])).series[0]

    assert series.series.base == series.series.own_base == cell_id(one.cell)
    assert series.points[1].speedup == series.points[1].own_speedup
    assert series.unknown["wrapper_cost"] == reasons.SAME_CODE


def test_a_member_that_failed_is_null_and_not_zero():
    """The point of a cell without results stays in the series, with its reason."""
    run, records = fake_run()
    member = run.plan.series[0].members[1]

    point = computed(run, [failed(r) if r.cell_id == member else r for r in records]).series[0].points[1]

    assert (point.rate, point.speedup, point.efficiency) == (None, None, None)
    assert point.unknown["rate"] == reasons.NOT_MEASURED
    assert point.verdict.reason == reasons.NOT_MEASURED


@pytest.mark.parametrize(
    ("low", "high", "kind"),
    [
        (2.01, 2.1, "superlinear"),
        (1.9, 2.1, "not_distinguishable"),
        (1.5, 1.7, "below"),
        (None, None, "unknown"),
    ],
)
def test_superlinear_needs_the_whole_interval(low, high, kind):
    """A speed-up is superlinear only if its lower end lies above n."""
    speedup = Estimate(value=2.0, low=low, high=high, n=5, unit="", method="welch_log")

    assert linearity(speedup, 2) == kind


def test_every_null_has_a_reason():
    """Points and series of a study with failures explain all of their nulls."""
    run, records = fake_run()
    spoilt = {run.plan.series[0].base, run.plan.series[1].members[1]}

    parts = computed(run, [failed(r) if r.cell_id in spoilt else r for r in records])

    for series in parts.series:
        require_reasons(series, series.unknown)
        for point in series.points:
            require_reasons(point, point.unknown)
            if point.verdict:
                require_reasons(point.verdict, point.verdict.unknown)
    for cell in parts.cells:
        require_reasons(cell, cell.unknown)


def test_families_are_counted_by_task(parts):
    """Two training series, two of inference and the check: families of two, two and one."""
    found = {
        (point.verdict.family, point.verdict.family_size)
        for series in parts.series
        for point in series.points
        if point.verdict
    }

    assert found == {("train-speedups", 2), ("infer-speedups", 2), ("check-speedups", 1)}


def test_labels_are_short_and_unique(parts):
    """A series is named by workload, size and task as long as that is enough."""
    assert {series.label for series in parts.series} == {
        "gpt tiny, training",
        "resnet tiny, training",
        "gpt tiny, inference",
        "resnet tiny, inference",
        "sleep amdahl, check",
    }


def test_labels_tell_twins_apart():
    """Strong and weak series of the same work get more words, and none the same."""
    single, _, two, *_ = quick_truths()
    weak = [
        msgspec.structs.replace(single, scaling="weak"),
        msgspec.structs.replace(two, scaling="weak", cell=msgspec.structs.replace(two.cell, batch=16)),
    ]

    parts = computed(*fake_run(truths=[single, two, weak[1]]))
    again = computed(*fake_run(truths=[single, two, *weak[1:]]))

    assert len(parts.series) == 1
    assert again == parts
    labels = [cell.label for cell in parts.cells]
    assert len(set(labels)) == len(labels)
    assert math.isfinite(parts.series[0].points[1].speedup.value)
