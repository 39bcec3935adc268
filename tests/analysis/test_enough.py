"""When it is enough: which cells one more block is for, why no more come, and that intervals hold."""

import functools

import msgspec
import numpy as np
import pytest
from fakes.records import Truth, cell, cell_id, failed, fake_run
from scipy.special import chdtri, stdtrit

from study.analysis import analyse, decide, next_block
from study.analysis.cells import repeats_by_cell
from study.analysis.enough import OPTIMISM, half_width, is_settled, measurements, trials_needed
from study.analysis.intervals import Repeats
from study.analysis.trials import summarise
from study.domain.run import PRECISE_COVERAGE, PRECISE_IN_A_ROW, PRECISE_TRIALS

ONE, TWO = cell(batch=8), cell(batch=8, strategy="ddp", devices=2)
OTHER = cell("resnet", batch=16)
ONE_ID, TWO_ID, OTHER_ID = (cell_id(of) for of in (ONE, TWO, OTHER))
STEADY = (100.0, 100.1, 99.9, 100.05, 99.95, 100.1, 99.9, 100.0)
NOISY = (100.0, 103.0, 97.0, 102.0, 98.0, 104.0, 96.0, 100.0)
WILD = (100.0, 150.0, 70.0, 140.0, 60.0, 155.0, 75.0, 100.0)


def study(blocks=8, rates=None, **protocol):
    """A plan of a series of two cells and of a cell that is compared with none, with their records."""
    truths = [Truth(cell=of, scaling="strong", rate=100.0, unit="items") for of in (ONE, TWO, OTHER)]
    stated = dict.fromkeys((ONE_ID, TWO_ID, OTHER_ID), STEADY) | (rates or {})
    run, records = fake_run(truths=truths, blocks=blocks, steps=3, rates=stated)
    asked = msgspec.structs.replace(run.plan.protocol, **({"precision": 0.01} | protocol))
    return msgspec.structs.replace(run.plan, protocol=asked), records


def decided(plan, records, spent_s=0.0):
    """The decision, and the cells of the block that it asks for."""
    decision = decide(plan, records, spent_s)
    return decision, set(next_block(plan, decision, records)) if decision.verdict == "more" else set()


def test_narrow_intervals_are_enough():
    """Eight trials that spread by a tenth of a percent are within one percent."""
    decision, _ = decided(*study())

    assert (decision.verdict, decision.after_block, decision.cells) == ("reached", 8, ())
    assert (decision.blocks_needed, decision.given_up) == (None, ())


def test_a_block_is_for_what_is_wide_and_all_that_is_compared_with_it():
    """The noisy cell's base gets another trial, so that pairs stay whole; the quiet cell beside them none."""
    decision, block = decided(*study(rates={TWO_ID: NOISY}))

    assert decision.verdict == "more"
    assert decision.cells == (TWO_ID,)
    assert block == {ONE_ID, TWO_ID}


def test_variants_belong_together():
    """Cells that are compared without being a series share their blocks too."""
    a, b = cell(variant="a"), cell(variant="b")
    truths = [Truth(cell=of, scaling="strong", rate=100.0, unit="items") for of in (a, b, OTHER)]
    rates = {cell_id(a): STEADY, cell_id(b): NOISY, OTHER_ID: STEADY}
    run, records = fake_run(truths=truths, blocks=8, steps=3, rates=rates)
    plan = msgspec.structs.replace(
        run.plan, protocol=msgspec.structs.replace(run.plan.protocol, precision=0.01)
    )

    _, block = decided(plan, records)

    assert block == {cell_id(a), cell_id(b)}


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_which_cell_is_faster_decides_nothing(factor):
    """The same spreads with the winner and the loser exchanged: the same decision."""
    plan, records = study(rates={TWO_ID: tuple(factor * rate for rate in NOISY)})

    assert decided(plan, records) == decided(*study(rates={TWO_ID: NOISY}))


def test_only_the_named_cells_are_asked():
    """A glob leaves the noisy cell out; its width is nobody's concern then."""
    decision, _ = decided(*study(rates={TWO_ID: NOISY}, precision_cells=["*.x1.*"]))

    assert decision.verdict == "reached"


@pytest.mark.parametrize("blocks", [1, 2, 3, PRECISE_TRIALS - 1])
def test_a_few_trials_are_never_enough(blocks):
    """However close together they lie; without an interval least of all."""
    decision, block = decided(*study(blocks=blocks))

    assert decision.verdict == "more"
    assert len(decision.cells) == len(block) == 3


def test_an_interval_must_have_been_narrow_for_a_while():
    """Narrow by the last trial only: one more block."""
    rates = (100.0, 101.5, 98.5, 101.0, 99.0, 100.6, 100.0, 100.0)
    plan, records = study(rates={OTHER_ID: rates}, precision=0.0105)
    newest = repeats_by_cell(summarise(records))[OTHER_ID]
    widths = [half_width(newest.of_blocks(newest.blocks[:n])) for n in range(5, 9)]

    decision, _ = decided(plan, records)

    assert widths[-1] < 0.0105 < widths[-3]
    assert (decision.verdict, decision.cells) == ("more", (OTHER_ID,))


def test_the_most_blocks_are_the_end():
    """Wide, and no block is left: the cells and what they would need at least are told."""
    decision, _ = decided(*study(rates={TWO_ID: NOISY}, most_blocks=8))

    assert (decision.verdict, decision.cells) == ("most_blocks", (TWO_ID,))
    assert decision.blocks_needed > 8


def test_narrow_at_the_most_blocks_is_enough():
    """Where nothing can be added, nothing was stopped by chance: few trials count as they are."""
    decision, _ = decided(*study(blocks=5, most_blocks=5))

    assert decision.verdict == "reached"


def test_what_cannot_be_reached_is_not_tried():
    """A spread of a third needs far more than thirty blocks, even if large by chance; how many is told."""
    decision, _ = decided(*study(rates={TWO_ID: WILD}))

    assert (decision.verdict, decision.cells) == ("out_of_reach", (TWO_ID,))
    assert decision.blocks_needed > 1000


def test_effort_goes_to_what_can_be_reached():
    """Of two wide cells one is out of reach: blocks are added for the other alone."""
    plan, records = study(rates={TWO_ID: WILD, OTHER_ID: NOISY})

    decision, block = decided(plan, records)

    assert (decision.verdict, decision.cells) == ("more", (OTHER_ID,))
    assert block == {OTHER_ID}


def test_the_time_budget_is_kept():
    """A block that would not end in time is not begun."""
    plan, records = study(rates={TWO_ID: NOISY}, time_budget_s=1000.0)

    assert decided(plan, records, spent_s=0.0)[0].verdict == "more"
    assert decided(plan, records, spent_s=999.0)[0].verdict == "budget"


def test_more_blocks_than_the_time_allows_are_out_of_reach():
    """One block would fit, and what is needed would not."""
    plan, records = study(rates={TWO_ID: NOISY}, time_budget_s=1000.0)
    block_s = sum(r.turnaround_ns / 1e9 for r in records if r.block == 1 and r.cell_id != OTHER_ID)

    decision, _ = decided(plan, records, spent_s=1000.0 - 1.5 * block_s)

    assert decision.verdict == "out_of_reach"


def test_of_two_groups_the_cheaper_is_settled_where_both_have_no_time():
    """The single cell's blocks take less than those of the series."""
    plan, records = study(rates={TWO_ID: NOISY, OTHER_ID: NOISY}, time_budget_s=10_000.0)
    needed = decided(plan, records)[0]
    other_s = sum(r.turnaround_ns / 1e9 for r in records if r.cell_id == OTHER_ID) / 8
    more = trials_needed(measurements(records)[OTHER_ID], 0.01) - 8

    decision, block = decided(plan, records, spent_s=10_000.0 - 1.1 * more * other_s)

    assert set(needed.cells) == {TWO_ID, OTHER_ID}
    assert block == {OTHER_ID} == set(decision.cells)


def test_the_sentinels_two_trials_are_part_of_a_block():
    """A block of two cells of 1 s fits into the last 3 s; with the sentinel's 2 × 1 s it does not."""
    plan, records = study(rates={TWO_ID: NOISY}, time_budget_s=1000.0)
    records = [msgspec.structs.replace(record, turnaround_ns=1_000_000_000) for record in records]
    of_one = next(planned for planned in plan.cells if planned.id == ONE_ID)
    watched = msgspec.structs.replace(
        plan, sentinel=msgspec.structs.replace(of_one, id="watch", predicted_s=1.0)
    )

    assert decided(plan, records, spent_s=997.0)[0].verdict == "out_of_reach"
    assert decided(watched, records, spent_s=997.0)[0].verdict == "budget"


def test_time_is_predicted_where_nothing_was_launched_yet():
    """Settling counts too."""
    plan, records = study(rates={TWO_ID: NOISY}, time_budget_s=1000.0, settle_s=600.0)

    assert decided(plan, records, spent_s=0.0)[0].verdict == "budget"


@pytest.mark.parametrize("blocks", [3, 8])
def test_a_cell_that_never_gives_a_result_is_not_waited_for(blocks):
    """It is named, it gets no more trials, and it does not keep the others from being enough."""
    plan, records = study(blocks=blocks)
    records = [failed(r) if r.cell_id == TWO_ID else r for r in records]

    decision, block = decided(plan, records)

    assert decision.given_up == (TWO_ID,)
    assert TWO_ID not in {*decision.cells, *block}
    assert decision.verdict == ("reached" if blocks == 8 else "more")


def test_a_cell_that_stopped_giving_results_is_given_up_too():
    """Three failures in a row; two leave hope."""
    plan, records = study(rates={TWO_ID: NOISY})
    last = {blocks: [failed(r) if r.cell_id == TWO_ID and r.block > 8 - blocks else r for r in records]
            for blocks in (2, 3)}  # fmt: skip

    assert decided(plan, last[3])[0].given_up == (TWO_ID,)
    assert decided(plan, last[2])[0].given_up == ()


def test_nothing_can_be_measured_and_so_it_ends():
    """Every cell fails: no block is added for ever."""
    plan, records = study(blocks=3)

    decision, _ = decided(plan, [failed(record) for record in records])

    assert (decision.verdict, len(decision.given_up)) == ("reached", 3)


def test_a_sentinel_is_no_sample():
    """Its trials have the cell's id and say nothing about the cell's interval."""
    plan, records = study(rates={TWO_ID: NOISY})
    trials = tuple(
        msgspec.structs.replace(t, role="sentinel") if t.cell_id == TWO_ID and t.block > 5 else t
        for t in plan.trials
    )

    with_fewer = decide(msgspec.structs.replace(plan, trials=trials), records, 0.0)
    ids = {t.id for t in trials if t.role == "cell"}

    assert with_fewer.cells == (TWO_ID,)
    assert measurements([r for r in records if r.trial in ids])[TWO_ID].blocks == (1, 2, 3, 4, 5)


def test_without_a_precision_there_is_nothing_to_decide():
    """Asked all the same, it refuses."""
    with pytest.raises(ValueError, match="no precision"):
        decide(*study(precision=None), 0.0)


def test_trials_without_spread_need_no_more_than_the_least():
    """Clocks count nanoseconds: no spread at all is an interval of no width."""
    plan, records = study(blocks=7, rates=dict.fromkeys((ONE_ID, TWO_ID, OTHER_ID), (100.0,) * 8))

    assert decided(plan, records)[0].verdict == "reached"
    assert trials_needed(measurements(records)[ONE_ID], 0.01) == 8
    assert trials_needed(None, 0.01) == PRECISE_TRIALS


def test_what_no_number_of_trials_settles_is_null():
    """A hundred thousand blocks would not do: there is no number to tell."""
    decision, _ = decided(*study(rates={TWO_ID: WILD}, precision=0.00001))

    assert decision.verdict == "out_of_reach"
    assert decision.blocks_needed is None


def test_the_samples_are_those_of_the_page():
    """The same trials, work and times as the table of rates is made of, the excluded trial left out."""
    _, records = fake_run(blocks=4, steps=3)
    spoiled = [failed(r) if r.order == 7 else r for r in records]

    assert measurements(spoiled) == repeats_by_cell(summarise(spoiled))


def test_added_blocks_break_no_rule():
    """Part of the cells have another block: they are in random order, and all planned trials have results."""
    truths = [Truth(cell=of, scaling="strong", rate=100.0, unit="items") for of in (ONE, TWO, OTHER)]
    run, records = fake_run(truths=truths, blocks=4)
    kept = [t for t in run.plan.trials if t.block < 4 or t.cell_id != OTHER_ID]
    protocol = msgspec.structs.replace(run.plan.protocol, blocks=3, precision=0.01)
    plan = msgspec.structs.replace(run.plan, trials=tuple(kept), protocol=protocol)
    ids = {t.id for t in kept}

    found = analyse(msgspec.structs.replace(run, plan=plan), [r for r in records if r.trial in ids])
    rules = {rule.id: rule for rule in found.rules}

    assert all(rules[each].passed for each in ("ML1", "MY1", "HB2", "HB6", "KJ1"))
    assert {c.cell_id: c.rate.n for c in found.cells} == {ONE_ID: 4, TWO_ID: 4, OTHER_ID: 3}


STUDIES, MOST = 4000, 30


def widths(rates):
    """After each trial (columns) half of the interval as a share of the rate; windows of one second."""
    n = np.arange(1, rates.shape[1] + 1)
    logs = np.log(rates)
    mean = np.cumsum(logs, 1) / n
    spread = np.sqrt(np.maximum(np.cumsum(logs**2, 1) - n * mean**2, 0) / np.maximum(n - 1, 1))
    t = np.array([np.nan, np.nan, *(stdtrit(count - 1, 0.975) for count in n[2:])])
    half = t * spread / np.sqrt(n)
    share = np.exp(mean) * np.sinh(half) / (np.cumsum(rates, 1) / n)
    return share, mean, half, spread, t


def ends(rates, first, precision):
    """After which trial (from 0) each study ends: settled, out of reach, or at the most blocks."""
    share, _, _, spread, t = widths(rates)
    n = np.arange(1, MOST + 1)
    narrow = share < precision
    settled = np.ones_like(narrow)
    for back in range(PRECISE_IN_A_ROW):
        settled[:, back:] &= narrow[:, : MOST - back]
    settled[:, : max(first, PRECISE_TRIALS) - 1] = False
    chance = np.array([np.nan, np.nan, *(chdtri(count - 1, 1 - OPTIMISM) for count in n[2:])])
    luckily = spread * np.sqrt((n - 1) / chance)
    unreachable = ~settled & (np.sinh(t[-1] * luckily / np.sqrt(MOST)) >= precision)
    unreachable[:, : first - 1] = False
    over = settled | unreachable
    over[:, -1] = True
    return over.argmax(1), settled, unreachable


@functools.cache
def sequences(cv, studies=STUDIES):
    """Rates of trials around 1, one study a row; each launch has a rate of its own."""
    generator = np.random.default_rng([20261201, round(cv * 1e5)])
    return np.exp(generator.normal(0.0, cv, (studies, MOST)))


@pytest.mark.parametrize("precision", [0.01, 0.02])
@pytest.mark.parametrize("first", [3, 5])
@pytest.mark.parametrize("cv", [0.005, 0.0075, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05])
def test_the_interval_where_measuring_stopped_covers_as_stated(cv, first, precision):
    """93 % at least of 95 %: less two standard errors of four thousand studies, which are 0.8 %.

    Stopping at the first narrow interval would cover 90 % at worst, see the test below.
    """
    rates = sequences(cv)
    end, _, _ = ends(rates, first, precision)
    _, mean, half, _, _ = widths(rates)

    row = np.arange(STUDIES)
    covered = np.mean(np.abs(mean[row, end]) <= half[row, end])

    assert covered >= PRECISE_COVERAGE - 0.008


def test_the_worst_case_holds_in_many_more_studies():
    """Forty thousand studies where the rule is weakest: 93 % within 0.25 %, and 90 % with the naive rule."""
    rates = sequences(0.03, studies=40_000)
    share, mean, half, _, _ = widths(rates)
    naive = (share < 0.02)[:, 2:].argmax(1) + 2
    row = np.arange(len(rates))

    end, _, _ = ends(rates, 3, 0.02)
    ours = np.mean(np.abs(mean[row, end]) <= half[row, end])
    theirs = np.mean(np.abs(mean[row, naive]) <= half[row, naive])

    assert ours >= PRECISE_COVERAGE - 0.0025
    assert theirs < 0.91


@pytest.mark.parametrize("cv", [0.005, 0.015, 0.03])
def test_the_simulated_rule_is_the_rule(cv):
    """Width, settled and out of reach after every trial, against the code itself, in twenty studies."""
    rates = sequences(cv)[:20]
    share, _, _, _, _ = widths(rates)
    _, settled, unreachable = ends(rates, 3, 0.01)

    for study_, row in enumerate(rates):
        for n in range(3, MOST):
            one = Repeats(
                trials=tuple(map(str, range(n))),
                blocks=tuple(range(n)),
                work=tuple(round(rate * 10**12) for rate in row[:n]),
                wall_s=(1e12,) * n,
            )
            assert half_width(one) == pytest.approx(share[study_, n - 1], rel=1e-6)
            assert is_settled(one, 0.01) == settled[study_, n - 1]
            if not settled[study_, n - 1]:
                needed = trials_needed(one, 0.01)
                assert (needed is None or needed > MOST) == unreachable[study_, n - 1]
