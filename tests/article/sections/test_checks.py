"""The section on checks of the instrument."""

import msgspec
import pytest

from study.article.sections.checks import section
from study.domain.article import TableBlock
from study.domain.figure import Missing


def truth(scene):
    """The rows of known truths."""
    return [
        row
        for b in section(scene.material()).blocks
        if isinstance(b, TableBlock) and b.table.key == "t-truth"
        for row in b.table.rows
    ]


@pytest.mark.parametrize(("measured", "verdict"), [(1.99, "yes"), (1.9, "no")])
def test_truth_is_contained_or_not(scene, make, say, measured, verdict):
    """A truth inside the interval is contained, one outside is not."""
    series = make.series("sleep", "check", "ddp", {1: 100.0, 2: 100 * measured}, truth=2.0)

    (row,) = truth(scene.with_analysis(series=(series,)))

    assert [say(entry) for entry in row[-3:]] == [f"{measured:.3g}", "2", verdict]
    assert (row[-3].neutral, row[-2].like) == (2.0, row[-3])


def test_truth_without_an_interval(scene, make):
    """Without an interval nothing is said of containment."""
    series = make.series("sleep", "check", "ddp", {1: 100.0, 2: 199.0}, truth=2.0, speedup=make.bare(1.99))

    (row,) = truth(scene.with_analysis(series=(series,)))

    assert isinstance(row[-1], Missing)


def test_rules_are_counted_and_failures_named(scene, words_in):
    """How many rules passed is said, and each that did not is named with what was found."""
    words = words_in(section(scene.material()))

    assert "2 were checked on this run's own data; 1 passed." in words
    assert "Rule HB6 warns: Few trials were measured." in words
    assert "HB1" not in words


def test_a_broken_rule_is_called_broken(scene, words_in):
    """A failed rule that blocks is called broken."""
    broken = tuple(msgspec.structs.replace(r, passed=False, detail="No base.") for r in scene.analysis.rules)

    assert "Rule HB1 is broken: No base." in words_in(section(scene.with_analysis(rules=broken).material()))


def test_foreign_load_is_the_largest_share(scene, words_in):
    """The largest share of processor time that others took is stated."""
    first, *rest = scene.analysis.trials
    disturbed = msgspec.structs.replace(first, foreign_cpu_share=0.42)

    words = words_in(section(scene.with_analysis(trials=(disturbed, *rest)).material()))

    assert "other programs used at most 42%" in words


def test_foreign_load_that_nobody_recorded(scene, words_in):
    """If no trial recorded it, that is said."""
    blind = tuple(msgspec.structs.replace(t, foreign_cpu_share=None) for t in scene.analysis.trials)

    words = words_in(section(scene.with_analysis(trials=blind).material()))

    assert "was not recorded in any trial" in words
