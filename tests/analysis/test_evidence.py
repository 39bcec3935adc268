"""How sure a claim may sound."""

import pytest

from study.analysis.evidence import of_comparison, of_value, trials, trials_each
from study.analysis.verdicts import not_compared
from study.domain.estimate import Estimate
from study.domain.verdict import Verdict


def verdict(kind, also_same=False):
    """A verdict of this kind."""
    return Verdict(
        kind=kind,
        direction="faster",
        ratio=None,
        margin=0.02,
        p=0.01,
        p_adjusted=0.01,
        family="f",
        family_size=1,
        repeats_needed=None,
        also_same=also_same,
    )


@pytest.mark.parametrize(
    ("kind", "also_same", "n", "flagged", "level"),
    [
        ("clear", False, 5, False, "strong"),
        ("clear", False, 4, False, "moderate"),
        ("clear", False, 50, True, "moderate"),
        ("small", False, 50, False, "weak"),
        ("small", True, 5, False, "moderate"),
        ("same", False, 50, False, "moderate"),
        ("open", False, 50, False, "not_shown"),
        ("not_compared", False, 2, False, "none"),
    ],
)
def test_levels_of_comparisons(kind, also_same, n, flagged, level):
    """Verdict, trials and flags together decide."""
    assert of_comparison(verdict(kind, also_same), n, flagged=flagged) == level


def test_no_comparison_is_no_evidence():
    """Nothing compared, nothing shown."""
    assert of_comparison(None, 5, flagged=False) == "none"
    assert of_comparison(not_compared("x", 0.02, "f", 1), 5, flagged=False) == "none"


@pytest.mark.parametrize(
    ("low", "high", "n", "flagged", "level"),
    [
        (99.0, 101.0, 5, False, "strong"),
        (99.0, 101.0, 5, True, "moderate"),
        (99.0, 101.0, 4, False, "moderate"),
        (97.0, 101.0, 5, False, "moderate"),
        (99.0, 103.0, 5, False, "moderate"),
        (None, None, 2, False, "weak"),
    ],
)
def test_levels_of_values(low, high, n, flagged, level):
    """A described value is strong if its interval stays within the margin of it."""
    value = Estimate(value=100.0, low=low, high=high, n=n, unit="s", method="t_log")

    assert of_value(value, 0.02, flagged=flagged) == level


def test_notes_count_trials_and_name_the_machine():
    """One machine is all that a claim is about."""
    assert trials(1).slots["n"].value == 1
    assert "on this machine" in trials_each(5).plural
