"""Steady, drifting, not settled or not to be told: on real logs, and on series whose truth is known."""

import json
import math
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal, stats

from study.analysis.steady import LEAST_STEPS, agree, assess, mser_start
from study.domain.fact import require_reasons
from study.domain.steadiness import Steadiness

LOGS = Path(__file__).parent.parent / "data" / "steps"
FALSE_ALARMS = ("drifting", "no_steady_state")


def log(name):
    """The step times of a real run, in nanoseconds."""
    found = json.loads((LOGS / f"{name}.json").read_text(encoding="utf-8"))
    return (
        [round(1e6 * each) for each in found["step_ms"]]
        if "step_ms" in found
        else [round(1e9 * each) for each in found["step_s"]]
    )


def noise(seed, steps=200, spread=0.01, correlation=0.0):
    """Logs of stationary noise of this standard deviation, each step correlated with the one before."""
    fresh = np.random.default_rng(seed).normal(size=steps + 200) * math.sqrt(1 - correlation**2)
    return spread * signal.lfilter([1.0], [1.0, -correlation], fresh)[200:]


def steps_ns(logs):
    """A step of 100 ms where the log is zero."""
    return [round(1e8 * each) for each in np.exp(logs)]


def verdicts(shape, seeds, **of_noise):
    """How many of the series, the shape with different noise, got each verdict."""
    return Counter(assess(steps_ns(shape + noise(seed, **of_noise))).verdict for seed in range(seeds))


def rises(steps, by, at):
    """Logs of a run that slows down by this share at this share of its length."""
    return np.where(np.arange(steps) >= at * steps, math.log1p(by), 0.0)


def warms_up(steps):
    """Logs of a run that begins 30 % slower and settles with a time constant of 5 % of its length."""
    return np.log1p(0.3 * np.exp(-np.arange(steps) / (0.05 * steps)))


# Real logs. What is expected was read off a plot of each, and off what the programs say of themselves.


@pytest.mark.parametrize(
    ("name", "verdict", "start"),
    [
        # Two steps of compiling, then 214 ms for good; 2.2 times that at each data shard, every 190 steps.
        ("muon_h100x8", "steady", 2),
        # The attention window grows all the time, so the steps do too: 160 to 183 ms, 135 to 156 ms.
        ("value_embed_h100x8_1", "no_steady_state", None),
        ("soft_cap_h100x8", "no_steady_state", None),
        # Three stages of 33, 61 and 87 ms from steps 1, 506 and 1011 on: the last is long enough for a
        # level, and too rough for a proof.
        ("kernel_tuning_h100x8", "not_shown", 1010),
        # The last four of 49 steps are 17 % slower than those before.
        ("bert_h100", "no_steady_state", None),
        # Eleven values were written.
        ("bert_a100", "not_shown", None),
        # A storm from step 1408 on; the level after it is that before it, and so rough that 1 % is hidden.
        ("gpt3_weekly_gb200", "not_shown", 1437),
        # Quiet, and on eleven levels up to 2.5 % apart; the last begins 94 steps before the end.
        ("gpt3_weekly_h100", "no_steady_state", None),
        # Level from the first, but 100 steps of 1.1 % noise with a few peaks show it to 1.0 % only.
        ("inference", "not_shown", 0),
    ],
)
def test_real_logs_get_the_verdict_of_a_careful_reader(name, verdict, start):
    """The verdict, and the first step of the window."""
    found = assess(log(name))

    assert (found.verdict, found.start) == (verdict, start)
    require_reasons(found, found.unknown)


def test_compiling_is_a_stall_and_the_data_loader_is_not():
    """The first two of 1429 steps took 75 s and 1.3 s; sixteen took 0.46 s and stay what they are."""
    found = assess(log("muon_h100x8"))

    assert found.stalls == (0, 1)
    assert abs(found.drift.share) < 0.003
    assert found.mser_agrees


def test_the_stages_of_a_program_are_its_levels():
    """The program changes its shapes at steps 506 and 1011, and says so in its own log."""
    found = assess(log("kernel_tuning_h100x8"))

    assert found.levels == 3
    assert found.alternating_ns == ()


def test_repeats_of_a_program_agree():
    """Two runs that grow alike are one class; with one that settles, they are not."""
    growing = [assess(log("value_embed_h100x8_1")), assess(log("value_embed_h100x8_2"))]

    assert agree(growing) == "no_steady_state"
    assert agree([*growing, assess(log("muon_h100x8"))]) == "inconsistent"


# Series whose truth is known.


@pytest.mark.parametrize(
    ("steps", "spread", "correlation"),
    [(60, 0.005, 0.0), (60, 0.02, 0.0), (100, 0.01, 0.5), (200, 0.01, 0.0), (400, 0.02, 0.5)],
)
def test_what_is_left_of_a_warm_up_does_not_bias_the_mean(steps, spread, correlation):
    """At most 0.2 % on average; without a start it would be 1.3 % and more."""
    settled = math.exp(spread**2 / 2)  # the mean of the noise
    biases = []
    for seed in range(400):
        times = np.exp(warms_up(steps) + noise(seed, steps, spread, correlation))
        start = assess(steps_ns(np.log(times))).start
        if start is not None:
            biases.append(times[start:].mean() / settled - 1)

    assert len(biases) >= 360
    assert -0.0005 < np.mean(biases) <= 0.002
    assert np.mean(np.exp(warms_up(steps))) > 1.013


def test_a_quiet_warm_up_ends_in_a_steady_state():
    """At 0.5 % noise, nearly always; the first twentieth of the run is never in the window."""
    found = [assess(steps_ns(warms_up(200) + noise(seed, spread=0.005))) for seed in range(100)]

    assert sum(each.verdict == "steady" for each in found) >= 97
    assert min(each.start for each in found) > 10


@pytest.mark.parametrize("steps", [100, 200, 400])
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_throttling_at_60_percent_is_a_new_level(steps, correlation):
    """5 % slower for the last two fifths: the window is those, to within a few steps."""
    change = round(0.6 * steps)
    found = [
        assess(steps_ns(rises(steps, 0.05, 0.6) + noise(seed, steps, 0.01, correlation)))
        for seed in range(200)
    ]

    assert sum(each.start is not None and each.start >= change - 2 for each in found) >= 198
    assert np.median([each.start for each in found]) == change


@pytest.mark.parametrize(
    ("steps", "spread", "correlation", "least"),
    [
        (60, 0.01, 0.0, 0.97),
        (60, 0.02, 0.0, 0.65),  # too short for such noise
        (100, 0.01, 0.5, 0.99),
        (100, 0.02, 0.0, 0.95),
        (200, 0.01, 0.8, 0.97),
        (200, 0.02, 0.5, 0.97),
        (400, 0.02, 0.5, 0.99),
    ],
)
def test_throttling_near_the_end_is_flagged(steps, spread, correlation, least):
    """5 % slower for the last 15 %: no level is long enough, and it is never called steady."""
    found = verdicts(rises(steps, 0.05, 0.85), 300, steps=steps, spread=spread, correlation=correlation)

    assert sum(found[each] for each in FALSE_ALARMS) >= least * 300
    assert found["steady"] == 0


@pytest.mark.parametrize("spread", [0.002, 0.005, 0.01, 0.02])
def test_a_series_that_only_wanders_raises_no_alarm(spread):
    """Flat with an autocorrelation of 0.8, as measured on GPUs: at most 5 % of 500 series."""
    found = verdicts(0.0, 500, steps=200, spread=spread, correlation=0.8)

    assert sum(found[each] for each in FALSE_ALARMS) <= 25


def test_a_flat_quiet_series_is_steady_from_its_first_step():
    """0.5 % noise and 200 steps suffice to show 1 %."""
    found = [assess(steps_ns(noise(seed, spread=0.005))) for seed in range(200)]

    assert sum(each.verdict == "steady" and each.start == 0 for each in found) >= 196


def test_noise_limits_what_can_be_shown():
    """With 2 % noise of autocorrelation 0.5, 100 steps cannot show 1 %."""
    found = verdicts(0.0, 200, steps=100, spread=0.02, correlation=0.5)

    assert found["not_shown"] >= 190
    assert found["steady"] <= 2


@pytest.mark.parametrize("steps", [100, 200])
@pytest.mark.parametrize("spread", [0.002, 0.01])
@pytest.mark.parametrize("correlation", [0.0, 0.5])
def test_a_linear_drift_is_never_steady(steps, spread, correlation):
    """3 % over the run, four hundred times: some tail always looks level, and is not taken."""
    drift = np.log1p(np.linspace(0.0, 0.03, steps))

    found = verdicts(drift, 400, steps=steps, spread=spread, correlation=correlation)

    assert found["steady"] == 0


def test_a_slow_drift_is_called_drifting():
    """2 % over 400 quiet steps, faster or slower."""
    slope = np.linspace(0.0, 0.02, 400)

    for drift in (slope, -slope):
        assert verdicts(drift, 50, steps=400, spread=0.003)["drifting"] >= 45


def test_a_drift_is_that_of_the_whole_run():
    """Log steps on a line that rises by 0.6 % over the run: found without any doubt."""
    slope = 0.006 / 400

    found = assess((1e9 * np.exp(slope * np.arange(400))).tolist())

    assert found.verdict == "steady"
    assert found.drift.share == pytest.approx(math.expm1(0.006))
    assert found.drift.low == pytest.approx(found.drift.high)


def test_the_interval_is_that_of_a_line_through_ten_batch_means():
    """Slope and t interval as scipy's regression gives them, times the batches in the run."""
    logs = noise(5, steps=237, spread=0.004)
    batches = [part.mean() for part in np.array_split(logs, 10)]
    line = stats.linregress(range(10), batches)
    half = stats.t.ppf(0.975, 8) * line.stderr

    found = assess(np.exp(logs).tolist())

    assert found.start == 0
    assert found.drift.share == pytest.approx(math.expm1(10 * line.slope), rel=1e-6)
    assert found.drift.low == pytest.approx(math.expm1(10 * (line.slope - half)), rel=1e-6)
    assert found.drift.high == pytest.approx(math.expm1(10 * (line.slope + half)), rel=1e-6)


def test_the_first_step_of_twenty_times_the_usual_is_left_out():
    """Only that one."""
    logs = noise(1, spread=0.005)
    logs[0] += math.log(20)

    found = assess(steps_ns(logs))

    assert (found.verdict, found.start, found.stalls) == ("steady", 1, (0,))


@pytest.mark.parametrize("slow", [1, 2, 3])
def test_a_few_slow_steps_at_the_beginning_are_left_out(slow):
    """Half as slow again is no stall and no level, yet a bias: they go, alone or in a segment of five."""
    for seed in range(20):
        logs = noise(seed, spread=0.005)
        logs[:slow] += math.log(1.5)

        found = assess(steps_ns(logs))

        assert (found.verdict, found.stalls) == ("steady", ())
        assert found.start in (slow, 5)


def test_the_window_begins_after_one_off_stalls():
    """Two recompilations in the first half; one more in the second half leaves nothing one-off."""
    logs = noise(2, spread=0.005)
    logs[[17, 60]] += math.log(8)
    more = logs.copy()
    more[150] += math.log(8)

    assert assess(steps_ns(logs)).start == 61
    assert assess(steps_ns(logs)).stalls == (17, 60)
    assert assess(steps_ns(more)).start == 0
    assert assess(steps_ns(more)).stalls == (17, 60, 150)
    assert assess(steps_ns(more)).verdict == "steady"


def test_a_stall_in_the_second_half_does_not_move_the_start():
    """It would leave too little, and one step is no level."""
    logs = noise(3, spread=0.005)
    logs[120] += math.log(8)

    found = assess(steps_ns(logs))

    assert (found.verdict, found.start, found.stalls) == ("steady", 0, (120,))


@pytest.mark.parametrize("period", [1, 20])
def test_two_speeds_that_alternate_are_both_told(period):
    """10 % apart, at every step or every twenty steps."""
    slow = np.arange(200) // period % 2 == 1
    for seed in range(20):
        found = assess(steps_ns(np.where(slow, math.log(1.1), 0.0) + noise(seed)))

        assert found.alternating_ns == pytest.approx((1e8, 1.1e8), rel=0.01)
        assert found.verdict != ("no_steady_state" if period == 1 else "steady")


def test_stalls_do_not_hide_two_speeds():
    """Five steps that took eight times as long are no level of their own."""
    logs = np.where(np.arange(200) % 2, math.log(1.1), 0.0) + noise(1)
    logs[20::40] += math.log(8)

    assert assess(steps_ns(logs)).alternating_ns == pytest.approx((1e8, 1.1e8), rel=0.01)


def test_two_speeds_within_one_percent_are_one():
    """Half a percent apart, on a clock that tells them well."""
    logs = np.where(np.arange(200) % 2, 0.005, 0.0) + noise(1, spread=0.0005)

    assert assess(steps_ns(logs)).alternating_ns == ()
    assert assess(steps_ns(4 * logs)).alternating_ns != ()


@pytest.mark.parametrize(
    "shape",
    [
        np.zeros(200),
        rises(200, 0.1, 0.6),
        rises(200, 0.1, 0.3) - rises(200, 0.1, 0.6),
        rises(200, 0.1, 0.33) + rises(200, 0.1, 0.66),
        warms_up(200),
        np.where(np.arange(200) % 19 == 0, math.log(2.2), 0.0),
    ],
    ids=["flat", "one change", "one dip", "three stages", "warm-up", "regular peaks"],
)
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_nothing_else_is_two_speeds(shape, correlation):
    """Neither noise, nor one change, nor a level that is visited once, nor peaks."""
    for seed in range(50):
        logs = shape + noise(seed, correlation=correlation)

        assert assess(steps_ns(logs)).alternating_ns == ()


def test_quick_changes_are_steady_on_average():
    """A step that takes turns between two speeds has a level of both; turns of twenty steps have none."""
    turn = np.arange(200)
    quick = np.where(turn % 2, math.log(1.1), 0.0) + noise(1, spread=0.005)
    slow = np.where(turn // 20 % 2, math.log(1.1), 0.0) + noise(1, spread=0.005)

    assert assess(steps_ns(quick)).verdict == "steady"
    assert assess(steps_ns(slow)).verdict == "no_steady_state"
    assert assess(steps_ns(slow)).levels == 10


# MSER-5.


def test_mser_is_the_least_standard_error_of_what_is_left():
    """The batch of five that the formula of White (1997) picks when it is written out."""
    for seed in range(20):
        values = np.exp(-np.arange(103) / 8) + noise(seed, steps=103, spread=0.1)
        means = [values[at : at + 5].mean() for at in range(0, 100, 5)]
        errors = [np.var(means[first:]) / (20 - first) for first in range(16)]

        best = int(np.argmin(errors))

        assert mser_start(values) == (5 * best if best <= 10 else None)


def test_mser_has_no_answer_in_the_second_half():
    """A level that is reached there is no steady state to this rule."""
    assert mser_start(rises(200, 0.05, 0.6)) is None
    assert mser_start(rises(200, 0.05, 0.3)) == 60
    assert mser_start(np.zeros(49)) is None


def test_a_missing_second_opinion_has_a_reason():
    """Throttling at 60 %: the window is known, and MSER-5 sees none."""
    found = assess(steps_ns(rises(200, 0.05, 0.6) + noise(1)))

    assert found.start == 120
    assert found.mser_start is None
    assert found.mser_agrees is None
    require_reasons(found, found.unknown)


def test_the_second_opinion_agrees_within_a_tenth_of_the_run():
    """20 of 200 steps, and no more."""
    found = assess(steps_ns(noise(1, spread=0.005)))

    assert msgspec.structs.replace(found, start=0, mser_start=20).mser_agrees is True
    assert msgspec.structs.replace(found, start=0, mser_start=21).mser_agrees is False


# Ends of the range.


@pytest.mark.parametrize("steps", [0, 1, 2, LEAST_STEPS - 1])
def test_too_few_steps_show_nothing(steps):
    """That is a lack of evidence and no lack of steadiness."""
    found = assess([10**8] * steps)

    assert (found.verdict, found.start, found.drift, found.steps) == ("not_shown", None, None, steps)
    assert found.reason == (
        "Fewer than 30 steps were measured, so no level can be long enough to be called steady."
    )
    require_reasons(found, found.unknown)


@pytest.mark.parametrize("steps", [LEAST_STEPS, 31, 200, 5003])
def test_equal_steps_are_steady(steps):
    """A clock that is too coarse to see any noise proves no drift."""
    found = assess([214_000_000] * steps)

    assert (found.verdict, found.start, found.levels) == ("steady", 0, 1)
    assert (found.drift.low, found.drift.share, found.drift.high) == (0, 0, 0)


def test_times_rounded_to_a_millisecond_are_steady():
    """As in many log files: steps of 214 ms with 0.3 % of noise."""
    for seed in range(20):
        rounded = [round(each / 1e6) * 10**6 for each in steps_ns(math.log(2.14) + noise(seed, spread=0.003))]

        assert assess(rounded).verdict == "steady"


@pytest.mark.parametrize("wrong", [0, -1, float("nan"), float("inf")])
def test_a_step_that_took_no_time_is_refused(wrong):
    """It cannot have been measured; the sentence says which one."""
    with pytest.raises(ValueError, match="have to be positive; that of step 40 is"):
        assess([*[10**8] * 40, wrong, *[10**8] * 40])


def test_a_spike_of_a_million_times_hides_nothing():
    """The level around it is what it was."""
    logs = noise(4, spread=0.003)
    logs[150] += math.log(1e6)

    found = assess(steps_ns(logs))

    assert (found.verdict, found.stalls) == ("steady", (150,))
    assert abs(found.drift.share) < 0.005


# The words, and what holds for all series.


def test_every_verdict_says_what_it_saw():
    """The sentence carries the drift with its interval, or the lengths that decided."""
    steady = assess(steps_ns(noise(1, spread=0.003)))
    rough = assess(steps_ns(noise(1, steps=100, spread=0.03)))
    drifting = assess(steps_ns(np.linspace(0, 0.02, 400) + noise(1, steps=400, spread=0.003)))
    late = assess(steps_ns(rises(200, 0.05, 0.85) + noise(1, spread=0.005)))

    assert steady.reason.startswith("Steady after 0 steps: the drift over the run is ")
    assert rough.reason.startswith("Steadiness within 1 % was not shown: the drift over the run is ")
    assert drifting.reason.startswith("Still drifting at the end: the drift over the run is ")
    assert late.reason == "No steady state in 200 steps: the last level covers 30 of them, of 50 needed."
    low, high = (f"{round(100 * end, 1):g} %" for end in (drifting.drift.low, drifting.drift.high))
    assert drifting.reason.endswith(f"({low} to {high}).")


def test_a_cell_has_the_verdict_of_its_trials_if_they_agree():
    """One shown to differ makes it inconsistent; one that shows nothing leaves it open; none is a mistake."""
    steady = assess([10**8] * 100)
    short = assess([10**8] * 10)

    assert agree([steady]) == "steady"
    assert agree([short, short]) == "not_shown"
    assert agree([steady, short, steady]) == "not_shown"
    drifting = msgspec.structs.replace(steady, verdict="drifting")
    assert agree([drifting, short]) == "drifting"
    assert agree([steady, drifting]) == "inconsistent"
    assert agree([steady, short, drifting]) == "inconsistent"
    with pytest.raises(ValueError, match="without trials"):
        agree([])


def test_it_can_be_stored():
    """The same fact comes back from JSON."""
    found = assess(steps_ns(rises(200, 0.05, 0.85) + noise(1)))

    assert msgspec.json.decode(msgspec.json.encode(found), type=Steadiness) == found


series = st.lists(st.integers(min_value=1, max_value=10**12), max_size=150) | st.builds(
    lambda seed, steps, spread, jump, at: steps_ns(rises(steps, jump, at) + noise(seed, steps, spread, 0.5)),
    st.integers(0, 10**6),
    st.integers(1, 300),
    st.sampled_from([0.0, 0.001, 0.01, 0.1]),
    st.sampled_from([0.0, 0.005, 0.05, 1.0]),
    st.floats(0, 1),
)


@settings(deadline=None, max_examples=200)
@given(series)
def test_any_positive_series_gets_a_sound_answer(steps):
    """Nothing crashes, nulls have reasons, indices lie inside, and the same series gets the same answer."""
    found = assess(steps)

    assert found == assess(list(steps))
    require_reasons(found, found.unknown)
    assert found.steps == len(steps)
    assert all(0 <= index < len(steps) for index in found.stalls)
    if found.start is not None:
        assert len(steps) - found.start >= max(LEAST_STEPS, len(steps) / 4)
        assert found.drift.low <= found.drift.share <= found.drift.high
    assert (found.start is None) == (found.verdict == "no_steady_state" or len(steps) < LEAST_STEPS)


@settings(deadline=None, max_examples=100)
@given(series.filter(len), st.sampled_from([1e-9, 0.25, 1024.0, 1e3]))
def test_the_unit_does_not_matter(steps, factor):
    """Seconds or nanoseconds: the same verdict, start and drift, and levels in the unit that was given."""
    found, scaled = assess(steps), assess([factor * each for each in steps])

    assert (scaled.verdict, scaled.start, scaled.stalls) == (found.verdict, found.start, found.stalls)
    assert (scaled.levels, scaled.mser_start) == (found.levels, found.mser_start)
    assert scaled.alternating_ns == pytest.approx([factor * each for each in found.alternating_ns])
    if found.drift:
        assert scaled.drift.share == pytest.approx(found.drift.share, rel=1e-6, abs=1e-9)
