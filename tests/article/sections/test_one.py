"""The section on one device."""

import msgspec

from study.article.sections.one import section
from study.domain.article import TableBlock
from study.domain.figure import Missing
from study.domain.text import Est


def table(scene):
    """The table of rates."""
    return next(b.table for b in section(scene.material()).blocks if isinstance(b, TableBlock))


def test_every_cell_has_a_row(scene):
    """Cells on one device and on more, measured or not, all stand in the table."""
    found = table(scene)

    assert found.key == "t-throughput"
    assert len(found.rows) == len(scene.analysis.cells)


def test_a_rate_carries_its_interval_and_unit(scene, say):
    """A rate is an estimate in its cell's unit of work, with trials measured and planned beside it."""
    row = next(r for r in table(scene).rows if say(r[0]) == "gpt tiny" and say(r[4]) == "2")

    assert isinstance(row[6], Est)
    assert (row[6].estimate.value, row[6].unit, row[6].show) == (1800.0, "tokens", "value_interval")
    assert [say(entry) for entry in row[-2:]] == ["3", "3"]


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

    assert {row[place].value for row in found.rows} == {1234.0}
