"""How steady: the step times as they came, and what was found about them."""

from study.article.material import Material
from study.domain.article import Paragraph, SectionOfArticle
from study.domain.text import Text, said

UNTESTED = said("Whether step times had become steady was not tested.")

KEPT = Paragraph(
    sentences=(said("No step was removed: a stall inside the window counts, and so does a slow start."),)
)


def section(material: Material) -> SectionOfArticle | Text:
    """Left out when no trial has step times."""
    figures = material.figure_blocks("steady")
    if not figures:
        return said("There is no section on steadiness: no trial was measured.")
    untested = material.findings_as_prose("steady") or (Paragraph(sentences=(UNTESTED,)),)
    return SectionOfArticle(key="steady", title=said("How steady"), blocks=(*untested, KEPT, *figures))
