"""The section on more devices."""

import pytest

from study.article.sections.more import section
from study.domain.article import TableBlock
from study.domain.figure import Missing


def rows(scene, say):
    """The table of series, spoken, under its columns' keys."""
    table = next(b.table for b in section(scene.material()).blocks if isinstance(b, TableBlock))
    keys = [column.key for column in table.columns]
    spoken = [[say(e.reason) if isinstance(e, Missing) else say(e) for e in row] for row in table.rows]
    return [dict(zip(keys, row, strict=True)) for row in spoken]


@pytest.fixture
def weak(make):
    """A weak series with its overhead and without a serial fraction."""
    loss = {"overhead": make.estimate(0.1), "karp_flatt": None}
    return make.series("gpt", "train", "ddp", {1: 100.0, 2: 180.0}, scaling="weak", **loss)


def test_strong_series(scene, weak, say):
    """A strong series shows rate, base, speed-up, efficiency and serial fraction, and no overhead."""
    two = rows(scene.with_analysis(series=(*scene.analysis.series, weak)), say)[0]

    assert (two["rate_per_s"], two["base_per_s"], two["unit"]) == ("1.8e+03", "1e+03", "tokens/s")
    assert (two["speedup"], two["efficiency_share"], two["serial_share"]) == ("1.8", "0.9", "0.1")
    assert two["overhead_share"] == "Defined for weak scaling only."


def test_weak_series(scene, weak, say):
    """A weak series shows its overhead and no serial fraction."""
    two = rows(scene.with_analysis(series=(*scene.analysis.series, weak)), say)[-1]

    assert two["overhead_share"] == "0.1"
    assert two["serial_share"] == "Defined for strong scaling only."


def test_the_base_is_no_result(scene, say):
    """The base stands beside the results that are compared with it and has no row of its own."""
    assert [row["devices"] for row in rows(scene, say)] == ["2", "4"]


def test_one_device_has_no_serial_fraction(scene, make, say):
    """What is not defined at one device is said to be that, in a series without a base."""
    baseless = make.series("gpt", "infer", "ddp", {1: 100.0, 2: 150.0}, base=False)

    found = rows(scene.with_analysis(series=(*scene.analysis.series, baseless)), say)

    assert [row["serial_share"] for row in found if row["devices"] == "1"] == ["Not defined at one device."]


@pytest.mark.parametrize(("scaling", "field"), [("strong", "karp_flatt"), ("weak", "overhead")])
def test_a_loss_without_an_interval_is_left_out(scene, make, say, scaling, field):
    """A bare serial fraction or overhead could be zero, so it is no number; a bare ratio stands."""
    bare = {"speedup": make.bare(1.5), "karp_flatt": None, field: make.bare(0.1)}
    series = make.series("gpt", "train", "ddp", {1: 100.0, 2: 150.0}, scaling=scaling, **bare)

    (row,) = rows(scene.with_analysis(series=(series,)), say)

    key = {"karp_flatt": "serial_share", "overhead": "overhead_share"}[field]
    assert row[key] == "Left out: without an interval it cannot be told from zero."
    assert row["speedup"] == "1.5"


def test_columns_without_a_value_do_not_stand(scene, weak, say):
    """A ratio that no point has, as the overhead without weak scaling, takes no column."""
    assert not {"overhead_share", "own_speedup"} & rows(scene, say)[0].keys()
    assert "serial_share" not in rows(scene.with_analysis(series=(weak,)), say)[0]


def test_known_truths_stand_under_the_checks(scene, say):
    """The check of the instrument is no series of results."""
    assert {row["series"] for row in rows(scene, say)} == {"gpt tiny, training"}


def test_left_out_without_a_second_device(scene, make, say):
    """Series of which nothing on several devices was measured make no section."""
    unmeasured = make.series("gpt", "train", "ddp", {1: 100.0, 2: None})

    left_out = section(scene.with_analysis(series=(unmeasured,)).material())

    assert say(left_out).startswith("There is no section on more devices")
