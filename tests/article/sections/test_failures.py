"""The section on what failed."""

import msgspec
import pytest

from study.article.sections.failures import section


def test_failed_trials_are_listed_with_their_reason(scene, say):
    """A failed trial stands with its cell, its block, its outcome and its reason."""
    found = section(scene.material())

    (row,) = found.blocks[1].table.rows
    assert found.blocks[1].table.key == "t-failures"
    assert [say(entry) for entry in row] == [
        "1-resnet-tiny.train.ddp.x2.b16",
        "resnet tiny, train, ddp, 2 devices, batch 16",
        "1",
        "failed",
        "rank 1 raised",
    ]


def test_no_section_when_nothing_failed(scene):
    """Without a failure there is no section, and nothing to name."""
    measured = tuple(t for t in scene.analysis.trials if t.outcome == "measured")

    assert section(scene.with_analysis(trials=measured).material()) is None


def test_an_earlier_attempt_is_shown_with_its_reason(scene, say):
    """Also where nothing else failed: an attempt that another followed is listed."""
    first = msgspec.structs.replace(scene.analysis.trials[-1], fault="the port was taken")
    measured = tuple(t for t in scene.analysis.trials if t.outcome == "measured")

    words, table = section(scene.with_analysis(trials=measured, earlier=(first,)).material()).blocks

    (row,) = table.table.rows
    assert say(words.sentences[0]) == "1 attempt was followed by another of the same trial, which counts."
    assert [say(entry) for entry in row][1:2] + [say(entry) for entry in row][3:] == [
        "1",
        "failed",
        "the port was taken",
    ]


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        ("out_of_memory", "out of memory"),
        ("timed_out", "timed out"),
        ("excluded", "excluded"),
        ("interrupted", "interrupted"),
        ("skipped", "skipped"),
    ],
)
def test_every_outcome_has_a_word(scene, say, outcome, word):
    """Whatever kept a trial from giving a rate is named."""
    lost = msgspec.structs.replace(scene.analysis.trials[-1], outcome=outcome)

    (row,) = section(scene.with_analysis(trials=(lost,)).material()).blocks[1].table.rows

    assert say(row[3]) == word


def test_what_failed_is_summed_up_once(scene, make):
    """Where the desk sums the failures up, the section does not do so again."""
    summary = make.finding("failures", section="limits", table="t-failures")

    found = section(scene.with_analysis(findings=(summary,)).material())

    assert [block.finding for block in found.blocks[:-1]] == ["failures"]
