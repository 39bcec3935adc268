"""Which cells are compared with which, and how."""

import msgspec
import pytest
from fakes.records import failed, fake_run, quick_truths

from study.analysis import reasons
from study.analysis.desk import computed


def changed(truth, rate=None, **changes):
    """The truth at another rate, with its cell changed."""
    return msgspec.structs.replace(
        truth, rate=rate or truth.rate, cell=msgspec.structs.replace(truth.cell, **changes)
    )


@pytest.fixture
def single():
    """gpt tiny, training on one device."""
    return quick_truths()[0]


def test_variants_are_compared_with_the_first_in_pairs(single):
    """Three variants make two comparisons against the first, paired by block, one family."""
    truths = [changed(single, variant=name) for name in ("a", "b", "c")]

    found = computed(*fake_run(truths=truths)).comparisons

    assert [(c.factor, c.level_a, c.level_b) for c in found] == [("variant", "b", "a"), ("variant", "c", "a")]
    assert {c.verdict.ratio.method for c in found} == {"paired_t_log"}
    assert {c.verdict.family_size for c in found} == {2}


def test_cells_that_differ_in_more_are_not_compared(single):
    """Other variant and other batch: no comparison."""
    truths = [changed(single, variant="a"), changed(single, variant="b", batch=16)]

    assert computed(*fake_run(truths=truths)).comparisons == ()


def test_precisions_are_compared(single):
    """bf16 at twice the rate is clearly beyond fp32."""
    truths = [single, changed(single, rate=8000.0, precision="bf16")]

    (found,) = computed(*fake_run(truths=truths)).comparisons

    assert (found.factor, found.level_a, found.level_b) == ("precision", "bf16", "fp32")
    assert found.verdict.kind == "clear"
    assert found.verdict.ratio.low < 2.0 < found.verdict.ratio.high


def test_the_wrapper_is_a_comparison_of_its_own_family(quick):
    """Single against ddp on one device, once, though several series might share it."""
    found = computed(*quick).comparisons

    assert [(c.factor, c.level_a, c.level_b, c.verdict.family) for c in found] == [
        ("strategy", "single", "ddp", "strategy")
    ]
    assert found[0].verdict.ratio.low < 4000 / 3880 < found[0].verdict.ratio.high


def test_a_side_without_results_is_refused_and_counted(single):
    """A failed variant is not compared, and still widens the other's interval."""
    run, records = fake_run(truths=[changed(single, variant=name) for name in ("a", "b", "c")])
    last = run.plan.cells[2].id

    found = computed(run, [failed(r) if r.cell_id == last else r for r in records]).comparisons

    assert [c.verdict.kind for c in found][1] == "not_compared"
    assert found[1].verdict.reason == reasons.NOT_MEASURED
    assert found[0].verdict.ratio.level == pytest.approx(0.975)


def test_two_common_blocks_are_too_few(single):
    """Pairs count, not trials: three and three trials with two blocks in common are refused."""
    run, records = fake_run(truths=[changed(single, variant=name) for name in ("a", "b")], blocks=4)
    a, b = (cell.id for cell in run.plan.cells)
    gone = {(a, 1), (b, 4)}

    (found,) = computed(run, [failed(r) if (r.cell_id, r.block) in gone else r for r in records]).comparisons

    assert found.verdict.kind == "not_compared"
    assert found.verdict.reason == reasons.TOO_FEW_PAIRS


def beside(*strategies):
    """Training on two devices under several strategies, the later the slower."""
    two = quick_truths()[2]
    return [
        changed(two, rate=6000.0 - 500 * place, strategy=name, mesh={"x": 2})
        for place, name in enumerate(strategies)
    ]


def test_strategies_on_the_same_devices_are_compared_with_ddp():
    """Three strategies make two comparisons, ddp the reference wherever it stands in the plan."""
    found = computed(*fake_run(truths=beside("tensor", "ddp", "fsdp"))).comparisons

    assert [(c.factor, c.level_a, c.level_b) for c in found] == [
        ("strategies", "tensor", "ddp"),
        ("strategies", "fsdp", "ddp"),
    ]
    assert {c.verdict.family_size for c in found} == {2}
    assert [c.verdict.direction for c in found] == ["faster", "slower"]


def test_without_ddp_the_first_strategy_is_the_reference():
    """Pipelines that differ in their schedule are two strategies, told by it."""
    two = quick_truths()[2]
    ways = [changed(two, strategy="pipeline", strategy_options={"schedule": s}) for s in ("gpipe", "1f1b")]

    (found,) = computed(*fake_run(truths=ways)).comparisons

    assert (found.level_a, found.level_b) == ("pipeline (1f1b)", "pipeline (gpipe)")


def test_strategies_of_other_devices_batches_or_checks_are_not_compared(single):
    """One device is the wrapper's business, and a check of the instrument compares no strategies."""
    a, b = beside("ddp", "tensor")
    check = {"workload": "sleep", "task": "check"}

    for truths in (
        [single, changed(single, strategy="tensor")],
        [a, changed(b, devices=4)],
        [a, changed(b, batch=16)],
        [changed(a, **check), changed(b, **check)],
    ):
        found = computed(*fake_run(truths=truths)).comparisons
        assert [c for c in found if c.factor == "strategies"] == []
