"""The section on one device."""

from study.article.sections.one import section
from study.domain.article import FigureBlock, Paragraph


def test_findings_and_figures_on_one_device(scene):
    """What was found on one device, then its figures; the table of all rates stands elsewhere."""
    article = scene.article()

    one = next(part for part in article.sections if part.key == "one")
    assert [type(block) for block in one.blocks] == [Paragraph, FigureBlock, FigureBlock]


def test_left_out_when_nothing_was_measured(empty_scene, say):
    """Without a measurement the section is a sentence."""
    assert say(section(empty_scene.material())) == (
        "There is no section on one device: no cell was measured."
    )
