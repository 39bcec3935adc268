"""The whole desk: what enters a mean, what does not, and that nothing depends on chance."""

import math

import msgspec
import pytest
from fakes.records import failed, fake_run, interrupted, out_of_memory, skipped, timed_out

from study.analysis import analyse
from study.domain.summary import Analysis


@pytest.mark.parametrize("spoil", [failed, out_of_memory, timed_out, skipped, interrupted])
def test_trials_without_a_result_never_enter_a_mean(quick, spoil):
    """Spoiling two of five trials leaves the mean of the other three, and n is three."""
    run, records = quick
    cell = run.plan.cells[0].id
    kept = [r for r in records if r.cell_id == cell and r.block > 2]

    found = analyse(run, [spoil(r) if r.cell_id == cell and r.block <= 2 else r for r in records]).cells[0]

    work = sum(r.outcome.readings[0].work for r in kept)
    time_ns = sum(r.outcome.readings[0].window_end_ns - r.outcome.readings[0].window_start_ns for r in kept)
    assert found.rate.value == pytest.approx(work / time_ns * 1e9, rel=1e-12)
    assert (found.rate.n, found.measured, found.planned) == (3, 3, 5)
    assert found.trials == tuple(r.trial for r in kept)


def test_two_results_have_no_interval_and_the_reason_in_words(quick):
    """Three of five trials failed: a point, and a sentence why there is no interval."""
    run, records = quick
    cell = run.plan.cells[0].id

    found = analyse(run, [failed(r) if r.cell_id == cell and r.block <= 3 else r for r in records]).cells[0]

    assert (found.rate.n, found.rate.low) == (2, None)
    assert found.rate.refusal == "Fewer than three trials were measured, so no interval is given."


def test_a_cell_without_results_has_a_reason_and_keeps_its_unit(quick):
    """Its rate is null, not zero; the unit is that of its workload and task."""
    run, records = quick
    cell = run.plan.cells[0].id

    found = analyse(run, [failed(r) if r.cell_id == cell else r for r in records]).cells[0]

    assert (found.rate, found.unit, found.measured) == (None, "tokens", 0)
    assert found.unknown["rate"] == "No trial of this cell was measured."


def test_the_order_of_records_does_not_matter(quick):
    """Any order of the same records gives the same bytes."""
    run, records = quick

    assert msgspec.json.encode(analyse(run, records)) == msgspec.json.encode(analyse(run, records[::-1]))


def test_the_analysis_survives_json(quick):
    """Everything can be stored and read back strictly."""
    analysis = analyse(*quick)

    assert msgspec.json.decode(msgspec.json.encode(analysis), type=Analysis) == analysis


def test_measured_time_is_the_sum_of_windows(quick):
    """Windows of measured trials; launches of all attempts."""
    run, records = quick
    spoilt = [failed(records[0]), *records[1:]]

    analysis = analyse(run, spoilt)

    assert analysis.measured_s == pytest.approx(sum(t.wall_s for t in analysis.trials if t.wall_s))
    assert analysis.turnaround_s == pytest.approx(math.fsum(r.turnaround_ns for r in records) / 1e9)
    assert analysis.trials[0].wall_s is None


def test_nothing_measured_is_an_analysis_without_claims(quick):
    """No records: cells and series are there, all null, and no finding."""
    run, _ = quick

    analysis = analyse(run, [])

    assert analysis.trials == analysis.findings == ()
    assert all(cell.rate is None and cell.measured == 0 for cell in analysis.cells)
    assert (analysis.measured_s, analysis.turnaround_s) == (0, 0)


def test_step_times_keep_mean_and_median(quick):
    """Mean and median over all steps of all trials, each step as long as its slowest rank."""
    analysis = analyse(*quick)
    steps = [s for t in analysis.trials if t.cell_id == analysis.cells[0].cell_id for s in t.step_ns]

    assert analysis.cells[0].step_mean_s == pytest.approx(sum(steps) / len(steps) / 1e9)
    assert sum(s / 1e9 <= analysis.cells[0].step_median_s for s in steps) == len(steps) / 2


def test_stalls_pull_the_mean_above_the_median():
    """No step is removed: one stall of a second stays in the mean, and the rule says so."""
    run, records = fake_run(blocks=3)
    first = records[0].outcome.readings[0]
    slow = msgspec.structs.replace(
        first,
        step_ns=(*first.step_ns[:-1], first.step_ns[-1] + 10**9),
        window_end_ns=first.window_end_ns + 10**9,
    )
    others = records[0].outcome.readings[1:]
    stalled = msgspec.structs.replace(
        records[0], outcome=msgspec.structs.replace(records[0].outcome, readings=(slow, *others))
    )

    analysis = analyse(run, [stalled, *records[1:]])

    cell = next(c for c in analysis.cells if c.cell_id == records[0].cell_id)
    assert cell.step_mean_s > 1.05 * cell.step_median_s
    rule = next(r for r in analysis.rules if r.id == "HB8")
    assert (rule.passed, rule.effect) == (False, "warn")
    assert cell.label in rule.detail
