"""The figure of drift over the run."""

import msgspec
import pytest

from study.article.figures.drift import draw
from study.domain.figure import Points, Rule, Span


@pytest.fixture
def desk(make):
    """Two cells and a check in three blocks, a trial every ten seconds, three per cent lost a block."""
    cells = [
        make.cell_summary(make.cell("gpt", "train", "single", 1), 100.0),
        make.cell_summary(make.cell("gpt", "train", "ddp", 2), 150.0),
        make.cell_summary(make.cell("sleep", "check", "single", 1), 50.0),
    ]
    places = [(block, cell) for block in (1, 2, 3) for cell in cells]
    trials = tuple(
        make.trial(
            cell.cell,
            block,
            cell.geometric_mean * (1.03, 1.0, 0.97)[block - 1],
            order=order,
            started_utc=f"2026-11-28T10:0{order * 10 // 60}:{order * 10 % 60:02}Z",
        )
        for order, (block, cell) in enumerate(places)
    )
    return make.analysis(cells=tuple(cells), trials=trials)


def marks(figure, kind):
    """The marks of one kind in the figure's only panel."""
    return [mark for mark in figure.panels[0].marks if isinstance(mark, kind)]


def test_every_trial_stands_at_its_start_and_its_residual(make, desk):
    """Seconds from the first trial across, the share above the cell's mean upwards; checks are left out."""
    (points,) = marks(draw(make.run([], []), (), desk), Points)

    assert points.x == (0.0, 10.0, 30.0, 40.0, 60.0, 70.0)
    assert points.y == pytest.approx((0.03, 0.03, 0.0, 0.0, -0.03, -0.03))


def test_blocks_and_zero_are_marked(make, desk, say):
    """Every other block is shaded from gap to gap, and a line marks the cells' means."""
    figure = draw(make.run([], []), (), desk)

    assert [(s.low, s.high, say(s.label)) for s in marks(figure, Span)] == [
        (0.0, 20.0, "block 1"),
        (50.0, 70.0, "block 3"),
    ]
    assert [(rule.at, rule.along) for rule in marks(figure, Rule)] == [(0.0, "y")]


def test_the_title_is_the_finding_s(make, desk, say):
    """With a finding on drift the chart says what was found, else what it shows."""
    found = msgspec.structs.replace(desk, findings=(make.finding("drift", shelf="drift"),))

    assert say(draw(make.run([], []), (), found).title) == "drift in short"
    assert say(draw(make.run([], []), (), desk).title) == "Rates over the run, each against its cell's mean"


def test_a_cell_measured_once_has_no_mean_to_differ_from(make, desk):
    """Where no cell was measured twice there is no figure."""
    once = tuple(msgspec.structs.replace(cell, measured=1) for cell in desk.cells)

    assert draw(make.run([], []), (), msgspec.structs.replace(desk, cells=once)) is None


def test_the_table_holds_every_mark(make, desk, say):
    """Order, start, block, cell and residual of each trial that is drawn."""
    table = draw(make.run([], []), (), desk).table

    assert [say(entry) for entry in table.rows[2]][:3] == ["3", "30", "2"]
    assert len(table.rows) == 6
