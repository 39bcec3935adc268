"""The instrument on trial: what a missed truth does to the whole analysis."""

import msgspec
import pytest
from fakes.records import fake_run, quick_truths

from study.analysis import analyse
from study.analysis.truths import outcome
from study.domain.estimate import Estimate


def speedup(low, high):
    """A measured speed-up with this interval."""
    return Estimate(value=1.82, low=low, high=high, n=5, unit="", method="welch_log")


def off_by(factor, cv=0.0005):
    """The quick study, its check on two devices off by this factor."""
    *others, check = quick_truths(cv)
    return analyse(*fake_run(truths=[*others, msgspec.structs.replace(check, rate=check.rate * factor)]))


def rule(analysis, name="CAL1"):
    """A rule's outcome."""
    return next(each for each in analysis.rules if each.id == name)


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (1.80, 1.84, "contained"),
        (1.82, 1.84, "contained"),
        (1.821, 1.856, "within"),
        (1.785, 1.819, "within"),
        (1.821, 1.857, "missed"),
        (1.784, 1.819, "missed"),
        (None, None, "too_few"),
    ],
)
def test_the_margin_around_the_truth_decides(low, high, found):
    """Around 1.82 with a margin of 2 %: 1.7843 to 1.8564."""
    assert outcome(speedup(low, high), 1.82, 0.02) == found


@pytest.mark.parametrize("factor", [1.0, 1.012])
def test_a_truth_found_or_nearly_found_passes(factor):
    """Within the margin the rule passes, and no other claim suffers."""
    analysis = off_by(factor)

    assert (rule(analysis).passed, rule(analysis).effect) == (True, "warn")
    assert any(f.evidence == "strong" for f in analysis.findings)
    frames = [c.frame for f in analysis.findings for c in f.caveats]
    assert "The instrument check missed its known truth." not in frames


def test_a_missed_truth_has_consequences():
    """The rule fails and names the series; every other claim is moderate at most and says why."""
    analysis = off_by(1.05)

    assert not rule(analysis).passed
    assert rule(analysis).detail.startswith("sleep amdahl, check on 2 devices: the true speed-up is 1.8182")
    claims = [f for f in analysis.findings if f.section in ("one_device", "more_devices")]
    assert {f.shelf for f in claims} >= {"one-device", "latency", "training-scales", "inference-scales"}
    for finding in claims:
        assert finding.evidence != "strong"
        assert "The instrument check missed its known truth." in [c.frame for c in finding.caveats]


def test_chance_excuses_a_near_miss_and_no_other():
    """One interval in twenty misses by chance, but not by more than the margin."""
    chance = "One interval in twenty misses the truth by chance."

    said = {
        factor: [c.frame for f in off_by(factor).findings if f.shelf == "known-truth" for c in f.caveats]
        for factor in (1.0, 1.012, 1.05)
    }

    assert [chance in said[factor] for factor in (1.0, 1.012, 1.05)] == [False, True, False]


def test_a_check_carries_no_evidence_about_the_machine():
    """It is about the instrument: no level, no verdict, and the check does not doubt itself."""
    for factor in (1.0, 1.05):
        (found,) = (f for f in off_by(factor).findings if f.shelf == "known-truth")
        assert (found.evidence, found.verdict) == ("none", None)
        assert "The instrument check missed its known truth." not in [c.frame for c in found.caveats]


def test_the_press_is_told_which_side_must_stay_visible():
    """The interval carries the truth as its neutral value, and the truth stands beside the estimate."""
    (found,) = (f for f in off_by(1.012).findings if f.shelf == "known-truth")
    slots = found.sentence.slots

    assert slots["speedup"].neutral == slots["truth"].value == pytest.approx(1 / 0.55)
    assert slots["truth"].like == slots["speedup"]


def test_the_checks_own_noise_is_told():
    """The sleeping workload spreads its trials by one percent on purpose."""
    (found,) = (f for f in off_by(1.0).findings if f.shelf == "known-truth")

    (noise,) = (c for c in found.caveats if "noise" in c.frame)
    assert noise.slots["jitter"].value == 0.01


def test_without_a_check_nothing_is_claimed_of_the_instrument():
    """The rule says that there was nothing to test; so it does below three trials."""
    none, few = analyse(*fake_run(truths=quick_truths()[:3])), analyse(*fake_run(blocks=2))

    for analysis in (none, few):
        assert rule(analysis).passed
        assert rule(analysis).detail == "The run holds no interval of a speed-up that is known in advance."
