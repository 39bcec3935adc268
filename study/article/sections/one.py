"""One device: the absolute rates, without which no ratio means anything."""

from study.article.material import Material
from study.domain.article import SectionOfArticle
from study.domain.text import Text, said


def section(material: Material) -> SectionOfArticle | Text:
    """Findings on one device and their figures; left out if nothing was measured."""
    if not any(cell.measured for cell in material.analysis.cells):
        return said("There is no section on one device: no cell was measured.")
    return SectionOfArticle(
        key="one",
        title=said("One device"),
        blocks=(*material.findings_as_prose("one"), *material.figure_blocks("one")),
    )
