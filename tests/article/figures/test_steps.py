"""The figure of step times."""

import msgspec
import pytest

from study.article.figures.steps import MOST_POINTS, draw, envelope
from study.domain.figure import Line, Span


def test_warmup_is_shown_and_shaded(scene):
    """Warm-up steps stand left of zero, under a shade, in seconds."""
    panel = draw(scene.run, scene.records, scene.analysis).panels[0]

    (span,) = [m for m in panel.marks if isinstance(m, Span)]
    line = next(m for m in panel.marks if isinstance(m, Line))
    assert (span.low, span.high) == (-3.0, 0.0)
    assert line.x[:4] == (-3.0, -2.0, -1.0, 0.0)
    assert line.y[:4] == pytest.approx((0.03, 0.012, 0.011, 0.01))


def test_one_line_a_trial(scene):
    """A panel has a line for every trial of its cell."""
    panel = draw(scene.run, scene.records, scene.analysis).panels[0]

    assert sum(isinstance(m, Line) for m in panel.marks) == 3


def test_the_cell_that_spreads_most_is_chosen(scene, make, say):
    """Of a model and task the cell with the widest step times is drawn."""
    restless = make.cell_id(make.cell("gpt", "train", "ddp", 4))
    steps = tuple(10_000_000 * (1 + i % 3) for i in range(40))
    trials = tuple(
        msgspec.structs.replace(t, step_ns=steps) if t.cell_id == restless else t
        for t in scene.analysis.trials
    )

    figure = draw(scene.run, scene.records, scene.with_analysis(trials=trials).analysis)

    assert say(figure.panels[0].title) == "gpt tiny, training: ddp × 4"


def test_long_lines_keep_their_extremes():
    """A long line is cut to the limit and keeps its highest and lowest point, in order."""
    points = [(float(i), 1.0) for i in range(10_000)]
    points[1234], points[7777] = (1234.0, 50.0), (7777.0, 0.2)

    xs, ys = envelope(points)

    assert len(xs) <= MOST_POINTS
    assert list(xs) == sorted(xs)
    assert (max(ys), min(ys)) == (50.0, 0.2)


def test_short_lines_are_whole():
    """A line within the limit is drawn point by point."""
    points = [(float(i), float(i % 5)) for i in range(MOST_POINTS)]

    assert list(zip(*envelope(points), strict=True)) == points


def test_caption_says_that_lines_were_thinned(scene, make, say):
    """Thinning is stated where it happened and only there."""
    long = tuple(10_000_000 + i for i in range(1000))
    trials = tuple(msgspec.structs.replace(t, step_ns=long) for t in scene.analysis.trials if t.rate)

    thinned = draw(scene.run, scene.records, scene.with_analysis(trials=trials).analysis)
    whole = draw(scene.run, scene.records, scene.analysis)

    assert "lowest and highest step" in say(thinned.caption)
    assert "lowest and highest step" not in say(whole.caption)


def test_few_panels(make):
    """However many models there are, the panels stay wide enough to read."""
    cells = [make.cell_summary(make.cell(f"m{i}", "train", "single", 1), 10.0) for i in range(9)]

    figure = draw(make.run(cells, []), (), make.analysis_of(cells, []))

    assert len(figure.panels) == 3
