"""The bar under the title."""

import msgspec
import pytest

from study.article.notices import notices, trials_measured


def said(scene, say):
    """The notices of a scene, spoken."""
    return [say(notice) for notice in notices(scene.material())]


def test_all_is_well(scene, say):
    """A complete, clean run has no notice."""
    assert said(scene, say) == []


def test_partial(scene, say):
    """A partial run says how many planned trials were not measured."""
    assert said(scene.with_run(status="partial"), say) == [
        "This run is partial: 3 planned trials were not measured."
    ]


def test_interrupted(empty_scene, say):
    """An interrupted run says that it can be resumed."""
    assert "Its last session was interrupted and can be resumed." in said(empty_scene, say)


def test_running(scene, say):
    """An article about a run that goes on says so."""
    assert said(scene.with_run(status="running"), say) == [
        "This run has not ended; the article shows what has been measured so far."
    ]


def test_oversubscribed(scene, make, say):
    """Cells with more threads than cores are announced."""
    crowded = make.cell_summary(make.cell("gpt", "train", "ddp", 8), 1.0, oversubscribed=True)

    notes = said(scene.with_analysis(cells=(*scene.analysis.cells, crowded)), say)

    assert any("more threads ran than this machine has processor cores" in note for note in notes)


def test_dirty_source(scene, make, say):
    """A tool with uncommitted changes says that its version is no description; an unknown state does not."""
    unknown = make.software(study_dirty=None, unknown={"study_dirty": "no repository"})

    dirty = said(scene.with_run(software=make.software(study_dirty=True)), say)
    silent = said(scene.with_run(software=unknown), say)

    assert any("were not committed" in note for note in dirty)
    assert silent == []


@pytest.mark.parametrize(("share", "announced"), [(0.11, True), (0.09, False), (None, False)])
def test_other_programs(scene, say, share, announced):
    """A mean share above a tenth is announced; trials without a rate do not count."""
    trials = tuple(
        msgspec.structs.replace(t, foreign_cpu_share=share if t.rate else 0.9) for t in scene.analysis.trials
    )

    notes = said(scene.with_analysis(trials=trials), say)

    assert any("11% of the machine's processor time on average" in note for note in notes) is announced
    assert bool(notes) is announced


@pytest.mark.parametrize(
    ("drift", "announced"),
    [
        ((-0.05, -0.07, -0.03), True),
        ((0.05, 0.03, 0.07), True),
        ((-0.05, -0.11, 0.01), False),
        ((0.009, 0.008, 0.01), False),
        ((0.05, None, None), False),
    ],
)
def test_drift(scene, make, say, drift, announced):
    """A drift beyond one per cent is announced if its interval excludes none; others are for the checks."""
    value, low, high = drift
    drift = msgspec.structs.replace(make.estimate(1.0), value=value, low=low, high=high)

    notes = said(scene.with_analysis(drift=drift), say)

    assert any("pace changed by" in note for note in notes) is announced


def test_broken_rules(scene, say):
    """A broken blocking rule is announced; a warning is left to the section on checks."""
    rule = scene.analysis.rules[0]
    broken = (msgspec.structs.replace(rule, passed=False), *scene.analysis.rules[1:])

    notes = said(scene.with_analysis(rules=broken), say)

    assert notes == ["The run breaks 1 rule of good reporting; the section on checks says which."]


def test_a_trial_is_counted_once(scene):
    """A trial with two attempts counts once, and a failed one not at all."""
    first = scene.analysis.trials[0]
    again = msgspec.structs.replace(first, attempt=2)

    repeated = scene.with_analysis(trials=(*scene.analysis.trials, again))

    assert trials_measured(repeated.material()) == trials_measured(scene.material()) == 21
