"""Drift over a session: against a known slope, against an independent fit, and when it is refused."""

import math

import msgspec
import numpy as np
import pytest
from fakes.records import failed, fake_run, quick_truths
from scipy import stats

from study.analysis import analyse, reasons
from study.analysis.desk import computed
from study.analysis.drift import slope
from study.domain.run import Session

replace = msgspec.structs.replace


def drifting(share, cv=0.002, **run):
    """The quick study while rates change evenly, by this share from the first start to the last."""
    run_, records = fake_run(cv=cv, **run)
    first, last = records[0].started_ns, records[-1].started_ns

    def slowed(record):
        factor = (1 + share) ** ((record.started_ns - first) / (last - first))
        readings = tuple(
            replace(
                r,
                window_end_ns=r.window_start_ns + round((r.window_end_ns - r.window_start_ns) / factor),
                step_ns=tuple(round(step / factor) for step in r.step_ns),
            )
            for r in record.outcome.readings
        )
        return replace(record, outcome=replace(record.outcome, readings=readings))

    return run_, tuple(slowed(r) if r.cell.task != "check" else r for r in records)


def two_sessions(run, records, first_of_second, reset=False):
    """The same run made in two sessions, a day apart; the second may have a clock that began anew."""
    one = run.sessions[0]
    later = replace(one, started_utc="2026-01-06T09:00:00Z", ended_utc="2026-01-06T10:00:00Z")
    moved = tuple(
        replace(
            r,
            started_utc=r.started_utc.replace("2026-01-05", "2026-01-06"),
            started_ns=r.started_ns - 10**15 if reset else r.started_ns + 86_400 * 10**9,
        )
        if r.order >= first_of_second
        else r
        for r in records
    )
    return replace(run, sessions=(one, later)), moved


def by_dummies(cells):
    """The same slope by a general least-squares fit with one column a cell, and its interval."""
    times = np.array([at for points in cells for at, _ in points])
    logs = np.array([log for points in cells for _, log in points])
    span = times.max() - times.min()
    columns = [times / span]
    at = 0
    for points in cells:
        column = np.zeros(len(times))
        column[at : at + len(points)] = 1
        columns.append(column)
        at += len(points)
    design = np.stack(columns, axis=1)
    found, (rest,), _, _ = np.linalg.lstsq(design, logs, rcond=None)
    df = len(times) - design.shape[1]
    error = math.sqrt(rest / df * np.linalg.inv(design.T @ design)[0, 0])
    half = stats.t.ppf(0.975, df) * error
    return math.expm1(found[0]), math.expm1(found[0] - half), math.expm1(found[0] + half)


def test_the_slope_is_that_of_a_fit_with_a_level_for_each_cell():
    """Three cells with other rates and other times agree with a general least-squares fit."""
    chance = np.random.default_rng(7)
    cells = [
        [(float(t), 3.0 * c - 0.03 * t / 100 + e) for t, e in zip(times, errors, strict=True)]
        for c, times, errors in (
            (c, sorted(chance.uniform(0, 100, n)), chance.normal(0, 0.004, n))
            for c, n in enumerate((4, 5, 7))
        )
    ]

    found = slope(cells)

    assert (found.value, found.low, found.high) == pytest.approx(by_dummies(cells), rel=1e-9)
    assert (found.n, found.method, found.unit) == (16, "slope_t", "share")


def test_an_exact_drift_is_found_exactly():
    """Rates that fall by five percent from the first time to the last, without noise."""
    cells = [
        [(t, level + t / 8 * math.log(0.95)) for t in range(shift, 9)] for level, shift in ((1, 0), (9, 4))
    ]

    found = slope(cells)

    assert (found.value, found.low, found.high) == pytest.approx((-0.05, -0.05, -0.05), abs=1e-9)


def test_other_rates_of_other_cells_are_no_drift():
    """A slow cell early and a fast one late: each is compared with itself alone."""
    slow = [(float(t), 0.0 + 1e-4 * (-1) ** t) for t in range(4)]
    fast = [(10.0 + t, 5.0 + 1e-4 * (-1) ** t) for t in range(4)]

    assert abs(slope([slow, fast]).value) < 0.01


@pytest.mark.parametrize("share", [0.0, -0.03])
def test_the_interval_covers_as_stated(share):
    """In 93 to 97 % of simulated sessions the interval contains the true drift."""
    chance = np.random.default_rng(11)
    hits, studies = 0, 2000
    for _ in range(studies):
        cells = []
        order = np.concatenate([block * 8 + chance.permutation(8) for block in range(5)]).reshape(5, 8)
        for c in range(8):
            times = np.where(order % 8 == c)[1] + np.arange(5) * 8
            logs = c + math.log1p(share) * times / 39 + chance.normal(0, 0.004, 5)
            cells.append(list(zip(times.astype(float), logs, strict=True)))
        found = slope(cells)
        span = max(t for p in cells for t, _ in p) - min(t for p in cells for t, _ in p)
        truth = math.expm1(math.log1p(share) * span / 39)
        hits += found.low <= truth <= found.high

    assert 0.93 <= hits / studies <= 0.97


@pytest.mark.parametrize("share", [-0.059, 0.04])
def test_a_drift_of_the_machine_is_found_from_the_records(share):
    """Its interval holds the truth, excludes none, and says how many trials it rests on."""
    analysis = analyse(*drifting(share))

    assert analysis.drift.low < share < analysis.drift.high
    assert analysis.drift.n == sum(t.rate is not None and ".check." not in t.cell_id for t in analysis.trials)
    rule = next(r for r in analysis.rules if r.id == "S11")
    assert (rule.passed, rule.effect) == (False, "warn")


def test_checks_of_the_instrument_are_left_out():
    """Sleeping keeps its pace: a check that changed by half says nothing about the machine."""
    run, records = drifting(0.0)
    check = next(c for c in run.plan.cells if c.cell.task == "check" and c.cell.devices == 1)
    _, wild = fake_run(cv=0.002, rates={check.id: [400, 350, 300, 250, 200]})
    mixed = [w if w.cell_id == check.id else r for w, r in zip(wild, records, strict=True)]

    assert analyse(run, mixed).drift == analyse(run, records).drift


def test_trials_that_failed_are_left_out():
    """A failed trial is no slow one."""
    run, records = drifting(-0.03)

    found = analyse(run, [failed(r) if r.block == 5 else r for r in records]).drift

    assert found.n == 36
    assert found.high < 0


def test_a_step_between_sessions_is_no_drift():
    """A machine that is ten percent slower the next day did not drift within the longer session."""
    run, records = fake_run(cv=0.002, blocks=6, drift=lambda block: 1.0 if block <= 4 else 0.9)
    last = next(r.order for r in records if r.block == 5)

    whole = analyse(run, records).drift
    apart = analyse(*two_sessions(run, records, last)).drift

    assert whole.high < -0.05
    assert abs(apart.value) < 0.01
    assert apart.n == 36


def test_a_clock_that_began_anew_gives_way_to_the_order():
    """Start times that run backwards inside one session are not used: the order of trials is."""
    run, records = drifting(-0.04)
    reset = [replace(r, started_ns=r.started_ns - 10**15) if r.order > 30 else r for r in records]

    assert analyse(run, reset).drift.value == pytest.approx(analyse(run, records).drift.value, abs=0.002)


def set_back(records, from_order):
    """The same records, had somebody set the date back by a month while the run went on."""
    return [
        replace(r, started_utc=r.started_utc.replace("2026-01-05", "2025-12-05"))
        if r.order >= from_order
        else r
        for r in records
    ]


def test_a_date_that_is_set_back_within_a_session_changes_nothing():
    """Sessions have numbers, and within one the monotonic clock tells the order."""
    run, records = drifting(-0.04)
    numbered = [replace(r, session=1) for r in records]

    jumped = analyse(run, set_back(numbered, 20))

    assert jumped.drift == analyse(run, records).drift
    assert next(rule for rule in jumped.rules if rule.id == "MY1").passed


def test_a_date_that_is_set_back_between_sessions_keeps_them_apart():
    """The second session began, by its date, a month before the first."""
    run, records = fake_run(cv=0.002, blocks=6, drift=lambda block: 1.0 if block <= 4 else 0.9)
    last = next(r.order for r in records if r.block == 5)
    run, apart = two_sessions(run, records, last, reset=True)
    numbered = [replace(r, session=1 if r.order < last else 2) for r in apart]
    jumped = [
        replace(r, started_utc=r.started_utc.replace("2026-01-06", "2025-12-05")) if r.session == 2 else r
        for r in numbered
    ]

    found = analyse(run, jumped)

    assert found.drift == analyse(run, numbered).drift
    assert found.drift.n == 36
    assert next(rule for rule in found.rules if rule.id == "MY1").passed


@pytest.mark.parametrize("blocks", [1, 2])
def test_too_few_repeats_show_no_drift(blocks):
    """One trial a cell, or two of one cell: null with the reason, and the rule says it."""
    analysis = analyse(*fake_run(truths=quick_truths()[:1], blocks=blocks))

    assert analysis.drift is None
    assert analysis.unknown == {"drift": reasons.FEW_FOR_DRIFT, "sentinel": reasons.NO_SENTINEL}
    rule = next(r for r in analysis.rules if r.id == "S11")
    assert (rule.passed, rule.detail) == (True, f"{reasons.FEW_FOR_DRIFT} {reasons.NO_SENTINEL}")


def test_trials_at_one_moment_show_no_drift():
    """Without a stretch of time there is no slope."""
    assert slope([[(1.0, 0.1), (1.0, 0.2), (1.0, 0.3), (1.0, 0.2)]]) is None


@pytest.mark.parametrize(
    ("share", "cv", "frame", "evidence"),
    [
        (-0.06, 0.002, "Rates drifted", "strong"),
        (-0.012, 0.008, "Rates drifted", "weak"),
        (0.0, 0.002, "No drift above {limit} over", "moderate"),
        (0.0, 0.05, "No drift above {limit} was shown", "not_shown"),
    ],
)
def test_every_answer_has_its_sentence(share, cv, frame, evidence):
    """Shown and large, shown and perhaps small, shown to be within the limit, and neither."""
    (found,) = (f for f in analyse(*drifting(share, cv)).findings if f.shelf == "drift")

    assert found.sentence.frame.startswith(frame)
    assert (found.section, found.evidence) == ("checks", evidence)
    assert found.sentence.slots["drift"].estimate == found.estimate


def test_absolute_values_get_the_note_and_comparisons_do_not():
    """Rates and latencies are those of this session, and not strong; the ratios keep their level."""
    drifted, level = analyse(*drifting(-0.06)), analyse(*drifting(0.0))

    noted = {f.shelf for f in drifted.findings for c in f.caveats if c.frame.startswith("Rates drifted by")}
    assert noted == {"one-device", "latency"}
    assert all(f.evidence != "strong" for f in drifted.findings if f.shelf in noted)
    assert not any(c.frame.startswith("Rates drifted by") for f in level.findings for c in f.caveats)
    assert any(f.evidence == "strong" for f in drifted.findings if f.shelf == "training-scales")


def test_several_sessions_are_told():
    """Which one was looked at stands beside the finding."""
    run, records = two_sessions(*drifting(0.0), 50)

    (found,) = (f for f in analyse(run, records).findings if f.shelf == "drift")

    assert [c.slots["n"].value for c in found.caveats] == [2]
    assert computed(run, records).drift.sessions == 2
    assert isinstance(run.sessions[1], Session)
