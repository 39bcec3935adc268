"""The figure of absolute rates."""

import pytest

from study.article.figures.throughput import draw
from study.domain.figure import Bar, Points, Whisker
from study.domain.verdict import Verdict


def test_units_have_panels_of_their_own(scene):
    """Tokens and images do not share an axis, and axes start at zero."""
    figure = draw(scene.run, scene.records, scene.analysis)

    assert [(panel.x.unit, panel.x.start) for panel in figure.panels] == [("tokens", 0.0), ("images", 0.0)]


def test_bars_whiskers_and_all_trials(scene):
    """A cell has a bar of its rate, a whisker of its interval and a point for each trial; largest first."""
    tokens = draw(scene.run, scene.records, scene.analysis).panels[0]

    bars = [m for m in tokens.marks if isinstance(m, Bar)]
    points = [m for m in tokens.marks if isinstance(m, Points)]
    assert [bar.value for bar in bars] == [1000.0, 250.0]
    assert [m.estimate.value for m in tokens.marks if isinstance(m, Whisker)] == [1000.0, 250.0]
    assert points[0].x == pytest.approx((990.0, 1000.0, 1010.0))


def test_cells_on_one_device(scene):
    """Where a study has cells on one device, the figure shows these."""
    figure = draw(scene.run, scene.records, scene.analysis)

    assert len(figure.table.rows) == 3


def test_all_cells_where_none_is_on_one_device(make):
    """A study without a cell on one device shows those that it has."""
    cells = [make.cell_summary(make.cell("gpt", "train", "ddp", n), 10.0 * n) for n in (2, 4)]

    figure = draw(make.run(cells, []), (), make.analysis_of(cells, []))

    assert len(figure.panels[0].y.categories) == 2


def test_the_title_is_an_absolute_claim(make, scene, say):
    """A chart of absolute rates is not titled by a comparison; a headline on few devices comes first."""
    two, one = (
        (f"1-{make.cell_id(make.cell('gpt', 'train', s, n))}",) for s, n in (("ddp", 2), ("single", 1))
    )
    verdict = Verdict(
        kind="clear",
        direction="faster",
        ratio=make.estimate(1.5),
        margin=0.02,
        p=0.01,
        p_adjusted=0.01,
        family="f",
        family_size=1,
        repeats_needed=None,
        unknown={"repeats_needed": "It is settled."},
    )
    shared = {"figure": "fig-throughput", "section": "one_device"}
    findings = (
        make.finding("ratio", weight=9.0, verdict=verdict, **shared),
        make.finding("on-two", trials=two, **shared),
        make.finding("quiet", weight=8.0, headline=False, **shared),
        make.finding("zz-on-one", trials=one, **shared),
    )

    figure = draw(scene.run, scene.records, scene.with_analysis(findings=findings).analysis)

    assert say(figure.title) == "zz-on-one in short"


def test_known_truths_stand_aside(make, scene):
    """The check of the instrument is drawn only when there is nothing else."""
    cells = [make.cell_summary(make.cell("sleep", "check", "single", 1), 100.0)]

    alone = draw(make.run(cells, []), (), make.analysis_of(cells, []))
    among = draw(scene.run, scene.records, scene.analysis)

    assert [panel.x.unit for panel in alone.panels] == ["naps"]
    assert "naps" not in [panel.x.unit for panel in among.panels]
