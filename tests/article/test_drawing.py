"""The shelf of figures: everything on it keeps its contract."""

import ast
import importlib
import sys
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

import study.article
from study.article.drawing import SECTIONS, draw_all
from study.domain.errors import BadShelfFile
from study.domain.figure import Bar, Figure, Line, Points, Rule, Whisker
from study.domain.shelf import PageFacts, facts, module_names
from study.domain.text import Text

NAMES = sorted(module_names("figures"))


@pytest.fixture(params=NAMES)
def shelf_file(request):
    """Each module on the shelf."""
    return request.param, importlib.import_module(module_names("figures")[request.param])


def test_the_shelf_has_the_five():
    """The figures that findings link to are there under their names."""
    assert {"speedup", "efficiency", "throughput", "steps", "latency"} <= set(NAMES)


def test_facts_name_a_section(shelf_file):
    """FACTS are literal and name a section in which figures stand."""
    name, _ = shelf_file

    assert facts("figures", name, PageFacts).section in SECTIONS


def test_draws_under_its_own_key(shelf_file, scene):
    """The figure's key is its file's name, and its table's key begins with t-."""
    name, module = shelf_file

    figure = module.draw(scene.run, scene.records, scene.analysis)

    assert figure.key == f"fig-{name}"
    assert figure.table.key.startswith("t-")
    assert figure.table.rows


def test_none_without_data(shelf_file, empty_scene):
    """Without data nothing is drawn, and a sentence is there to say so."""
    _, module = shelf_file

    assert module.draw(empty_scene.run, empty_scene.records, empty_scene.analysis) is None
    assert isinstance(module.MISSING, Text)


def test_alt_is_short_and_has_numbers(shelf_file, scene, say):
    """The alternative text names the kind of chart and a number or two within 250 characters."""
    _, module = shelf_file

    alt = say(module.draw(scene.run, scene.records, scene.analysis).alt)

    assert len(alt) <= 250
    assert any(kind in alt.split(".")[0].lower() for kind in ("chart", "plot"))
    assert any(letter.isdigit() for letter in alt)


def test_alt_stays_short_with_long_names(shelf_file, scene, say):
    """Long labels do not make the alternative text longer than 250 characters."""
    _, module = shelf_file
    long = "x" * 200
    cells = tuple(msgspec.structs.replace(cell, label=long) for cell in scene.analysis.cells)
    series = tuple(msgspec.structs.replace(one, label=long) for one in scene.analysis.series)
    crowded = scene.with_analysis(cells=cells, series=series * 4)

    figure = module.draw(crowded.run, crowded.records, crowded.analysis)

    assert len(say(figure.alt)) <= 250


def test_categories_are_not_joined(shelf_file, scene):
    """No line runs over an axis of categories, and every position has a category."""
    _, module = shelf_file

    for panel in module.draw(scene.run, scene.records, scene.analysis).panels:
        names = panel.x.categories or panel.y.categories
        if names:
            assert not any(isinstance(mark, Line) for mark in panel.marks)
            at = {mark.at for mark in panel.marks if isinstance(mark, Whisker | Bar)}
            assert all(-0.5 < position < len(names) - 0.5 for position in at)


def test_a_panel_has_one_unit(shelf_file, scene):
    """A panel that shows rates shows those of one unit of work."""
    _, module = shelf_file
    unit = {cell.rate.value: cell.unit for cell in scene.analysis.cells if cell.rate}

    for panel in module.draw(scene.run, scene.records, scene.analysis).panels:
        if panel.x.style == "rate":
            bars = [mark for mark in panel.marks if isinstance(mark, Bar)]
            assert {unit[bar.value] for bar in bars} == {panel.x.unit}


def test_few_series_a_panel(shelf_file, scene):
    """No panel asks the eye to follow more than six lines."""
    _, module = shelf_file

    for panel in module.draw(scene.run, scene.records, scene.analysis).panels:
        assert sum(isinstance(mark, Line) and not mark.dashed for mark in panel.marks) <= 6


def test_marks_are_well_formed(shelf_file, scene):
    """Marks have as many positions as values, and none is empty."""
    _, module = shelf_file

    for panel in module.draw(scene.run, scene.records, scene.analysis).panels:
        for mark in panel.marks:
            if isinstance(mark, Line | Points):
                assert len(mark.x) == len(mark.y) > 0
            assert not isinstance(mark, Rule) or mark.label is not None


def test_title_is_the_finding(shelf_file, scene, make, say):
    """A figure's title is the short form of the most important finding that names it."""
    name, module = shelf_file
    findings = (
        make.finding("minor", figure=f"fig-{name}", weight=0.1),
        make.finding("major", figure=f"fig-{name}", weight=0.9),
        make.finding("other", weight=5.0),
    )

    figure = module.draw(scene.run, scene.records, scene.with_analysis(findings=findings).analysis)

    assert say(figure.title) == "major in short"


def test_title_without_a_finding_is_neutral(shelf_file, scene, say):
    """Without a finding the title says what is shown and claims nothing."""
    _, module = shelf_file

    title = say(module.draw(scene.run, scene.records, scene.with_analysis(findings=()).analysis).title)

    assert title
    assert not any(letter in title for letter in "{}")


def test_a_file_that_breaks_the_contract_is_named(monkeypatch, scene):
    """A shelf file without `draw` stops the article and is named."""
    module = module_names("figures")["latency"]
    monkeypatch.setitem(sys.modules, module, ModuleType(module))

    with pytest.raises(BadShelfFile, match="latency: it has no function `draw`"):
        draw_all(scene.run, scene.records, scene.analysis)


def test_order_follows_rank(scene):
    """Within a section figures stand in order of rank."""
    figures, _ = draw_all(scene.run, scene.records, scene.analysis)

    assert {section: [f.key for f in found] for section, found in figures.items()} == {
        "one": ["fig-throughput", "fig-latency"],
        "more": ["fig-speedup", "fig-efficiency"],
        "steady": ["fig-steps"],
        "checks": ["fig-drift"],
    }
    assert all(isinstance(f, Figure) for found in figures.values() for f in found)


def test_frames_are_literals():
    """Every frame in the room is a literal, so that a catalog can be gathered from the source."""
    folder = Path(study.article.__file__).parent
    calls = [
        (path.name, node)
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"said", "counted"}
    ]

    assert len(calls) > 100
    for file, call in calls:
        frames = call.args[: 2 if call.func.id == "counted" else 1]
        assert all(isinstance(frame, ast.Constant) for frame in frames), f"{file}:{call.lineno}"
