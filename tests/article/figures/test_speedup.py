"""The figure of speed-up."""

import msgspec
import pytest

from study.article.figures import efficiency
from study.article.figures.speedup import draw
from study.domain.figure import Band, Line, Points, Whisker


@pytest.fixture
def drawn(make):
    """Draws series of gpt training with one trial a block in every cell, on a machine with given links."""

    def draw_series(*series, links=()):
        cells = {
            make.cell_id(made): make.cell_summary(made, rate.value)
            for one in series
            for point in one.points
            if (rate := point.rate)
            for made in [
                make.cell(
                    one.workload,
                    one.task,
                    "single" if point.devices == 1 else one.series.strategy,
                    point.devices,
                )
            ]
        }
        desk = make.analysis_of(list(cells.values()), list(series))
        return draw(make.run([], [], machine=make.machine(links=links)), (), desk)

    return draw_series


def lines(panel, *, dashed):
    """The lines of a panel that are dashed, or those that are not."""
    return [m for m in panel.marks if isinstance(m, Line) and m.dashed is dashed]


def test_ideal_line_in_every_panel(make, drawn):
    """Every panel carries the ideal from one device to the largest count, where speed-up equals devices."""
    figure = drawn(
        make.series("gpt", "train", "ddp", {1: 100.0, 2: 190.0, 4: 300.0}),
        make.series("gpt", "train", "ddp", {1: 100.0, 2: 180.0}, scaling="weak"),
    )

    ideals = [lines(panel, dashed=True) for panel in figure.panels]
    assert [[(line.x, line.y) for line in found] for found in ideals] == [
        [((1.0, 4.0), (1.0, 4.0))],
        [((1.0, 2.0), (1.0, 2.0))],
    ]


def test_line_runs_through_the_speedups(make, drawn):
    """The line joins the measured speed-ups over the device counts."""
    figure = drawn(make.series("gpt", "train", "ddp", {1: 100.0, 2: 190.0, 4: 300.0}))

    (line,) = lines(figure.panels[0], dashed=False)
    assert line.x == (1.0, 2.0, 4.0)
    assert line.y == pytest.approx((1.0, 1.9, 3.0))


def test_two_counts_are_enough(make, drawn):
    """One and two devices make a figure: two points, joined, with their interval."""
    figure = drawn(make.series("gpt", "train", "ddp", {1: 100.0, 2: 190.0}))

    (line,) = lines(figure.panels[0], dashed=False)
    whiskers = [m for m in figure.panels[0].marks if isinstance(m, Whisker)]
    assert line.x == (1.0, 2.0)
    assert [w.at for w in whiskers] == [1.0, 2.0]


def test_every_trial_is_a_point(make, drawn):
    """Every trial stands at its rate over the base's rate."""
    figure = drawn(make.series("gpt", "train", "ddp", {1: 100.0, 2: 190.0}))

    (points,) = [m for m in figure.panels[0].marks if isinstance(m, Points)]
    assert points.x == (1.0, 1.0, 1.0, 2.0, 2.0, 2.0)
    assert points.y == pytest.approx((0.99, 1.0, 1.01, 1.9 * 0.99, 1.9, 1.9 * 1.01))


def test_intervals_stand_at_device_counts_and_not_between(make, drawn):
    """However many series share a panel, an interval is a whisker at a count that was measured."""
    figure = drawn(*(make.series("gpt", "train", s, {1: 100.0, 2: 150.0}) for s in ("ddp", "fsdp")))

    marks = figure.panels[0].marks
    ends = [(m.at, m.estimate.low, m.estimate.high) for m in marks if isinstance(m, Whisker) and m.at > 1]
    assert ends == [(2.0, pytest.approx(1.47), pytest.approx(1.53))] * 2
    assert not [m for m in marks if isinstance(m, Band)]


def test_a_caption_names_what_is_drawn(make, drawn, say):
    """Whiskers are named where there are some, and estimates without one only where there are such."""
    refused = drawn(make.series("gpt", "train", "ddp", {1: 100.0, 2: 150.0}, speedup=make.bare(1.5)))
    whole = drawn(make.series("gpt", "train", "ddp", {1: 100.0, 2: 150.0}))

    assert "Whiskers are" not in say(refused.caption)
    assert "no whiskers" in say(refused.caption)
    assert "Whiskers are" in say(whole.caption)
    assert "no whiskers" not in say(whole.caption)


def test_regimes_are_not_joined(make, drawn):
    """Two bridged cards and four cards without a bridge are points and no line."""
    links = (("X", "NV4", "SYS", "SYS"), ("NV4", "X", "SYS", "SYS")) + (("SYS", "SYS", "X", "SYS"),) * 2
    figure = drawn(make.series("gpt", "train", "ddp", {1: 100.0, 2: 190.0, 4: 300.0}), links=links)

    assert [line.x for line in lines(figure.panels[0], dashed=False)] == [(1.0, 2.0), (4.0,)]


def test_eight_series_become_small_multiples(make, drawn):
    """Eight series stand in two panels of four that differ in colour and in shape."""
    figure = drawn(
        *(
            make.series(w, "train", s, {1: 100.0, 2: 150.0})
            for w in ("gpt", "resnet")
            for s in ("ddp", "fsdp", "tensor", "pipeline")
        )
    )

    assert len(figure.panels) == 2
    for panel in figure.panels:
        assert len({line.token for line in lines(panel, dashed=False)}) == 4
        assert len({m.marker for m in panel.marks if isinstance(m, Whisker)}) == 4


def test_no_look_means_two_series(make, drawn):
    """Over all panels a colour with its marker is one series, in this figure and in that of efficiency."""
    series = [
        make.series(w, "train", s, {1: 100.0, 2: 150.0}, scaling=scaling)
        for scaling in ("strong", "weak")
        for w in ("gpt", "resnet")
        for s in ("ddp", "fsdp")
    ]

    speedup = drawn(*series)
    other = efficiency.draw(make.run([], []), (), make.analysis(series=tuple(series)))

    found = [
        {(m.token, m.marker) for panel in figure.panels for m in panel.marks if isinstance(m, Whisker)}
        for figure in (speedup, other)
    ]
    assert len(found[0]) == 8
    assert found[0] == found[1]


def test_subtitle_names_the_base_and_its_rate(make, drawn, say):
    """The base's absolute rate stands in the subtitle."""
    figure = drawn(make.series("gpt", "train", "ddp", {1: 123.0, 2: 190.0}))

    assert "gpt tiny (training) 123" in say(figure.subtitle)


def test_oversubscribed_points_are_hollow(make, drawn, say):
    """Points with more threads than cores are hollow, and the caption says what that means."""
    figure = drawn(make.series("gpt", "train", "ddp", {1: 100.0, 2: 120.0}, oversubscribed=True))

    assert all(m.hollow for m in figure.panels[0].marks if isinstance(m, Whisker))
    assert "hollow marks" in say(figure.caption)


@pytest.fixture
def crowded(make):
    """A series on a machine with two cores: at four devices more threads ran than cores."""
    one = make.series("gpt", "train", "ddp", {1: 100.0, 2: 150.0, 4: 140.0})
    points = tuple(msgspec.structs.replace(p, oversubscribed=p.devices == 4) for p in one.points)
    return msgspec.structs.replace(one, points=points)


def test_no_line_leads_to_an_oversubscribed_point(crowded, drawn):
    """A stretch of a line ends where threads begin to share cores."""
    figure = drawn(crowded)

    assert [line.x for line in lines(figure.panels[0], dashed=False)] == [(1.0, 2.0), (4.0,)]


def test_the_label_is_of_the_last_count_with_cores_enough(crowded, drawn, say):
    """The number at the end of a line, and the first of the spoken text, are not an oversubscribed one's."""
    figure = drawn(crowded)

    labels = [line.end_label for line in lines(figure.panels[0], dashed=False)]
    assert [say(label) if label else "" for label in labels] == ["1.5 ddp", ""]
    assert "gpt tiny (training) 1.5 on 2" in say(figure.alt)


def test_the_spoken_text_begins_with_the_title_s_finding(make, drawn, say):
    """Who hears the chart first hears the number that is its title."""
    series = [make.series(w, "train", "ddp", {1: 100.0, 2: 100.0 * r}) for w, r in (("a", 1.2), ("b", 1.9))]
    cells = [make.cell_summary(make.cell(w, "train", "ddp", 2), 1.0) for w in ("a", "b")]
    finding = make.finding("b", figure="fig-speedup", trials=(f"1-{cells[1].cell_id}",))
    desk = make.analysis_of(cells, series, findings=(finding,))

    alt = say(draw(make.run([], []), (), desk).alt)

    assert alt.index("b tiny (training) 1.9 on 2") < alt.index("a tiny (training) 1.2 on 2")


def test_missing_base_leaves_the_figure_out(make, scene, words_in):
    """Without a base there is no figure, and the limits name figure, series and reason."""
    baseless = make.series("gpt", "train", "ddp", {2: 190.0, 4: 300.0}, base=False)
    article = scene.with_analysis(series=(baseless,)).article()

    limits = words_in(next(section for section in article.sections if section.key == "limits"))
    figures = [b.figure.key for s in article.sections for b in s.blocks if hasattr(b, "figure")]
    assert "fig-speedup" not in figures
    assert "There is no figure of speed-up" in limits
    assert "no speed-up can be given. The study has no cell on one device to compare with." in limits


def test_known_truths_are_not_drawn(make, drawn):
    """A check of the instrument alone makes no figure of results."""
    assert drawn(make.series("sleep", "check", "ddp", {1: 100.0, 2: 199.0})) is None


def test_many_bases_are_left_to_the_table(make, drawn, say):
    """With more bases than a line holds, the subtitle points to the table, which has every base's rate."""
    figure = drawn(*(make.series(f"m{i}", "train", "ddp", {1: 100.0 + i, 2: 150.0}) for i in range(5)))

    column = [column.key for column in figure.table.columns].index("base_per_s")
    assert "The table gives each base's rate." in say(figure.subtitle)
    assert {say(row[column]) for row in figure.table.rows} == {"100", "101", "102", "103", "104"}
