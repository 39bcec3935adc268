"""How series share panels."""

from study.article.panels import LOOKS, look, looks, series_panels, shown_series


def test_few_series_share_one_panel(make):
    """Up to four series of one scaling stand in one panel."""
    series = [make.series(w, "train", "ddp", {1: 1.0, 2: 2.0}) for w in ("a", "b", "c", "d")]

    assert [len(panel) for panel in series_panels(series)] == [4]


def test_eight_series_become_small_multiples(make):
    """Eight series become panels of at most four, each model whole, none lost."""
    series = [make.series(w, "train", s, {1: 1.0, 2: 2.0}) for w in ("a", "b") for s in ("w", "x", "y", "z")]

    panels = series_panels(series)

    assert [{one.workload for one in panel} for panel in panels] == [{"a"}, {"b"}]
    assert [one for panel in panels for one in panel] == series


def test_strong_and_weak_scaling_stand_apart(make):
    """Strong and weak scaling never share a panel."""
    series = [make.series("a", "train", "ddp", {1: 1.0, 2: 2.0}, scaling=s) for s in ("strong", "weak")]

    assert [len(panel) for panel in series_panels(series)] == [1, 1]


def test_no_two_series_of_a_panel_look_alike(make):
    """Colours and shapes both differ within a panel."""
    assert len({token for token, _ in LOOKS}) == len({marker for _, marker in LOOKS}) == 4


def test_known_truths_are_not_results(scene):
    """The checks of the instrument are not compared with results."""
    assert [one.task for one in shown_series(scene.analysis)] == ["train"]


def test_sixteen_series_look_different(make):
    """Colours come again only with another marker."""
    assert len({look(position) for position in range(16)}) == 16


def test_a_series_has_one_look_over_all_panels(make):
    """Looks are handed out along the panels, so that neighbours in a panel differ in colour too."""
    series = [
        make.series(w, "train", "ddp", {1: 1.0, 2: 2.0}, scaling=s)
        for w in ("a", "b", "c")
        for s in ("strong", "weak")
    ]

    of = looks(series)

    assert len(set(of.values())) == 6
    for panel in series_panels(series):
        assert len({of[one.series.key][0] for one in panel}) == len(panel)
