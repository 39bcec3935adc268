"""One more block: of which cells, in which order, with which sentinel."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.domain.errors import BadStudyFile
from study.domain.study import Matrix, Protocol, Study
from study.domain.trial import Plan, PlannedTrial
from study.planning import make_plan, one_more_block
from study.planning.plan import trial_seed

NAPS = ("a", "b", "c", "d", "e", "f")


@pytest.fixture
def plan(shelves) -> Plan:
    """Six naps in three blocks, without a sentinel."""
    return made(shelves, sentinel=False)


def made(shelves, **protocol) -> Plan:
    """A plan of six cells that are told apart by their variants."""
    matrix = Matrix(workload="nap", task="check", size="one", devices=1, variant=list(NAPS))
    study = Study(
        name="naps", title="Naps", protocol=Protocol(**{"blocks": 3, "seed": 7} | protocol), matrix=[matrix]
    )
    return make_plan(study, place="naps.toml", gpus=0, cores=2, shelves=shelves)


def added(before: Plan, after: Plan) -> tuple[PlannedTrial, ...]:
    """What the second plan has behind the first."""
    assert after.trials[: len(before.trials)] == before.trials
    return after.trials[len(before.trials) :]


def test_the_block_holds_these_cells_once_behind_all_others(plan):
    """Orders and block numbers go on; ids and seeds are made as for any trial."""
    ids = [cell.id for cell in plan.cells][:4]

    block = added(plan, one_more_block(plan, ids))

    assert sorted(trial.cell_id for trial in block) == sorted(ids)
    assert [trial.order for trial in block] == [19, 20, 21, 22]
    assert {trial.block for trial in block} == {4}
    assert block[0].id == f"0019-{block[0].cell_id}"
    assert block[0].seed == trial_seed(plan.seed, 4, block[0].cell_id)


def test_each_block_has_an_order_of_its_own_that_can_be_repeated(plan):
    """Equal plans give equal blocks, whatever the order of the ids; the next block is in another order."""
    ids = [cell.id for cell in plan.cells]

    first = one_more_block(plan, ids)
    second = one_more_block(first, ids)

    assert first == one_more_block(plan, ids[::-1])
    assert [t.cell_id for t in added(plan, first)] != [t.cell_id for t in added(first, second)]


@given(seed=st.integers(0, 2**32 - 1))
def test_every_place_is_as_likely_for_every_cell(seed):
    """The order comes from the plan's seed: other seeds, other orders, the same cells."""
    trials = tuple(
        PlannedTrial(id=f"{n}", order=n, block=1, cell_id=x, seed=0) for n, x in enumerate(NAPS, 1)
    )
    plan = Plan(
        digest="",
        seed=seed,
        accelerator="cpu",
        devices_present=1,
        cores_present=1,
        protocol=Protocol(),
        cells=(),
        skipped=(),
        series=(),
        trials=trials,
        predicted_s=None,
    )

    block = added(plan, one_more_block(plan, NAPS))

    assert sorted(trial.cell_id for trial in block) == list(NAPS)
    assert one_more_block(plan, NAPS) == one_more_block(plan, NAPS)


def test_the_predicted_time_grows_and_the_digest_stays(plan):
    """What is measured is the same; how often is not part of the digest."""
    after = one_more_block(plan, [plan.cells[0].id])

    assert after.predicted_s == pytest.approx(plan.predicted_s + plan.cells[0].predicted_s)
    assert after.digest == plan.digest
    unknown = msgspec.structs.replace(plan, predicted_s=None)
    assert one_more_block(unknown, [plan.cells[0].id]).predicted_s is None


def test_the_sentinel_is_first_and_last(plan):
    """In an added block too, and its time counts."""
    watched = msgspec.structs.replace(plan, sentinel=plan.cells[5])

    after = one_more_block(watched, [plan.cells[0].id])

    first, cell, last = added(watched, after)
    assert (first.role, cell.role, last.role) == ("sentinel", "cell", "sentinel")
    assert first.cell_id == last.cell_id == plan.cells[5].id
    assert first.id != last.id
    assert after.predicted_s == pytest.approx(plan.predicted_s + 3 * plan.cells[0].predicted_s)


def test_orders_go_on_behind_trials_that_the_plan_no_longer_has(plan):
    """Records of a cell that was taken out keep their orders and their blocks to themselves."""
    gone = PlannedTrial(id="0025-gone", order=25, block=6, cell_id="gone", seed=1)

    (trial,) = added(plan, one_more_block(plan, [plan.cells[0].id], [gone]))

    assert (trial.order, trial.block) == (26, 7)


def test_the_command_line_s_precision_stands_in_for_the_file_s(shelves):
    """As its number of blocks does; the file's own stays without one."""
    matrix = Matrix(workload="nap", task="check", size="one", devices=1)
    study = Study(name="naps", title="Naps", protocol=Protocol(precision=0.02), matrix=[matrix])
    plan = make_plan(study, place="", gpus=0, cores=2, shelves=shelves, precision=0.01)

    assert plan.protocol.precision == 0.01
    assert make_plan(study, place="", gpus=0, cores=2, shelves=shelves).protocol.precision == 0.02


def test_a_glob_that_fits_no_cell_is_refused(shelves):
    """It would ask for the precision of nothing."""
    with pytest.raises(BadStudyFile, match=r'protocol.precision_cells: no cell .* matches "gpt\*"'):
        made(shelves, precision=0.01, precision_cells=["gpt*"])


@pytest.mark.parametrize("key", [{"precision_cells": ["nap*"]}, {"time_budget_s": 60.0}])
def test_keys_that_do_nothing_without_a_precision_are_refused(shelves, key):
    """Both only say how far a precision is pursued."""
    with pytest.raises(BadStudyFile, match="it does nothing, since no precision is asked for"):
        made(shelves, **key)
