"""A run whose study file was edited: what is compared how, what is said of it, what enters no number."""

import msgspec
import pytest
from fakes.records import edited, fake_run, quick_truths

from study.analysis import analyse, caveats
from study.analysis.desk import computed
from study.domain.trial import SkippedCell


def variants(rate=4000.0, blocks=5):
    """The same cell under two names."""
    single = quick_truths()[0]
    truths = [
        msgspec.structs.replace(single, rate=of, cell=msgspec.structs.replace(single.cell, variant=name))
        for name, of in (("a", 4000.0), ("b", rate))
    ]
    return fake_run(truths=truths, blocks=blocks)


def caveats_of(analysis, shelf):
    """The frames of all caveats of a shelf's findings, one set a finding."""
    return [{c.frame for c in f.caveats} for f in analysis.findings if f.shelf == shelf]


def test_trials_of_two_states_are_never_pairs():
    """The later cell has blocks of its own, so the comparison is Welch's, with all of its trials."""
    run, records = variants()
    later = run.plan.cells[1].id

    (before,) = computed(run, records).comparisons
    (after,) = computed(*edited(run, records, {later})).comparisons

    assert before.verdict.ratio.method == "paired_t_log"
    assert after.verdict.ratio.method == "welch_log"
    assert after.verdict.ratio.n == 5
    assert after.verdict.ratio.value == pytest.approx(before.verdict.ratio.value)


def test_blocks_in_common_are_pairs_wherever_the_rest_stands():
    """Three blocks that hold both are enough; a claim from them needs no caveat."""
    run, records = variants()
    early, _ = run.plan.cells
    trials = tuple(t for t in run.plan.trials if t.cell_id == early.id or t.block > 2)
    some = msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, trials=trials))
    kept = {t.id for t in trials}

    analysis = analyse(some, [r for r in records if r.trial in kept])

    assert analysis.comparisons[0].verdict.ratio.method == "paired_t_log"
    assert analysis.comparisons[0].verdict.ratio.n == 3
    assert caveats.FRAMES["apart"] not in caveats_of(analysis, "variants")[0]


@pytest.mark.parametrize("shelf", ["training_scales", "variants", "known_truth", "oversubscription"])
def test_a_finding_that_joins_two_states_says_so(shelf):
    """Series and comparisons alike, checks of the instrument too."""
    run, records = (
        variants() if shelf == "variants" else fake_run(cores=1 if shelf == "oversubscription" else 2)
    )
    single = run.plan.cells[0].id
    later = {run.plan.cells[1].id} if shelf == "variants" else {s.members[-1] for s in run.plan.series}

    found = caveats_of(analyse(*edited(run, records, later)), shelf.replace("_", "-"))

    assert single not in later
    assert found
    assert all(caveats.FRAMES["apart"] in frames for frames in found)
    assert not any(
        caveats.FRAMES["apart"] in f for f in caveats_of(analyse(run, records), shelf.replace("_", "-"))
    )


def test_a_cell_taken_out_after_it_was_measured_enters_no_number_and_blocks_nothing():
    """Its records stay in the archive; no rule takes them for trials out of nowhere."""
    run, records = variants()
    gone = run.plan.cells[1]
    run, records = edited(run, records, set())
    plan = msgspec.structs.replace(
        run.plan,
        cells=run.plan.cells[:1],
        trials=tuple(t for t in run.plan.trials if t.cell_id != gone.id),
        skipped=(SkippedCell(id=gone.id, cell=gone.cell, reason="Taken out."),),
    )

    analysis = analyse(msgspec.structs.replace(run, plan=plan), records)

    assert {t.cell_id for t in analysis.trials} == {plan.cells[0].id}
    assert analysis.comparisons == ()
    assert analysis.findings
    assert {rule.id for rule in analysis.rules if not rule.passed} <= {"HB8", "HB2"}


def test_a_record_that_nobody_took_out_is_still_found():
    """Without a skipped cell of that name it is a trial out of nowhere, and blocks what rests on it."""
    run, records = edited(*variants(), set())
    plan = msgspec.structs.replace(run.plan, trials=run.plan.trials[1:])

    analysis = analyse(msgspec.structs.replace(run, plan=plan), records)

    assert [rule.passed for rule in analysis.rules if rule.id == "ML1"] == [False]


def test_blocks_of_an_edit_are_complete_enough():
    """The rule on the order knows that added cells stand in blocks of their own."""
    run, records = fake_run()
    later = {run.plan.series[0].members[-1]}
    changed, found = edited(run, records, later)

    rules = {rule.id: rule for rule in analyse(changed, found).rules}
    silent = {rule.id: rule for rule in analyse(msgspec.structs.replace(changed, states=()), found).rules}

    assert rules["MY1"].passed, rules["MY1"].detail
    assert "does not hold every cell once" in silent["MY1"].detail
