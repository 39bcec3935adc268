"""A strategy in words: only what a reader has to know."""

import pytest
from fakes.records import cell

from study.domain.strategy_words import strategy_words


def pipeline(**options):
    """A pipeline of two stages with its default options, some changed."""
    asked = {"schedule": "gpipe", "micro_batches": 4} | options
    return cell(strategy="pipeline", devices=2, strategy_options=asked)


def test_options_at_their_defaults_are_not_told():
    """A pipeline as it is by default is "pipeline"."""
    assert strategy_words(pipeline(), [pipeline()]) == "pipeline"


def test_options_off_their_defaults_are_told_even_alone():
    """The schedule first, then the numbers with their nouns, in the singular for one."""
    other, one = pipeline(schedule="1f1b", micro_batches=8), pipeline(micro_batches=1)

    assert strategy_words(other, [other]) == "pipeline (1f1b, 8 micro-batches)"
    assert strategy_words(one, [one]) == "pipeline (1 micro-batch)"


def test_a_default_is_told_where_a_like_cell_differs():
    """Beside 1F1B, GPipe is named; a pipeline of another task changes nothing."""
    answering = cell(strategy="pipeline", devices=2, task="infer", strategy_options={"schedule": "gpipe"})
    cells = [pipeline(), pipeline(schedule="1f1b"), answering]

    assert [strategy_words(each, cells) for each in cells] == [
        "pipeline (gpipe)",
        "pipeline (1f1b)",
        "pipeline",
    ]


@pytest.mark.parametrize(
    ("strategy", "options", "words"),
    [
        ("tensor", {"sequence_parallel": True}, "tensor (sequence parallel)"),
        ("fsdp", {"reshard": False, "replicas": 2}, "fsdp (2 replicas, no reshard)"),
        ("fsdp-tensor", {"tensor": 4}, "fsdp-tensor (tensor 4)"),
        ("no-longer-there", {"depth": 3}, "no-longer-there"),
    ],
)
def test_switches_and_numbers(strategy, options, words):
    """A switch by its name, a degree behind its axis; off the shelf there are no defaults."""
    it = cell(strategy=strategy, devices=8, strategy_options=options)

    assert strategy_words(it, [it]) == words
