"""What the page says where blocks were added for a precision."""

import msgspec
import pytest

from study.article.precision import limits, method
from study.domain.run import Decision
from study.domain.study import Protocol


def asked(scene, *decisions, **protocol):
    """The scene, had the study asked for one percent, with what was decided."""
    plan = msgspec.structs.replace(scene.run.plan, protocol=Protocol(blocks=3, precision=0.01, **protocol))
    return scene.with_run(plan=plan, decisions=decisions).material()


def decision(verdict, *cells, **more):
    """A decision after the third block."""
    return Decision(after_block=3, verdict=verdict, cells=cells, **more)


def spoken(texts, say):
    """All sentences in a row."""
    return " ".join(say(text) for text in texts)


def test_without_a_precision_nothing_is_said(scene, say):
    """A study of fixed blocks has its sentence already."""
    assert method(scene.material()) == limits(scene.material()) == ()


def test_the_rule_is_told(scene, say):
    """What was asked, of what an added block consists, when a cell counts, how many blocks, why no more."""
    text = spoken(method(asked(scene, decision("reached"))), say)

    for words in (
        "until half the 95% interval of each cell was below 1% of its rate",
        "all cells that are compared with them",
        "which of two cells was faster decided nothing",
        "needed 7 trials at least",
        "after each of the last 3",
        "93% of studies or more",
        "every cell got 3 blocks",
        "stopped when that was reached",
    ):
        assert words in text


def test_cells_that_were_asked_are_named(scene, say):
    """By the globs of the study file."""
    text = spoken(method(asked(scene, decision("reached"), precision_cells=["gpt*"])), say)

    assert "of each cell that matches gpt* was below" in text


def test_cells_have_different_numbers_of_blocks(scene, say):
    """The page gives the range; n stands at each number."""
    plan = scene.run.plan
    more = msgspec.structs.replace(plan.trials[0], id="more", order=99, block=4)
    uneven = scene.with_run(plan=msgspec.structs.replace(plan, trials=(*plan.trials, more)))

    assert "In all the cells got 3 to 4 blocks." in spoken(method(asked(uneven, decision("reached"))), say)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("most_blocks", "since the study allows 30 blocks at most"),
        ("budget", "would not have ended within the time of 60 that the study allows"),
        ("out_of_reach", "the trials spread so much that it was out of reach"),
    ],
)
def test_why_it_was_not_reached(scene, say, verdict, words):
    """One sentence in the method."""
    material = asked(scene, decision(verdict, scene.run.plan.cells[0].id), time_budget_s=60.0)

    assert words in spoken(method(material), say)


def test_what_was_not_reached_is_a_limit(scene, make, say):
    """Which cells, how wide they are, and how many blocks it would take; a cell without an interval too."""
    wide, bare = scene.analysis.cells[0], make.cell_summary(make.cell("gpt", "train", "fsdp", 2), None)
    both = scene.with_analysis(cells=(*scene.analysis.cells, bare))

    text = spoken(
        limits(asked(both, decision("out_of_reach", wide.cell_id, bare.cell_id, blocks_needed=40))), say
    )

    assert "2 cells are less precise than the 1% that was asked for" in text
    assert f"{wide.label} (±2%)" in text
    assert f"{bare.label} (no interval)" in text
    assert "at least 40 blocks in all" in text


def test_what_is_beyond_counting_has_no_number(scene, say):
    """Then the widths alone are given."""
    text = spoken(limits(asked(scene, decision("out_of_reach", scene.analysis.cells[0].cell_id))), say)

    assert "1 cell is less precise" in text
    assert "would be needed" not in text


def test_a_precision_that_was_reached_is_no_limit(scene, say):
    """Nothing is said then; but of cells that gave no result something is."""
    assert limits(asked(scene, decision("reached"))) == ()
    given_up = decision("reached", given_up=(scene.run.plan.cells[0].id,))
    assert "1 cell gave no result in its last blocks" in spoken(limits(asked(scene, given_up)), say)


@pytest.mark.parametrize("decisions", [(), (decision("more", "a"),)])
def test_a_run_that_was_not_finished_has_not_decided(scene, say, decisions):
    """Interrupted in the first blocks or in an added one."""
    text = spoken(limits(asked(scene, *decisions)), say)

    assert text == "The run is not complete: whether 1% can be reached was not decided."
