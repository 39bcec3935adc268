"""Disclosure and citation."""

import msgspec

from study.article.sections.disclosure import section
from study.article.words import results_digest
from study.domain.article import AuthorText


def test_the_author_s_words_are_marked_as_such(scene):
    """What the study file discloses is an author's text, for the press to sanitise."""
    assert section(scene.material(), "2026-11-29").blocks[0] == AuthorText(
        markdown="The machine was **lent**."
    )


def test_silence_is_said(scene, words_in):
    """A study file that discloses nothing is said to."""
    study = msgspec.structs.replace(scene.run.study, disclosure=" ")

    words = words_in(section(scene.with_run(study=study).material(), "2026-11-29"))

    assert "The study file gives no disclosure" in words


def test_citation(scene, words_in):
    """The citation names authors, title, date, run, results and version; without authors it still cites."""
    study = msgspec.structs.replace(scene.run.study, authors=[])

    cited = words_in(section(scene.material(), "2026-11-29"))
    nameless = words_in(section(scene.with_run(study=study).material(), "2026-11-29"))

    results = results_digest(scene.records)[:12]
    whole = (
        "What extra processes buy, 2026-11-29, run 20261128T100000Z-Example-CPU,"
        f" results {results}, measured by study 0.1.0."
    )
    assert f"Cite as: A. Author: {whole}" in cited
    assert f"Cite as: {whole}" in nameless
