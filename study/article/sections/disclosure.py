"""Disclosure and citation: which sentences a machine wrote, who has an interest, how to cite."""

from study import __version__
from study.article.material import Material
from study.article.words import results_digest
from study.domain.article import AuthorText, Block, Paragraph, SectionOfArticle
from study.domain.text import Day, Listing, Name, Slot, Text, said

DIGEST_SHOWN = 12
"""Hexadecimal digits of the results' digest in a citation; the section on data has all of them."""


def section(material: Material, published: str) -> SectionOfArticle:
    """Never left out: where the study file discloses nothing, that is said."""
    run = material.run
    return SectionOfArticle(
        key="disclosure",
        title=said("Disclosure and citation"),
        blocks=(
            _disclosed(run.study.disclosure),
            Paragraph(
                sentences=(
                    said(
                        "Title, question, disclosure and the reasons for cells left out on purpose are a"
                        " person's words in the study file; all other sentences are generated from the"
                        " records by study {version}.",
                        version=Name(text=__version__),
                    ),
                    said(
                        "Where a claim carries a mark of evidence, the mark links to the table on which it"
                        " rests."
                    ),
                    _citation(material, published),
                )
            ),
        ),
    )


def _disclosed(disclosure: str) -> Block:
    if disclosure.strip():
        return AuthorText(markdown=disclosure)
    return Paragraph(
        sentences=(
            said(
                "The study file gives no disclosure: who owns or lent the machine, and who paid for the"
                " work, is not stated."
            ),
        )
    )


def _citation(material: Material, published: str) -> Text:
    run = material.run
    shared: dict[str, Slot] = {
        "title": Name(text=run.study.title),
        "run": Name(text=run.id, code=True),
        "digest": Name(text=results_digest(material.records)[:DIGEST_SHOWN], code=True),
        "version": Name(text=run.software.study),
        "day": Day(iso=published),
    }
    if not run.study.authors:
        return said(
            "Cite as: {title}, {day}, run {run}, results {digest}, measured by study {version}.", **shared
        )
    return said(
        "Cite as: {authors}: {title}, {day}, run {run}, results {digest}, measured by study {version}.",
        authors=Listing(items=tuple(Name(text=author) for author in run.study.authors)),
        **shared,
    )
