"""Figures and tables are numbered as they come; links use their keys, so that an insertion breaks none."""

from typing import NamedTuple

from study.domain.article import Article, FigureBlock, TableBlock
from study.domain.errors import OurFault
from study.domain.figure import Figure, Table
from study.press.paths import checked_key


class Numbering(NamedTuple):
    """The number of every figure and table by key, in order of appearance."""

    figures: dict[str, int]
    tables: dict[str, int]


def figures_of(article: Article) -> tuple[Figure, ...]:
    """The figures in order of appearance."""
    blocks = [block for section in article.sections for block in section.blocks]
    return tuple(block.figure for block in blocks if isinstance(block, FigureBlock))


def tables_of(article: Article) -> tuple[Table, ...]:
    """The tables in order of appearance, those beneath figures included, and not that of all trials."""
    blocks = [block for section in article.sections for block in section.blocks]
    return tuple(
        block.table if isinstance(block, TableBlock) else block.figure.table
        for block in blocks
        if isinstance(block, TableBlock | FigureBlock)
    )


def numbering(article: Article) -> Numbering:
    """Number an article's figures and tables.

    Raises:
        OurFault: two things on the page share a key, or a key cannot be an anchor and a file's name.
    """
    figures = [figure.key for figure in figures_of(article)]
    tables = [table.key for table in tables_of(article)]
    anchors = [*figures, *tables, *(section.key for section in article.sections)]
    anchors += [f"finding-{finding.key}" for finding in article.findings]
    for key in [*anchors, article.all_trials.key]:
        checked_key(key)
    double = sorted({key for key in anchors if anchors.count(key) > 1})
    if double:
        raise OurFault(f"{article.path}: two things share an anchor: {', '.join(double)}")
    return Numbering(
        {key: i for i, key in enumerate(figures, 1)}, {key: i for i, key in enumerate(tables, 1)}
    )
