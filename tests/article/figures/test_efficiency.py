"""The figure of efficiency."""

import pytest

from study.article.figures.efficiency import draw
from study.domain.figure import Points, Rule, Whisker


def test_rows_are_series_and_counts(scene, say):
    """There is one row for each count above one, with its efficiency."""
    (panel,) = draw(scene.run, scene.records, scene.analysis).panels

    whiskers = [m for m in panel.marks if isinstance(m, Whisker)]
    assert [say(name) for name in panel.y.categories] == ["ddp × 2", "ddp × 4"]
    assert [w.estimate.value for w in whiskers] == pytest.approx([0.9, 0.75])
    assert {w.along for w in whiskers} == {"x"}


def test_ideal_is_drawn_and_the_axis_starts_at_zero(scene):
    """The ideal stands at one hundred per cent on an axis that is not cut."""
    (panel,) = draw(scene.run, scene.records, scene.analysis).panels

    assert [(m.at, m.along) for m in panel.marks if isinstance(m, Rule)] == [(1.0, "x")]
    assert panel.x.start == 0.0


def test_every_trial_is_a_point(scene):
    """A trial stands at its rate over base and devices."""
    (panel,) = draw(scene.run, scene.records, scene.analysis).panels

    points = [m for m in panel.marks if isinstance(m, Points)]
    assert points[0].x == pytest.approx((0.9 * 0.99, 0.9, 0.9 * 1.01))
    assert points[0].y == (0.0, 0.0, 0.0)
    assert points[1].x == pytest.approx((0.75 * 0.99, 0.75, 0.75 * 1.01))


def test_strong_and_weak_have_panels_of_their_own(make):
    """Strong and weak scaling do not share a panel."""
    series = [make.series("gpt", "train", "ddp", {1: 100.0, 2: 150.0}, scaling=s) for s in ("strong", "weak")]

    figure = draw(make.run([], []), (), make.analysis(series=tuple(series)))

    assert len(figure.panels) == 2
