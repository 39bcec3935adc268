"""Each rule passes on good data, fires on data that breaks it, and blocks what rests on it."""

import msgspec
import pytest
from fakes.records import cell_id, failed, fake_run, interrupted, quick_truths

from study.analysis import analyse, rules
from study.analysis.desk import computed, findings
from study.analysis.rules import RULES, Desk, check
from study.analysis.trials import counting
from study.domain.text import Text
from study.domain.trial import SkippedCell

replace = msgspec.structs.replace


@pytest.fixture
def desk(quick):
    """What the rules see of the quick study."""
    run, records = quick
    parts = computed(run, records)
    return Desk(parts=parts, records=counting(records), findings=findings(parts))


def spoken(desk, shelf, **changes):
    """The desk with the first finding of a shelf changed, and that finding's key."""
    index = next(i for i, finding in enumerate(desk.findings) if finding.shelf == shelf)
    told = list(desk.findings)
    told[index] = replace(told[index], **changes)
    return replace(desk, findings=tuple(told)), told[index].key


def with_run(desk, **changes):
    """The desk of a run that differs in some fields."""
    return replace(desk, parts=replace(desk.parts, run=replace(desk.parts.run, **changes)))


def with_plan(desk, **changes):
    """The desk of a plan that differs in some fields."""
    return with_run(desk, plan=replace(desk.parts.run.plan, **changes))


def first_cell(desk, **changes):
    """The desk with its first cell summary changed, and that cell's id."""
    cell, *others = desk.parts.cells
    return replace(desk, parts=replace(desk.parts, cells=(replace(cell, **changes), *others))), cell.cell_id


def test_every_rule_passes_on_a_good_study(quick):
    """All rules are checked, all pass, and nothing is blocked."""
    run, records = quick
    parts = computed(run, records)

    outcomes, blocked = check(parts, records, findings(parts))

    assert [outcome.id for outcome in outcomes] == list(RULES)
    assert [outcome.id for outcome in outcomes if not outcome.passed] == []
    assert blocked == frozenset()
    assert all(outcome.detail.endswith(".") for outcome in outcomes)


def test_the_rules_that_can_be_checked_now_are_checked():
    """The list of ids is fixed: a rule that disappears is noticed."""
    assert set(RULES) >= {
        *("HB1", "HB2", "HB3", "HB5", "HB6", "HB7", "HB8", "HB10", "ML1", "ML3", "ML4", "ML5"),
        *("KJ1", "KJ2", "MY1", "S1", "S4", "S5", "S7", "S11", "S12", "S13", "CAL1"),
    }


def test_hb1_blocks_a_speedup_without_the_rate_of_its_base(desk):
    """A ratio alone is not a speed-up."""
    finding = next(f for f in desk.findings if f.shelf == "training-scales")
    slots = {name: slot for name, slot in finding.sentence.slots.items() if name != "base"}
    broken, key = spoken(desk, "training-scales", sentence=replace(finding.sentence, slots=slots))

    answer = rules.base_is_named(broken)

    assert answer.blocked == {key}
    assert key in answer.wrong[0]


def test_hb2_wants_a_record_or_a_reason_for_every_cell(quick):
    """A planned cell without any record is named; a failed one has its reason."""
    run, records = quick
    gone = run.plan.cells[0].id
    failing = [failed(r) if r.cell_id == gone else r for r in records]
    silent = [r for r in records if r.cell_id != gone]

    good = rules.absences_have_reasons(desk_of(run, failing))
    bad = rules.absences_have_reasons(desk_of(run, silent))

    assert good.wrong == ()
    assert bad.wrong == (f"{gone} was planned and has no record.",)


def test_hb2_notices_devices_that_were_not_used():
    """Two of four GPUs without a word is a warning; a skipped cell on four is a word."""
    four = replace(quick_truths()[2].cell, devices=4)
    turned_down = SkippedCell(id=cell_id(four), cell=four, reason="A card is in repair.")

    silent = desk_of(*fake_run(accelerator="cuda", devices_present=4))
    said = desk_of(*fake_run(accelerator="cuda", devices_present=4, skipped=[turned_down]))

    assert rules.absences_have_reasons(silent).wrong == (
        "The study uses 2 of 4 devices and does not say why.",
    )
    assert rules.absences_have_reasons(said).wrong == ()


def test_hb3_blocks_a_rate_that_is_not_total_over_total(desk):
    """A rate off by a millionth blocks every claim about its cell."""
    rate = desk.parts.cells[0].rate
    broken, cell = first_cell(desk, rate=replace(rate, value=rate.value * 1.000001))

    answer = rules.rates_are_total_over_total(broken)

    resting = {f.key for f in desk.findings if cell in " ".join(f.trials) and f.section != "limits"}
    assert answer.blocked == resting != set()


def test_hb5_blocks_a_number_without_doubt_or_excuse(desk):
    """An estimate without interval, refusal or exactness."""
    finding = next(f for f in desk.findings if f.shelf == "latency")
    bare = replace(finding.estimate, low=None, high=None)
    broken, key = spoken(desk, "latency", estimate=bare)

    assert rules.doubt_is_stated(broken).blocked == {key}


def test_hb6_never_counts_steps(desk):
    """An n above the planned trials is a count of steps."""
    broken, cell = first_cell(desk, rate=replace(desk.parts.cells[0].rate, n=100))

    assert rules.normality_is_not_assumed(broken).wrong == (
        f"{cell}: an interval over 100 values from 5 trials.",
    )


def test_hb6_tests_normality_from_eight_trials_on():
    """With eight blocks the smallest p is printed; a cell with one wild trial fails."""
    truths = quick_truths()[:1]
    wild = {cell_id(truths[0].cell): [4000.0 + i for i in range(9)] + [40.0]}

    good = rules.normality_is_not_assumed(desk_of(*fake_run(truths=truths, blocks=8)))
    bad = rules.normality_is_not_assumed(desk_of(*fake_run(truths=truths, blocks=10, rates=wild)))

    assert good.right.startswith("Normality of the logs was tested in 1 cells; the smallest p is 0.")
    assert good.wrong == ()
    assert len(bad.wrong) == 1


def test_hb7_blocks_a_comparison_without_its_test(desk):
    """No adjusted p, no claim."""
    finding = next(f for f in desk.findings if f.shelf == "wrapper-cost")
    broken, key = spoken(desk, "wrapper-cost", verdict=replace(finding.verdict, p_adjusted=None))

    assert rules.differences_are_tested(broken).blocked == {key}


def test_hb10_notices_steps_that_do_not_fill_the_window(desk):
    """A rank whose steps cover half its window is named."""
    record = desk.records[3]
    reading = record.outcome.readings[0]
    halved = replace(reading, step_ns=tuple(step // 2 for step in reading.step_ns))
    outcome = replace(record.outcome, readings=(halved, *record.outcome.readings[1:]))
    broken = replace(desk, records=(replace(record, outcome=outcome), *desk.records[:3]))

    (wrong,) = rules.time_is_reduced_as_said(broken).wrong

    assert wrong.startswith(f"{record.trial}: the steps add up to the window only within 50.0%")


def test_ml1_blocks_claims_on_a_cell_with_a_trial_that_vanished(quick):
    """In a complete run a trial without a record blocks what rests on its cell, and nothing else."""
    run, records = quick
    gone = next(r for r in records if r.cell.workload == "resnet" and r.cell.task == "train")

    analysis = analyse(run, [r for r in records if r is not gone])

    rule = next(r for r in analysis.rules if r.id == "ML1")
    assert (rule.passed, rule.effect) == (False, "block")
    assert rule.detail == "1 of 55 planned trials have no result."
    said = {finding.key.split(".")[1] for finding in analysis.findings if "." in finding.key}
    assert "gpt-tiny" in said
    trials = {
        trial for finding in analysis.findings if finding.section != "limits" for trial in finding.trials
    }
    assert not any(gone.cell_id in trial for trial in trials)


def test_ml1_warns_only_while_the_run_goes_on(quick):
    """A run that is not complete keeps its claims, weaker and with a caveat."""
    run, records = quick
    going = replace(run, status="running")

    analysis = analyse(going, records[:-3])

    rule = next(r for r in analysis.rules if r.id == "ML1")
    touched = {record.cell_id for record in records[-3:]}
    assert (rule.passed, rule.effect) == (False, "warn")
    weaker = [f for f in analysis.findings if f.verdict and any(c in t for c in touched for t in f.trials)]
    assert weaker
    assert all(f.evidence != "strong" for f in weaker)
    assert all("The run is not complete." in [c.frame for c in f.caveats] for f in weaker)


def test_ml1_counts_an_interrupted_trial_as_missing(quick):
    """Interrupted is no result."""
    run, records = quick

    answer = rules.every_trial_counts(desk_of(run, [interrupted(records[0]), *records[1:]]))

    assert answer.wrong == ("1 of 55 planned trials have no result.",)


def test_ml1_refuses_extra_trials(quick):
    """A sixth trial of one cell, not in the plan, blocks that cell's claims."""
    run, records = quick
    extra = replace(records[0], trial="0099-extra", order=99)

    answer = rules.every_trial_counts(desk_of(run, [*records, extra]))

    assert answer.wrong == ("1 trials are not in the plan, the first is 0099-extra.",)
    assert answer.blocked


@pytest.mark.parametrize(
    ("rule", "frame"),
    [
        (rules.throughput_is_not_time_to_train, "{workload} trains faster on {devices} devices."),
        (rules.causes_need_an_intervention, "It is slow because cards wait."),
        (rules.words_match_verdicts, "It is better on {devices} devices."),
        (rules.words_match_verdicts, "It is 1.62 times that of one."),
    ],
)
def test_words_that_the_data_do_not_carry_block_the_claim(desk, rule, frame):
    """Time to train, causes, comparatives and typed numbers."""
    broken, key = spoken(desk, "training-scales", sentence=Text(frame=frame))

    answer = rule(broken)

    assert answer.blocked == {key}
    assert key in answer.wrong[0]


@pytest.mark.parametrize("name", ["p90", "p99"])
def test_ml5_blocks_a_percentile_from_few_requests(desk, name):
    """Twenty requests a trial carry neither a p90 nor a p99."""
    index = next(i for i, cell in enumerate(desk.parts.cells) if cell.latency)
    cells = list(desk.parts.cells)
    tail = replace(
        cells[index].latency, **{f"request_{name}_s": cells[index].latency.request_p50_s}, unknown={}
    )
    cells[index] = replace(cells[index], latency=tail)
    broken = replace(desk, parts=replace(desk.parts, cells=tuple(cells)))

    answer = rules.percentiles_have_requests(broken)

    assert answer.wrong == (f"{cells[index].cell_id}: a {name} from 20 requests.",)
    assert f"latency.{cells[index].cell_id}" in answer.blocked


def test_ml5_counts_the_requests_of_every_replica():
    """Two replicas of twenty requests carry a p90; one device of twenty does not."""
    desk = desk_of(*fake_run())
    tails = {c.cell.devices: c.latency for c in desk.parts.cells if c.latency}

    assert rules.percentiles_have_requests(desk).wrong == ()
    assert (tails[1].request_p90_s, tails[2].request_p90_s.n) == (None, 5)


def test_hb8_wants_a_reason_for_a_missing_percentile(desk):
    """A p90 and a p99 that are null in silence are named."""
    index = next(i for i, cell in enumerate(desk.parts.cells) if cell.latency)
    cells = list(desk.parts.cells)
    cells[index] = replace(cells[index], latency=replace(cells[index].latency, unknown={}))

    answer = rules.tails_and_stalls(replace(desk, parts=replace(desk.parts, cells=tuple(cells))))

    assert answer.wrong == (
        f"{cells[index].cell_id}: the p99 is missing without a reason.",
        f"{cells[index].cell_id}: the p90 is missing without a reason.",
    )


def test_kj1_blocks_an_n_that_is_not_the_number_of_trials(desk):
    """n of four with five trials measured."""
    broken, cell = first_cell(desk, rate=replace(desk.parts.cells[0].rate, n=4))

    assert rules.trials_are_the_sample(broken).wrong == (f"{cell}: n is 4 with 5 trials measured.",)


def test_kj2_wants_the_spread_of_both_sides(desk):
    """A speed-up with the interval of the numerator alone."""
    series = desk.parts.series[0]
    lame = replace(series.points[1], speedup=replace(series.points[1].speedup, method="t_log"))
    changed = replace(series, points=(series.points[0], lame))
    broken = replace(desk, parts=replace(desk.parts, series=(changed, *desk.parts.series[1:])))

    assert rules.ratios_have_their_own_interval(broken).wrong == (
        f"{series.series.key} at 2 devices: method t_log.",
    )


def test_my1_notices_a_fixed_order(desk):
    """The same order in every block is no random order; an incomplete block is no block."""
    cells = [cell.id for cell in desk.parts.run.plan.cells]
    trials = desk.parts.run.plan.trials
    fixed = tuple(replace(t, cell_id=cells[(t.order - 1) % len(cells)]) for t in trials)

    assert rules.order_is_random(with_plan(desk, trials=fixed)).wrong == ("All blocks have the same order.",)
    assert rules.order_is_random(with_plan(desk, trials=trials[:-1])).wrong == (
        "A block does not hold every cell once.",
    )


def test_my1_notices_trials_that_were_run_in_another_order(desk):
    """The first trial was started last."""
    late = replace(desk.records[0], started_utc="2026-02-01T00:00:00Z")

    answer = rules.order_is_random(replace(desk, records=(late, *desk.records[1:])))

    assert answer.wrong == ("The trials were not run in the order of the plan.",)


def test_s1_blocks_an_interval_from_two_trials(desk):
    """Two trials have no interval, whoever computed one."""
    finding = next(f for f in desk.findings if f.shelf == "latency")
    broken, key = spoken(desk, "latency", estimate=replace(finding.estimate, n=2))

    assert rules.three_trials_or_no_interval(broken).blocked == {key}


def test_s4_blocks_a_superlinear_claim_that_is_not_marked():
    """Without its caveat a speed-up above n is not published."""
    single, _, two, *_ = quick_truths()
    desk = desk_of(*fake_run(truths=[single, replace(two, rate=2.4 * single.rate)]))
    broken, key = spoken(desk, "training-scales", caveats=())

    assert rules.superlinear_is_a_symptom(desk).blocked == frozenset()
    assert rules.superlinear_is_a_symptom(broken).blocked == {key}


def test_s7_blocks_a_family_that_does_not_count_all_comparisons(desk):
    """A verdict that claims to be alone in a family of two."""
    series = desk.parts.series[0]
    verdict = replace(series.points[1].verdict, family_size=1)
    changed = replace(series, points=(series.points[0], replace(series.points[1], verdict=verdict)))
    broken = replace(desk, parts=replace(desk.parts, series=(changed, *desk.parts.series[1:])))

    answer = rules.multiplicity_is_counted(broken)

    assert answer.wrong == ("The family train-speedups has 2 comparisons and states 1.",)
    assert {f.shelf for f in desk.findings if f.key in answer.blocked} == {"training-scales"}


def test_s13_blocks_a_claim_on_an_excluded_trial(desk):
    """A finding that lists a trial which was excluded."""
    first = replace(desk.parts.trials[0], outcome="excluded")
    broken = replace(desk, parts=replace(desk.parts, trials=(first, *desk.parts.trials[1:])))

    answer = rules.work_is_what_was_planned(broken)

    assert answer.blocked
    assert all(first.trial in f.trials for f in desk.findings if f.key in answer.blocked)


def test_s14_blocks_a_speedup_between_different_numerics(desk):
    """TF32 on one side only."""
    base = desk.parts.series[0].series.base
    records = tuple(
        replace(
            record,
            outcome=replace(
                record.outcome,
                readings=tuple(
                    replace(r, numerics=replace(r.numerics, deterministic=True))
                    for r in record.outcome.readings
                ),
            ),
        )
        if record.cell_id == base
        else record
        for record in desk.records
    )

    answer = rules.numerics_are_the_same(replace(desk, records=records))

    assert answer.blocked == {f"training-scales.{desk.parts.series[0].series.key}.x2"}


def used_desk(mfu, device="NVIDIA RTX A6000", precision="bf16"):
    """The desk of a study on GPUs whose first cell states this MFU, and that cell's id."""
    truths = [
        replace(truth, cell=replace(truth.cell, accelerator="cuda", precision=precision))
        for truth in quick_truths()[:3]
    ]
    run, records = fake_run(truths=truths, accelerator="cuda")
    renamed = [
        replace(
            record,
            outcome=replace(
                record.outcome,
                readings=tuple(replace(r, device=device) for r in record.outcome.readings),
            ),
        )
        for record in records
    ]
    before = desk_of(run, renamed)
    done = replace(before.parts.cells[0].rate, value=154.8 * 0.4, unit="TFLOP/s")
    share = None if mfu is None else replace(done, value=mfu, unit="")
    return first_cell(before, tflops_per_device=done, mfu=share)


def resting_on(desk, cell):
    """The keys of the claims that rest on a cell."""
    return {f.key for f in desk.findings if cell in " ".join(f.trials) and f.section != "limits"}


def test_ml4_blocks_an_mfu_that_counts_recomputed_operations():
    """40 % of the peak are model operations; a third more, as with recomputation, is HFU and no MFU."""
    good, _ = used_desk(0.4)
    broken, cell = used_desk(0.4 * 4 / 3)
    bare, _ = first_cell(good, tflops_per_device=None)

    assert rules.utilisation_counts_the_model(good).wrong == ()
    assert rules.utilisation_counts_the_model(broken).blocked == resting_on(broken, cell) != set()
    assert rules.utilisation_counts_the_model(bare).wrong == (
        f"{cell}: an MFU without the model's operations.",
    )


def test_ml4_blocks_hfu_without_mfu(desk):
    """HFU flatters alone; beside MFU it may stand."""
    alone, key = spoken(desk, "training-scales", sentence=Text(frame="The HFU is {share}."))
    beside, _ = spoken(desk, "training-scales", sentence=Text(frame="The MFU is {m}, the HFU {share}."))

    assert rules.utilisation_counts_the_model(alone).blocked == {key}
    assert rules.utilisation_counts_the_model(beside).blocked == frozenset()


def test_s5_blocks_what_rests_on_an_impossible_rate():
    """101 % of an A6000's peak is impossible; of a GeForce's 115 % are not."""
    impossible, cell = used_desk(1.01)
    boosting, _ = used_desk(1.14, device="NVIDIA GeForce RTX 5090")
    beyond, _ = used_desk(1.16, device="NVIDIA GeForce RTX 5090")

    assert rules.impossible_rates_are_refused(used_desk(0.99)[0]).wrong == ()
    assert rules.impossible_rates_are_refused(boosting).wrong == ()
    assert "MFU of 116.0%, and 115% is" in rules.impossible_rates_are_refused(beyond).wrong[0]
    assert rules.impossible_rates_are_refused(impossible).blocked == resting_on(impossible, cell) != set()


def test_s12_blocks_a_share_of_a_peak_that_is_not_known():
    """No exact name in the table, no MFU; and where there is none, the reason stands in its place."""
    good, _ = used_desk(0.4)
    guessed, cell = used_desk(0.4, device="NVIDIA RTX A6000 Laptop")
    silent, _ = first_cell(used_desk(None)[0], unknown={})
    said, _ = first_cell(silent, unknown={"mfu": "The peak is not known."})

    assert rules.peaks_are_known_or_not(good).wrong == ()
    assert rules.peaks_are_known_or_not(said).wrong == ()
    assert rules.peaks_are_known_or_not(guessed).blocked == resting_on(guessed, cell) != set()
    assert rules.peaks_are_known_or_not(silent).wrong == (f"{cell}: the MFU is missing without a reason.",)


def desk_of(run, records):
    """What the rules see of a study."""
    parts = computed(run, records)
    return Desk(parts=parts, records=counting(records), findings=findings(parts))


def test_ba1_wants_a_verdict_on_every_measured_trial(desk):
    """A trial of which nothing is known is named."""
    first, *others = desk.parts.trials
    blind = replace(desk, parts=replace(desk.parts, trials=(replace(first, steadiness=None), *others)))

    assert not RULES["BA1"](desk).wrong
    assert RULES["BA1"](blind).wrong == (f"{first.trial}: nothing is known of its steadiness.",)


def test_ba2_names_the_cells_whose_trials_contradict_one_another(desk):
    """Some shown to be steady, some shown not to be; it warns and blocks nothing."""
    torn, _ = first_cell(desk, steadiness="inconsistent")

    answer = RULES["BA2"](torn)

    assert not RULES["BA2"](desk).wrong
    assert answer.effect == "warn"
    assert desk.parts.cells[0].label in answer.wrong[0]
