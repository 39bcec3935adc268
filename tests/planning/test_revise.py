"""An edited study file: what is measured again, what is kept, and in which order."""

from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.domain.study import Protocol
from study.domain.trial import Cell, Plan, PlannedCell, PlannedTrial, SkippedCell
from study.planning import Revision, revise


def cell(name: str) -> PlannedCell:
    """A cell that is told apart by its variant."""
    return PlannedCell(
        id=name,
        cell=Cell(
            workload="nap",
            size="one",
            task="check",
            strategy="single",
            accelerator="cpu",
            devices=1,
            precision="fp32",
            batch=8,
            threads_per_device=1,
            variant=name,
        ),
        predicted_s=2.0,
        predicted_memory_bytes=None,
        oversubscribed=False,
    )


def plan(names: str, blocks: int = 3, seed: int = 7, **changes: object) -> Plan:
    """A plan of these cells, one a letter, in complete blocks in the order of the letters."""
    places = [(block, name) for block in range(1, blocks + 1) for name in names]
    made = Plan(
        digest=f"{names}/{blocks}",
        seed=seed,
        accelerator="cpu",
        devices_present=2,
        cores_present=2,
        protocol=Protocol(blocks=blocks),
        cells=tuple(cell(name) for name in names),
        skipped=(),
        series=(),
        trials=tuple(
            PlannedTrial(id=f"{order:04d}-{name}", order=order, block=block, cell_id=name, seed=order)
            for order, (block, name) in enumerate(places, start=1)
        ),
        predicted_s=None,
    )
    return msgspec.structs.replace(made, **changes)


def revised(old: Plan, new: Plan, recorded: int | None = None) -> Revision:
    """The revision after the first `recorded` trials of the old plan, by default all."""
    found = revise(old, new, old.trials[:recorded])
    assert isinstance(found, Revision), found
    return found


def blocks(of: Plan) -> dict[int, str]:
    """The cells of each block as one word, sorted."""
    return {
        block: "".join(sorted(t.cell_id for t in of.trials if t.block == block))
        for block in sorted({t.block for t in of.trials})
    }


def test_an_added_cell_is_measured_in_blocks_of_its_own_behind_the_others() -> None:
    """The run's own trials stay as they were; nothing can be paired with them."""
    old = plan("ab")
    found = revised(old, plan("abc", seed=9))

    assert found.plan.trials[:6] == old.trials
    assert blocks(found.plan) == {1: "ab", 2: "ab", 3: "ab", 4: "c", 5: "c", 6: "c"}
    assert (found.kept, found.fresh, found.first_order, found.added) == (("a", "b"), ("c",), 7, 3)
    assert found.plan.seed == 7
    assert found.plan.digest == "abc/3"


def test_raised_blocks_are_added_for_every_cell() -> None:
    """Complete blocks in random order; a new cell runs among the others while they last."""
    assert blocks(revised(plan("ab"), plan("ab", 5)).plan) == dict.fromkeys(range(1, 6), "ab")
    assert blocks(revised(plan("ab", 2), plan("abc", 3)).plan) == {
        1: "ab",
        2: "ab",
        3: "abc",
        4: "c",
        5: "c",
    }


def test_blocks_that_have_not_begun_take_the_new_cells_in() -> None:
    """Interrupted in the second block: that one is finished, the third holds all, one more the new cell."""
    found = revised(plan("ab", 4), plan("abc", 4), recorded=3)

    assert blocks(found.plan) == {1: "ab", 2: "ab", 3: "abc", 4: "abc", 5: "c", 6: "c"}
    assert found.first_order == 5


def test_blocks_added_for_a_precision_are_not_planned_anew() -> None:
    """Which cells they hold was decided from the rates."""
    protocol = Protocol(blocks=3, precision=0.01)
    old, new = plan("ab", protocol=protocol), plan("abc", protocol=protocol)

    assert revised(old, new, recorded=2).plan.trials[:6] == old.trials


def test_the_order_in_added_blocks_is_random() -> None:
    """Over 200 added blocks every order of two cells comes up."""
    found = revised(plan("ab", 1), plan("ab", 201))
    orders = Counter(
        tuple(t.cell_id for t in found.plan.trials if t.block == block) for block in range(2, 202)
    )

    assert set(orders) == {("a", "b"), ("b", "a")}
    assert min(orders.values()) > 60


def test_a_cell_taken_out_is_named_with_its_records_and_nothing_else_of_it_is_run() -> None:
    """One without a record is gone without a word: nothing of it was lost."""
    found = revised(plan("abc"), plan("a"), recorded=5)

    assert [(s.id, s.reason) for s in found.plan.skipped] == [
        ("b", "Taken out of the study file after 2 of its trials were recorded."),
        ("c", "Taken out of the study file after one of its trials was recorded."),
    ]
    assert found.taken_out == ("b", "c")
    assert blocks(found.plan) == {1: "a", 2: "a", 3: "a"}


def test_the_file_s_own_reason_comes_first() -> None:
    """An exclusion was added for a cell that had been measured."""
    skipped = SkippedCell(id="b", cell=cell("b").cell, reason="Too slow.")
    found = revised(plan("ab"), plan("a", skipped=(skipped,)))

    assert [s.reason for s in found.plan.skipped] == [
        "Too slow. Taken out of the study file after 3 of its trials were recorded."
    ]


def test_a_cell_put_back_has_its_recorded_trials_again_and_the_rest_is_added() -> None:
    """Two edits later; the orders of its old trials are never given to another."""
    first = plan("ab")
    without = revised(first, plan("a"), recorded=4)
    again = revise(without.plan, plan("ab"), first.trials[:4])

    assert isinstance(again, Revision)
    assert again.plan.trials[:4] == first.trials[:4]
    assert again.fresh == ()
    assert Counter(t.cell_id for t in again.plan.trials) == {"a": 3, "b": 3}
    assert again.plan.skipped == ()


def test_orders_go_on_after_records_of_cells_that_are_gone() -> None:
    """Also where the last trial of all belongs to such a cell."""
    found = revised(plan("ab"), plan("ac"))

    assert found.first_order == 7
    assert min(t.order for t in found.plan.trials if t.cell_id == "c") == 7
    assert min(t.block for t in found.plan.trials if t.cell_id == "c") == 4


def test_without_a_record_the_run_follows_the_new_file_whole() -> None:
    """Whatever was changed: there is nothing to keep."""
    new = plan("xy", 2, protocol=Protocol(blocks=2, margin=0.1))

    assert revised(plan("ab"), new, recorded=0).plan == new


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"protocol": Protocol(blocks=2)}, "protocol.blocks was 3 and is 2"),
        (
            {"protocol": Protocol(blocks=3, margin=0.05)},
            "protocol.margin was 0.02 and is 0.05",
        ),
        (
            {"protocol": Protocol(blocks=3, seed=4)},
            "protocol.seed was not set and is 4",
        ),
        ({"accelerator": "cuda"}, "the accelerator was cpu and is cuda"),
        ({"sentinel": cell("t")}, "the sentinel is another cell than it was"),
        (
            {"sentinel": msgspec.structs.replace(cell("s"), protocol=Protocol(window_s=0.1))},
            "the sentinel is measured in another way than it was",
        ),
        ({"cells": (cell("x"),)}, "none of its cells is as it was"),
    ],
)
def test_what_makes_everything_new_is_said(changes: dict[str, object], words: str) -> None:
    """The field, what the run has and what the file has."""
    old = plan("ab", sentinel=cell("s"))

    assert revise(old, plan("ab", **changes), old.trials) == words


def watched(names: str, block_count: int) -> Plan:
    """A plan whose first block is framed by the sentinel s."""
    made = plan(names, block_count)
    first, last = (
        PlannedTrial(id=f"{order:04d}-s", order=order, block=1, cell_id="s", seed=1, role="sentinel")
        for order in (0, 50)
    )
    return msgspec.structs.replace(made, trials=(first, *made.trials, last), sentinel=cell("s"))


def test_the_sentinel_frames_every_added_block_and_is_no_cell() -> None:
    """Also where the study measures the same cell, and where the file alone would have none."""
    old = watched("as", 1)
    new = msgspec.structs.replace(plan("as", 2), unknown={"sentinel": "too few cells"})
    found = revise(old, new, old.trials)

    assert isinstance(found, Revision)
    added = [t for t in found.plan.trials if t.block == 2]
    assert [t.role for t in added] == ["sentinel", "cell", "cell", "sentinel"]
    assert [t.order for t in added] == [51, 52, 53, 54]
    assert found.plan.sentinel == cell("s")
    assert found.plan.unknown == {}
    assert found.plan.predicted_s == 2.0 * len(found.plan.trials)


def test_a_sentinel_alone_in_its_block_is_not_run() -> None:
    """Every cell of the second block was taken out before it began."""
    old = watched("ab", 1)
    tail = tuple(
        PlannedTrial(id=f"{order:04d}-{name}", order=order, block=2, cell_id=name, seed=1, role=role)
        for order, name, role in ((51, "s", "sentinel"), (52, "b", "cell"), (53, "s", "sentinel"))
    )
    longer = msgspec.structs.replace(old, trials=(*old.trials, *tail))

    found = revise(longer, plan("a", 1, sentinel=cell("s")), old.trials)

    assert isinstance(found, Revision)
    assert {t.block for t in found.plan.trials} == {1}


def test_a_time_that_cannot_be_predicted_has_its_reason() -> None:
    """Null with a reason, and the reason for no sentinel stays too."""
    unpredicted = msgspec.structs.replace(cell("c"), predicted_s=None)
    new = plan("ab", cells=(cell("a"), unpredicted), unknown={"sentinel": "too few cells"})
    found = revised(plan("ab"), new)

    assert found.plan.predicted_s is None
    assert set(found.plan.unknown) == {"predicted_s", "sentinel"}


@given(
    names=st.lists(st.sets(st.sampled_from("abcdef"), min_size=1), min_size=2, max_size=5),
    raises=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    measured=st.lists(st.integers(0, 20), min_size=5, max_size=5),
)
def test_whatever_the_edits_no_record_is_lost_and_no_id_stands_twice(
    names: list[set[str]], raises: list[int], measured: list[int]
) -> None:
    """Chains of edits and sessions: every cell of the file has its blocks, all of its records among them."""
    now = plan("".join(sorted(names[0])), 1)
    recorded: dict[str, PlannedTrial] = {}
    wanted = 1
    for cells, more, done in zip(names[1:], raises, measured, strict=False):
        coming = [t for t in now.trials if t.id not in recorded]
        recorded |= {t.id: t for t in coming[:done]}
        wanted += more
        new = plan("".join(sorted(cells)), wanted)
        found = revise(now, new, tuple(recorded.values()))
        assert found == revise(now, new, tuple(recorded.values()))
        if isinstance(found, str):
            assert "none of its cells" in found
            return
        ids = [t.id for t in found.plan.trials]
        orders = [t.order for t in found.plan.trials]
        assert len(ids) == len(set(ids)) == len(set(orders))
        assert orders == sorted(orders)
        counts = Counter(t.cell_id for t in found.plan.trials)
        assert set(counts) == cells
        assert all(counts[name] >= wanted for name in cells)
        kept = {t for t in recorded.values() if t.cell_id in cells}
        assert {t.id for t in kept} <= set(ids)
        assert all(t in found.plan.trials for t in kept)
        gone = {t.cell_id for t in recorded.values()} - cells
        assert {s.id for s in found.plan.skipped} == gone == set(found.taken_out)
        per_block = Counter((t.block, t.cell_id) for t in found.plan.trials)
        assert max(per_block.values()) == 1
        assert all(
            t.order >= found.first_order for t in found.plan.trials if t not in now.trials and t not in kept
        )
        now = found.plan


def test_how_far_a_run_goes_on_may_be_edited() -> None:
    """More time and more blocks change no measurement, so nothing is measured anew."""
    protocol = msgspec.structs.replace(Protocol(blocks=3), most_blocks=60, time_budget_s=3600.0)

    found = revised(plan("ab"), plan("ab", protocol=protocol))

    assert (found.kept, found.fresh, found.added) == (("a", "b"), (), 0)
    assert found.plan.protocol == protocol
