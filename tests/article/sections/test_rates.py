"""The section with all rates."""

import msgspec

from study.article.sections.rates import section
from study.domain.article import TableBlock
from study.domain.figure import Missing
from study.domain.text import Est


def table(scene):
    """The table of rates."""
    return next(b.table for b in section(scene.material()).blocks if isinstance(b, TableBlock))


def test_every_result_has_a_row(scene):
    """Cells on one device and on more, measured or not, all stand in the table; checks do not."""
    found = table(scene)

    assert found.key == "t-throughput"
    assert len(found.rows) == sum(cell.cell.task != "check" for cell in scene.analysis.cells)


def test_checks_alone_are_shown_without_a_number_format(make, say):
    """A study of nothing but checks has a table too, and a check that computes nothing has no precision."""
    cells = [make.cell_summary(make.cell("sleep", "check", "single", 1), 100.0)]

    (row,) = table(make.Scene(make.run(cells, []), (), make.analysis_of(cells, []))).rows

    assert say(row[3].reason) == "A check of the instrument computes with no numbers."


def test_nothing_measured_makes_no_section(empty_scene):
    """The section on one device says that nothing was measured; this one is silent."""
    assert section(empty_scene.material()) is None


def test_a_rate_carries_its_interval_and_unit(scene, say):
    """A rate is an estimate in its cell's unit of work, with trials measured and planned beside it."""
    row = next(r for r in table(scene).rows if say(r[0]) == "gpt tiny" and say(r[4]) == "2")

    assert isinstance(row[6], Est)
    assert (row[6].estimate.value, row[6].unit, row[6].show) == (1800.0, "tokens", "value_interval")
    assert [say(entry) for entry in row[-2:]] == ["3", "3"]
    assert say(row[7]) == "tokens/s"


def test_a_cell_without_a_rate_has_a_reason(scene, say):
    """A cell that was not measured is a dash with the reason."""
    row = next(r for r in table(scene).rows if say(r[0]) == "resnet tiny" and say(r[4]) == "2")

    assert isinstance(row[6], Missing)
    assert say(row[6].reason) == "No trial of this cell was measured."


def test_mixed_units_stay_with_their_values(scene, make):
    """The column has a unit only if all its cells share it."""
    cells = [make.cell_summary(make.cell("gpt", "train", "single", 1), 1000.0)]
    alike = make.Scene(make.run(cells, []), (), make.analysis_of(cells, []))

    assert table(alike).columns[6].unit == "tokens"
    assert table(scene).columns[6].unit == ""


def test_both_means_are_shown_where_they_differ(scene):
    """The geometric mean gets a column of its own as soon as one cell's means are apart."""
    assert "geometric_mean_per_s" not in [column.key for column in table(scene).columns]

    apart = tuple(
        msgspec.structs.replace(cell, means_differ=True, geometric_mean=1234.0)
        for cell in scene.analysis.cells
    )
    analysis = msgspec.structs.replace(scene.analysis, cells=apart)
    found = table(scene.but(analysis=analysis))
    place = [column.key for column in found.columns].index("geometric_mean_per_s")

    held = [row[place] for row in found.rows if not isinstance(row[place], Missing)]
    assert {mean.value for mean in held} == {1234.0}
    assert [mean.like for mean in held] == [row[6] for row in found.rows if isinstance(row[6], Est)]
