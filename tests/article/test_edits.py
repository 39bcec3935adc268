"""The notice about an edited study file: which cells are from which state."""

import msgspec
import pytest
from fakes.records import edited, fake_run

from study.analysis import analyse
from study.article import compose
from study.article.edits import edits
from study.domain.run import State
from study.domain.trial import SkippedCell


def spoken(run, records, say):
    """What the edits come to, in words."""
    return [say(text) for text in edits(run, analyse(run, records))]


def test_without_an_edit_there_is_no_notice(say):
    """A run of one file."""
    assert spoken(*fake_run(), say) == []


def test_later_cells_are_named_with_the_day_of_the_edit(say):
    """One cell, then two."""
    run, records = fake_run()
    first, second = (series.members[-1] for series in run.plan.series[:2])

    (one,) = spoken(*edited(run, records, {first}), say)
    (two,) = spoken(*edited(run, records, {first, second}), say)

    assert "1 cell was measured after the edit of" in one
    assert "gpt tiny, training, ddp, ×2" in one
    assert "2 cells were measured after the edit of" in two


def test_added_blocks_and_edits_that_add_nothing(say):
    """All cells were measured before; a change of the title alone is no notice."""
    run, records = fake_run(blocks=4)
    middle = run.plan.trials[len(run.plan.trials) // 2].order

    def states(*orders):
        made = [
            State(since_utc="2026-01-05T12:00:00Z", first_order=order, plan_digest="d", study_text="")
            for order in orders
        ]
        return msgspec.structs.replace(run, states=tuple(made))

    (blocks,) = spoken(states(1, middle), records, say)

    assert "blocks were added on" in blocks
    assert spoken(states(1, run.plan.trials[-1].order + 1), records, say) == []


@pytest.mark.parametrize(("cells", "words"), [(1, "1 cell was taken out"), (2, "2 cells were taken out")])
def test_cells_that_were_taken_out_are_counted(say, cells, words):
    """Left out for another reason they are not."""
    run, records = edited(*fake_run(), set())
    reasons = ["Taken out of the study file after 5 of its trials were recorded."] * cells + ["Too slow."]
    skipped = tuple(
        SkippedCell(id=f"gone-{number}", cell=run.plan.cells[0].cell, reason=reason)
        for number, reason in enumerate(reasons)
    )
    run = msgspec.structs.replace(run, plan=msgspec.structs.replace(run.plan, skipped=skipped))

    (found,) = spoken(run, records, say)

    assert words in found


def test_the_article_has_the_notice_and_the_caveat():
    """At the top, and beside the finding."""
    run, records = fake_run()
    run, records = edited(run, records, {run.plan.series[0].members[-1]})

    article = compose(run, records, analyse(run, records))

    assert any("after the edit" in notice.frame for notice in article.notices)
    assert any("randomised together" in c.frame for f in article.findings for c in f.caveats)
