"""The sentinel's trace: numbers against stated truths, and that its trials enter nothing else."""

import math

import msgspec
import pytest
from fakes.records import Truth, cell, failed, fake_run, interrupted, of_sentinel, quick_truths, slowed

from study.analysis import analyse, reasons
from study.analysis.desk import computed
from study.analysis.findings import drift as finding
from study.analysis.frame import frame
from study.domain.estimate import Estimate

replace = msgspec.structs.replace
OWN = quick_truths()[0]


def watched(truth=OWN, **run):
    """The quick study with a sentinel that is a cell of the study too."""
    return fake_run(sentinel=truth, **run)


def test_its_trials_enter_nothing_else():
    """Cells, series, comparisons and counts are those of the same records without it."""
    run, records = watched(
        Truth(cell=OWN.cell, scaling="strong", rate=9999.0, unit="tokens", work_per_sample=64)
    )
    bare = replace(
        run,
        plan=replace(run.plan, sentinel=None, trials=tuple(t for t in run.plan.trials if t.role == "cell")),
    )

    found, alone = analyse(run, records), analyse(bare, [r for r in records if not of_sentinel(r)])

    for name in ("trials", "cells", "series", "comparisons", "drift", "measured_s"):
        assert getattr(found, name) == getattr(alone, name)
    assert {c.planned for c in found.cells} == {5}
    assert [r.id for r in found.rules if not r.passed] == []
    assert (alone.sentinel, alone.unknown["sentinel"]) == (None, reasons.NO_SENTINEL)


def test_the_trace_holds_every_trial_in_its_place():
    """Ten trials in order, first and last of each block, with seconds since the session's first trial."""
    seen = analyse(*watched()).sentinel

    assert [p.place for p in seen.points] == ["first", "last"] * 5
    assert [p.start_s for p in seen.points][:3] == [0.0, 120.0, 130.0]
    assert math.fsum(p.residual for p in seen.points) == pytest.approx(0.0, abs=1e-9)
    assert (seen.planned, len(seen.trials), seen.unit, seen.unknown) == (10, 10, "tokens", {})
    assert [(s.session, s.rate.n, s.rate.unit) for s in seen.sessions] == [(1, 10, "tokens/s")]


def test_slope_spread_and_blocks_follow_from_the_rates():
    """Without noise: 5 % over the session, and within a block the eleventh part of what lies between."""
    run, records = watched(replace(OWN, cv=0.0))
    seen = analyse(run, slowed(records, -0.05, of_sentinel)).sentinel

    assert seen.drift.value == pytest.approx(-0.05, abs=1e-4)
    assert (seen.drift.n, seen.drift.method) == (10, "slope_t")
    assert seen.within_blocks.value == pytest.approx(0.95 ** (12 / 64) - 1, abs=1e-4)
    logs = [math.log(0.95) * p.start_s / 640 for p in seen.points]
    mean = sum(logs) / 10
    assert seen.spread == pytest.approx(math.sqrt(sum((x - mean) ** 2 for x in logs) / 9), rel=1e-3)


def two_sessions(run, records, first_of_second, *, numbered=True):
    """The same run in two sessions with a reboot between them: the second's clock begins anew."""
    later = replace(run.sessions[0], started_utc="2026-01-06T09:00:00Z")
    moved = tuple(
        replace(
            r,
            session=(2 if r.order >= first_of_second else 1) if numbered else None,
            started_utc=r.started_utc.replace("-05T", "-06T")
            if r.order >= first_of_second
            else r.started_utc,
            started_ns=r.started_ns - 10**12 if r.order >= first_of_second else r.started_ns,
        )
        for r in records
    )
    return replace(run, sessions=(run.sessions[0], later)), moved


@pytest.mark.parametrize("numbered", [True, False])
def test_a_resumed_run_has_a_rate_a_session_and_the_slope_of_one(numbered):
    """A reboot within block 3: its pair is left out, and times are counted within each session."""
    seen = analyse(*two_sessions(*watched(), 30, numbered=numbered)).sentinel

    assert [(s.session, s.rate.n) for s in seen.sessions] == [(1, 5), (2, 5)]
    assert seen.drift.n == 5
    assert seen.within_blocks.n == 4
    assert [p.start_s for p in seen.points if p.session == 2] == [90.0, 100.0, 220.0, 230.0, 350.0]


def test_a_clock_that_began_anew_within_a_session_gives_no_times():
    """Null with the reason; the slope is then over the order."""
    run, records = two_sessions(*watched(), 30)
    seen = analyse(run, [replace(r, session=1) for r in records]).sentinel

    assert {p.start_s for p in seen.points} == {None}
    assert seen.points[0].unknown == {"start_s": reasons.CLOCK_BEGAN_ANEW}
    assert seen.drift.n == 10


def test_too_few_trials_have_reasons_and_failures_are_counted():
    """One block: no slope, no spread, and the pair without an interval."""
    run, records = watched(blocks=1)
    found = analyse(run, records).sentinel
    assert (found.drift, found.spread) == (None, None)
    assert found.unknown["drift"] == found.unknown["spread"] == reasons.FEW_OF_SENTINEL
    assert found.within_blocks.low is None

    run, records = watched(blocks=2)
    lost = [failed(r) if of_sentinel(r) else r for r in records]
    gone = analyse(run, lost)
    assert (gone.sentinel.points, gone.sentinel.sessions) == ((), ())
    assert gone.sentinel.unknown["within_blocks"] == reasons.NO_SENTINEL_PAIRS
    (rule,) = [r for r in gone.rules if r.id == "S11"]
    assert rule.detail == "4 of 4 trials of the sentinel gave no rate."


def test_a_record_that_no_plan_knows_is_not_the_sentinel_s():
    """It stays out of the trace, and an interrupted attempt gives way to the next one."""
    run, records = watched()
    stray = replace(records[0], trial="0099-stray", order=99, block=9)
    again = replace(records[0], attempt=2)

    seen = analyse(run, [interrupted(records[0]), again, *records[1:], stray]).sentinel

    assert len(seen.trials) == 10
    assert seen.trials[0].attempt == 2


def an(value, half):
    """A drift with an interval of `half` to both sides."""
    return Estimate(value=value, low=value - half, high=value + half, n=9, unit="share", method="slope_t")


WITNESSES = [
    (an(-0.05, 0.01), an(-0.04, 0.01), "drifted", "agrees", "strong"),
    (an(-0.05, 0.01), an(0.04, 0.01), "drifted", "disagrees", "weak"),
    (an(-0.05, 0.01), an(0.0, 0.005), "drifted", "disagrees", "weak"),
    (an(-0.05, 0.01), an(0.0, 0.05), "drifted", "undecided", "strong"),
    (an(0.0, 0.005), an(0.001, 0.005), "within", "agrees", "moderate"),
    (an(0.0, 0.005), an(0.0, 0.05), "within", "undecided", "moderate"),
    (an(0.0, 0.05), an(0.001, 0.005), "open", "undecided", "not_shown"),
    (an(0.0, 0.005), an(-0.04, 0.01), "sentinel", None, "weak"),
    (None, an(-0.04, 0.01), "sentinel_alone", None, "weak"),
    (None, None, "not_tested", "silent", "none"),
]


@pytest.mark.parametrize(("cells", "own", "kind", "stance", "evidence"), WITNESSES)
def test_two_witnesses_come_to_one_verdict(cells, own, kind, stance, evidence):
    """Either of them raises the doubt; a contradiction is said and weakens the evidence."""
    parts = computed(*watched())
    parts = replace(
        parts,
        drift=replace(parts.drift, estimate=cells),
        sentinel=replace(parts.sentinel, drift=own),
    )

    (found,) = finding.find(parts)

    assert found.sentence.frame == finding.FRAMES[kind]
    assert [c.frame for c in found.caveats] == ([finding.FRAMES[stance]] if stance else [])
    assert found.evidence == evidence
    by_sentinel = kind.startswith("sentinel")
    assert found.estimate == (own if by_sentinel else cells)
    assert set(found.trials) <= {t.id for t in parts.run.plan.trials if (t.role == "sentinel") is by_sentinel}


def test_a_drift_that_only_the_sentinel_shows_is_warned_of_and_noted_at_absolute_rates():
    """S11 warns, and every absolute rate carries the sentinel's own sentence."""
    run, records = watched(replace(OWN, cv=0.001), cv=0.001)
    found = analyse(run, slowed(records, -0.04, of_sentinel))

    (rule,) = [r for r in found.rules if r.id == "S11"]
    assert (rule.passed, rule.effect) == (False, "warn")
    assert rule.detail.startswith("The sentinel's rate changed by -4")
    (told,) = [f for f in found.findings if f.key == "drift"]
    assert told.sentence.frame == finding.FRAMES["sentinel"]
    rates = [f for f in found.findings if f.shelf == "one-device"]
    assert rates
    assert all(any("sentinel's rate drifted" in c.frame for c in f.caveats) for f in rates)


def test_the_frame_tells_roles_apart():
    """Two rows of one cell in one block differ in their role."""
    _, records = watched(blocks=1)
    table = frame(records)

    same = table[table.cell_id == records[0].cell_id]
    assert sorted(same.role) == ["cell", "sentinel", "sentinel"]
    assert bool(same.counts.all())


def test_a_sentinel_of_another_cell_has_its_own_unit_and_id():
    """A study of images is watched by tokens."""
    images = [truth for truth in quick_truths() if truth.cell.workload == "resnet"]
    of_tokens = Truth(cell=cell(), scaling="strong", rate=4000.0, unit="tokens", work_per_sample=64)

    seen = analyse(*fake_run(truths=images, sentinel=of_tokens)).sentinel

    assert (seen.cell, seen.unit) == (of_tokens.cell, "tokens")
