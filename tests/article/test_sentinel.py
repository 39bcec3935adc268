"""What an article says of the sentinel: how it was planned, what it saw, and when it failed."""

import msgspec
import pytest

from study.article.material import trials_planned
from study.article.notices import notices
from study.article.sections import checks, failures, method
from study.domain.article import Paragraph, TableBlock
from study.domain.summary import SentinelSession, SentinelSummary
from study.domain.trial import PlannedCell, PlannedTrial

replace = msgspec.structs.replace


def seen_by(make, **changes):
    """A sentinel of six trials in one session, a rate of 200 tokens a second and no drift to speak of."""
    of = make.cell("gpt", "train", "single", 1)
    known = {
        "cell_id": "s",
        "cell": of,
        "unit": "tokens",
        "planned": 6,
        "trials": tuple(make.trial(of, b, 200.0, trial=f"s{b}") for b in (1, 2, 3)),
        "points": (None,),
        "sessions": (SentinelSession(session=1, rate=make.estimate(200.0, unit="tokens/s")),),
        "spread": 0.004,
        "drift": None,
        "within_blocks": make.estimate(-0.01),
    }
    return SentinelSummary(**(known | changes))


def spoken(section, say):
    """All sentences of a section's paragraphs."""
    return [say(s) for block in section.blocks if isinstance(block, Paragraph) for s in block.sentences]


def planned(scene, make, **changes):
    """The scene's run with a sentinel planned twice."""
    of = make.cell("gpt", "train", "single", 1)
    own = PlannedCell(id="s", cell=of, predicted_s=2.0, predicted_memory_bytes=None, oversubscribed=False)
    plan = scene.material().run.plan
    more = tuple(
        PlannedTrial(id=f"s{n}", order=90 + n, block=1, cell_id="s", seed=1, role="sentinel") for n in (1, 2)
    )
    return scene.with_run(plan=replace(plan, sentinel=own, trials=(*plan.trials, *more), **changes))


def test_the_method_says_what_watches(scene, make, say):
    """The sentinel by its id, or the reason why there is none; nothing of an older plan."""
    with_one = spoken(method.section(planned(scene, make).material()), say)
    plan = scene.material().run.plan
    without = scene.with_run(plan=replace(plan, unknown={"sentinel": "the study switches it off"}))

    assert any("the sentinel s, was planned first and last in each block" in one for one in with_one)
    assert "There was no sentinel to watch the machine: the study switches it off." in spoken(
        method.section(without.material()), say
    )
    older = scene.with_run(plan=replace(plan, unknown={}))
    assert not any("sentinel" in one for one in spoken(method.section(older.material()), say))


def test_its_trials_are_no_planned_trials_of_cells(scene, make):
    """The count of the page is that of the cells."""
    before = trials_planned(scene.material().run)

    assert trials_planned(planned(scene, make).material().run) == before


def test_the_checks_print_its_rate_by_session(scene, make, say):
    """One session is not numbered, several are; spread and blocks follow."""
    one = spoken(checks.section(scene.with_analysis(sentinel=seen_by(make)).material()), say)
    two = tuple(SentinelSession(session=n, rate=make.estimate(200.0)) for n in (1, 2))
    several = scene.with_analysis(sentinel=seen_by(make, sessions=two, spread=None, within_blocks=None))

    assert any(s == "The sentinel ran at 200." for s in one)
    assert any(s.startswith("Its trials spread by 0.4") for s in one)
    assert any(s.startswith("From the first trial of a block to the last it changed by") for s in one)
    assert [s[:32] for s in spoken(checks.section(several.material()), say) if "session" in s][:2] == [
        "In session 1 the sentinel ran at",
        "In session 2 the sentinel ran at",
    ]


@pytest.mark.parametrize(("ends", "told"), [((-0.05, -0.03), True), ((-0.09, 0.01), False)])
def test_a_drift_that_it_alone_shows_is_a_notice(scene, make, say, ends, told):
    """Above the page, as for the cells; not if its interval holds zero, or none was computed."""
    drift = replace(make.estimate(-0.04), low=ends[0], high=ends[1])
    shown = scene.with_analysis(drift=None, sentinel=seen_by(make, drift=drift))
    bare = scene.with_analysis(drift=None, sentinel=seen_by(make, drift=make.bare(-0.04)))

    assert any("The sentinel, one fixed cell" in say(n) for n in notices(shown.material())) is told
    assert not any("sentinel" in say(n) for n in notices(bare.material()))


def test_a_failed_sentinel_is_listed_under_its_own_name(scene, make, say):
    """Although a cell of the study may have the same id."""
    of = make.cell("gpt", "train", "single", 1)
    lost = make.trial(of, 1, None, trial="s1", outcome="failed", fault="It broke.", order=91)
    watched = planned(scene.with_analysis(sentinel=seen_by(make, trials=(lost,))), make)

    blocks = failures.section(watched.material()).blocks
    (table,) = [b.table for b in blocks if isinstance(b, TableBlock) and b.table.key == "t-failures"]
    assert [say(entry) for entry in table.rows[-1]][:2] == ["s1", "sentinel"]
