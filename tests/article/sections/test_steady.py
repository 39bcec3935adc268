"""The section on steadiness."""

import msgspec

from study.article.sections.steady import section
from study.domain.article import TableBlock
from study.domain.steadiness import Steadiness

SETTLED = Steadiness(
    verdict="steady",
    reason="",
    steps=40,
    start=0,
    drift=None,
    levels=1,
    alternating_ns=(),
    stalls=(),
    mser_start=0,
    unknown={"drift": "not of interest here"},
)


def with_verdicts(scene):
    """The scene with trials of which the first of each cell drifts and the rest are steady."""
    trials, seen = [], set()
    for trial in scene.analysis.trials:
        if trial.rate is None:
            trials.append(trial)
            continue
        verdict = "steady" if trial.cell_id in seen else "drifting"
        seen.add(trial.cell_id)
        settled = msgspec.structs.replace(SETTLED, verdict=verdict)
        trials.append(msgspec.structs.replace(trial, steadiness=settled))
    cells = tuple(
        msgspec.structs.replace(cell, steadiness="inconsistent" if cell.measured else None)
        for cell in scene.analysis.cells
    )
    return scene.but(analysis=msgspec.structs.replace(scene.analysis, trials=tuple(trials), cells=cells))


def test_it_counts_the_trials_of_each_cell_by_verdict(scene, say):
    """One row for each measured cell: the verdict of all together, then how many trials show what."""
    found = next(s for s in with_verdicts(scene).article().sections if s.key == "steady")

    (table,) = (block.table for block in found.blocks if isinstance(block, TableBlock))
    assert table.key == "t-steady"
    measured = [cell for cell in scene.analysis.cells if cell.measured]
    assert len(table.rows) == len(measured)
    for row in table.rows:
        assert say(row[4]) == "inconsistent"
        steady, not_shown, drifting, none = (int(say(entry)) for entry in row[5:])
        assert (not_shown, drifting, none) == (0, 1, 0)
        assert steady >= 1


def test_it_says_how_steadiness_was_tested_and_that_no_step_was_removed(scene, words_in):
    """And shows the steps."""
    steady = next(s for s in with_verdicts(scene).article().sections if s.key == "steady")

    assert "change points" in words_in(steady)
    assert "No step was removed" in words_in(steady)
    assert [b.figure.key for b in steady.blocks if hasattr(b, "figure")] == ["fig-steps"]


def test_what_was_not_shown_to_be_steady_is_counted_among_the_limits(scene, words_in):
    """By number of cells."""
    limits = next(s for s in with_verdicts(scene).article().sections if s.key == "limits")

    assert "were not shown to be steady in every trial" in words_in(limits)


def test_left_out_without_a_figure(empty_scene, say):
    """Without step times the section is left out and named."""
    assert say(section(empty_scene.material())) == "There is no section on steadiness: no trial was measured."
