"""What a family of comparisons allows to say."""

import math

import msgspec
import pytest

from study.analysis import reasons
from study.analysis.intervals import LogMean, quantile
from study.analysis.verdicts import Refused, blocks_needed, holm, judge
from study.domain.fact import require_reasons


def ratio(value, error=0.001, df=4.0, n=5):
    """A ratio as it comes from trials."""
    return LogMean(value=value, mean=math.log(value), error=error, df=df, n=n, method="welch_log")


def only(value, error=0.001, margin=0.02, **more):
    """The verdict on one ratio alone in its family."""
    (verdict,) = judge("family", [ratio(value, error, **more)], margin)
    return verdict


def test_clear_lies_beyond_the_margin():
    """1.10 with a half-width of 0.3 % lies beyond 1.02 in either direction."""
    assert (only(1.10).kind, only(1.10).direction) == ("clear", "faster")
    assert (only(1 / 1.10).kind, only(1 / 1.10).direction) == ("clear", "slower")


def test_the_margin_itself_decides_between_clear_and_small():
    """The lower end just above 1.02 is clear, just below it is small."""
    half = quantile(0.975, 4) * 0.001
    edge = math.log(1.02) + half

    assert only(math.exp(edge + 1e-6)).kind == "clear"
    assert only(math.exp(edge - 1e-6)).kind == "small"


def test_the_band_is_symmetric_on_the_log_scale():
    """Downwards it ends at 1/1.02, not at 0.98: an upper end of 0.9802 lies beyond it."""
    half = quantile(0.975, 4) * 0.001

    assert only(0.9802 * math.exp(-half)).kind == "clear"
    assert only(0.9805 * math.exp(-half)).kind == "small"


def test_equality_is_harder_to_show_in_a_larger_family():
    """The one-sided tests share the error rate too: what is the same alone is open among five."""
    error = 0.0078

    assert only(1.0001, error).kind == "same"
    assert judge("f", [ratio(1.0001, error)] * 5, 0.02)[0].kind == "open"


def test_small_is_measurable_and_not_shown_to_matter():
    """An interval above one that reaches into the band."""
    assert (only(1.02).kind, only(1.02).direction, only(1.02).also_same) == ("small", "faster", False)


def test_small_and_within_the_margin_is_both():
    """0.6 % with a half-width of 0.3 %: measurable, and shown to be of no practical size."""
    assert (only(1.006).kind, only(1.006).also_same) == ("small", True)


def test_same_needs_both_one_sided_tests():
    """Around one with the 90 % interval inside the band; the 95 % interval may touch it."""
    error = 0.0078
    assert quantile(0.95, 4) * error < math.log(1.02) < quantile(0.975, 4) * error

    assert only(1.0001, error).kind == "same"
    assert only(1.0001, error).direction == "neither"
    assert only(1.006, error).kind == "open"


def test_the_interval_of_equality_is_kept_beside_that_of_difference():
    """At 1 - 0.10/m, it lies inside the band where the verdict is "same", and inside the other interval."""
    for size in (1, 3):
        verdict = judge("f", [ratio(1.0001, 0.004)] * size, 0.02)[0]

        assert verdict.equivalence.level == pytest.approx(1 - 0.10 / size)
        assert verdict.ratio.low < verdict.equivalence.low < verdict.equivalence.high < verdict.ratio.high
        half = quantile(1 - 0.05 / size, 4) * 0.004
        assert verdict.equivalence.high == pytest.approx(1.0001 * math.exp(half))


def test_small_is_within_the_margin_by_the_interval_that_shows_the_difference():
    """An interval whose 90 % part alone lies inside the band is not said to lie within the margin."""
    error, value = 0.005, 1.0085
    narrow, wide = (math.log(value) + quantile(p, 200) * error for p in (0.95, 0.975))
    assert narrow < math.log(1.02)

    inside = only(value, 0.004, df=200.0, n=101)
    outside = only(1.0112, error, df=200.0, n=101)

    assert (inside.kind, inside.also_same) == ("small", True)
    assert (outside.kind, outside.also_same) == ("small", False)
    assert outside.equivalence.high < 1.02 < outside.ratio.high
    assert wide > narrow


def test_no_significance_is_not_equality():
    """A wide interval around one is open, and about how many blocks would settle it is said."""
    verdict = only(1.005, 0.02)

    assert verdict.kind == "open"
    assert verdict.repeats_needed > 5


def test_too_few_trials_are_not_compared():
    """A ratio without an interval is kept as a point, judged by nobody, and says why in words."""
    point = LogMean(
        value=1.5, mean=math.log(1.5), error=None, df=None, n=2, method="none", refusal=reasons.TOO_FEW
    )

    (verdict,) = judge("family", [point], 0.02)

    assert (verdict.kind, verdict.reason) == ("not_compared", reasons.TOO_FEW)
    assert (verdict.ratio.value, verdict.ratio.low, verdict.p) == (1.5, None, None)
    require_reasons(verdict, verdict.unknown)


def test_refused_comparisons_count_in_the_family():
    """Two refused beside one tested make a family of three: wider interval, p times three."""
    alone = only(1.02, 0.005)

    verdicts = judge("f", [Refused(reason="x"), ratio(1.02, 0.005), Refused(reason="y")], 0.02)

    assert [v.family_size for v in verdicts] == [3, 3, 3]
    assert verdicts[1].ratio.level == pytest.approx(1 - 0.05 / 3)
    assert verdicts[1].ratio.low < alone.ratio.low
    assert verdicts[1].p == alone.p
    assert verdicts[1].p_adjusted == pytest.approx(3 * alone.p)


def test_simultaneous_intervals_are_bonferronis():
    """With m comparisons the quantile is that of 1 - 0.025/m."""
    verdicts = judge("f", [ratio(1.02)] * 4, 0.02)

    half = quantile(1 - 0.025 / 4, 4) * 0.001
    assert verdicts[0].ratio.high == pytest.approx(1.02 * math.exp(half))


def test_holm_by_hand():
    """Holm's procedure on 0.01, 0.04, 0.03, 0.005: 0.03, 0.06, 0.06, 0.02."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_keeps_order_and_stays_below_one():
    """Adjusted values never fall as p rises, and one is the largest."""
    assert holm([0.6, 0.5]) == [1.0, 1.0]
    assert holm([0.02, None, 0.02]) == pytest.approx([0.06, None, 0.06])
    assert holm([]) == []


@pytest.mark.parametrize("value", [1.1, 1.02, 1.006, 1.0001, 1.005])
@pytest.mark.parametrize("error", [0.001, 0.0078, 0.02])
def test_swapping_the_sides_swaps_only_the_direction(value, error):
    """A over B and B over A get the same kind, p and need of blocks."""
    there, back = only(value, error), only(1 / value, error)

    opposite = {"faster": "slower", "slower": "faster", "neither": "neither"}
    assert (back.kind, back.also_same) == (there.kind, there.also_same)
    assert back.direction == opposite[there.direction]
    assert back.p == pytest.approx(there.p)
    assert back.repeats_needed == there.repeats_needed
    assert back.ratio.low == pytest.approx(1 / there.ratio.high)


@pytest.mark.parametrize(
    ("cv", "margin", "planned"),
    [
        (0.005, 0.01, 6),
        (0.01, 0.01, 18),
        (0.02, 0.01, 70),
        (0.005, 0.02, 3),
        (0.01, 0.02, 6),
        (0.02, 0.02, 18),
    ],
)
def test_blocks_that_show_equality_agree_with_simulated_power(cv, margin, planned):
    """Two equal cells, power 80 %: the published table of repeats, to within a tenth or one block.

    Reached from a study of three blocks, so at the given spread: error cv sqrt(2/3), 4 df.
    """
    needed = blocks_needed(ratio(1.0, cv * math.sqrt(2 / 3), df=4, n=3), margin, 1)

    assert needed == pytest.approx(max(planned, 4), abs=max(1, 0.1 * planned))


@pytest.mark.parametrize(("cv", "planned"), [(0.005, 6), (0.01, 17), (0.02, 64)])
def test_blocks_that_show_a_difference_agree_with_simulated_power(cv, planned):
    """A true 1 % is found with power 80 % by 6, 17 and 64 blocks at CV 0.5, 1 and 2 %."""
    needed = blocks_needed(ratio(1.01, cv * math.sqrt(2 / 3), df=4, n=3), 1e-6, 1)

    assert needed == pytest.approx(planned, abs=max(1, 0.1 * planned))


def test_what_a_thousand_blocks_do_not_settle_has_no_number():
    """A hopeless comparison says so instead of naming a number."""
    verdict = only(1.0001, 0.5, margin=0.001)

    assert (verdict.kind, verdict.repeats_needed) == ("open", None)
    assert verdict.unknown["repeats_needed"] == reasons.NEVER_SETTLED


def test_every_verdict_explains_its_nulls():
    """Settled and open verdicts alike."""
    for verdict in judge("f", [ratio(1.1), ratio(1.0), ratio(1.005, 0.02), Refused(reason="x")], 0.02):
        require_reasons(verdict, verdict.unknown)
        assert msgspec.json.decode(msgspec.json.encode(verdict), type=type(verdict)) == verdict
