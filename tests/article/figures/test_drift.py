"""The figure of drift over the run."""

import math

import msgspec
import pytest

from study.article.figures.drift import draw
from study.domain.figure import Line, Points, Rule, Span
from study.domain.summary import SentinelPoint, SentinelSummary


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


@pytest.fixture
def watched(make, desk):
    """The same three blocks with a sentinel before and behind each, two per cent lost a block."""
    of = make.cell("gpt", "train", "single", 1)
    trials, points = [], []
    for number in range(6):
        block, second = number // 2 + 1, number // 2 * 30 + (number % 2) * 20 + 1
        rate = 200.0 * (1.02, 1.0, 0.98)[block - 1]
        name = f"sentinel-{number}"
        began = f"2026-11-28T10:0{second // 60}:{second % 60:02}Z"
        trials.append(make.trial(of, block, rate, order=100 + number, trial=name, started_utc=began))
        points.append(
            SentinelPoint(
                trial=name,
                order=100 + number,
                block=block,
                session=1 + number // 4,
                place="first" if number % 2 == 0 else "last",
                start_s=float(second),
                residual=math.log(rate / 200.0),
            )
        )
    seen = SentinelSummary(
        cell_id="sentinel",
        cell=of,
        unit="tokens",
        planned=6,
        trials=tuple(trials),
        points=tuple(points),
        sessions=(),
        spread=0.02,
        drift=None,
        within_blocks=None,
    )
    return msgspec.structs.replace(desk, sentinel=seen)


def test_the_sentinel_is_a_trace_of_its_own(make, watched, say):
    """A line a session with its own mark, both kinds in the legend, and the first session named once."""
    figure = draw(make.run([], []), (), watched)
    first, second = marks(figure, Line)

    assert first.x == (1.0, 21.0, 31.0, 51.0)
    assert second.y == pytest.approx((-0.02, -0.02))
    assert {line.marker for line in (first, second)} == {"diamond"}
    assert (say(first.label), second.label) == ("the sentinel", None)
    assert say(marks(figure, Points)[0].label) == "a cell's trial"
    assert figure.panels[0].legend


def test_words_and_table_include_the_sentinel(make, watched, say):
    """The description gives its range, the caption its place, the table its rows."""
    figure = draw(make.run([], []), (), watched)

    assert "12 trials" in say(figure.alt)
    assert "A line joins the 6 of the sentinel, which lie between -2% and 2%." in say(figure.alt).replace(
        "−", "-"
    )
    assert "the sentinel first and last" in say(figure.caption)
    assert [say(row[3]) for row in figure.table.rows].count("sentinel") == 6


def test_a_sentinel_alone_is_drawn_and_a_single_trial_of_it_is_not(make, watched):
    """Without cells that were measured twice the trace is all there is; one trial has no mean."""
    once = tuple(msgspec.structs.replace(cell, measured=1) for cell in watched.cells)
    alone = msgspec.structs.replace(watched, cells=once)
    short = msgspec.structs.replace(watched.sentinel, points=watched.sentinel.points[:1])

    figure = draw(make.run([], []), (), alone)
    assert marks(figure, Points) == []
    assert len(figure.table.rows) == 6
    assert draw(make.run([], []), (), msgspec.structs.replace(alone, sentinel=short)) is None
