"""Labels of cells and series are short, and never the same for two things."""

import msgspec
from fakes.records import fake_run, quick_truths

from study.analysis.labels import cell_labels, held_batch, series_labels, subject
from study.domain.trial import Series


def changed(truth, **changes):
    """The truth with its cell changed."""
    return msgspec.structs.replace(truth, cell=msgspec.structs.replace(truth.cell, **changes))


def test_the_subject_is_workload_and_size():
    """A finding speaks of "gpt tiny"."""
    assert subject(quick_truths()[0].cell) == "gpt tiny"


def test_the_held_batch_is_the_global_one_or_that_of_a_device():
    """Thirty-two over two devices: sixteen each under weak scaling."""
    two = msgspec.structs.replace(quick_truths()[4].cell, batch=32, devices=2)

    assert (held_batch("strong", two), held_batch("weak", two)) == (32, 16)


def test_precision_is_told_where_it_varies():
    """Two precisions of one cell are told apart; a lone precision is not mentioned."""
    single, *_ = quick_truths()

    alone = cell_labels(fake_run(truths=[single])[0].plan)
    both = cell_labels(fake_run(truths=[single, changed(single, precision="bf16")])[0].plan)

    assert list(alone.values()) == ["gpt tiny, training, single, ×1, batch 8"]
    assert [label.split(", ")[-1] for label in both.values()] == ["fp32", "bf16"]


def test_options_are_told_where_they_vary():
    """A changed option is a changed cell, and its label says which."""
    single, *_ = quick_truths()

    labels = cell_labels(fake_run(truths=[single, changed(single, options={"sequence": 128})])[0].plan)

    assert [label.split(", ")[-1] for label in labels.values()] == ["sequence 64", "sequence 128"]


def test_series_of_two_batches_are_told_apart():
    """Two strong series with other batches have the batch in their labels."""
    single, _, two, *_ = quick_truths()
    more = [changed(single, batch=16), changed(two, batch=16)]

    labels = series_labels(fake_run(truths=[single, two, *more])[0].plan)

    assert sorted(labels.values()) == [
        "gpt tiny, training, strong scaling, ddp, batch 16",
        "gpt tiny, training, strong scaling, ddp, batch 8",
    ]


def test_options_of_a_strategy_are_told_with_it():
    """Two pipelines that differ in an option have different labels, and the option says how."""
    single, _, two, *_ = quick_truths()
    ways = [changed(two, strategy="pipeline", strategy_options={"schedule": s}) for s in ("gpipe", "1f1b")]
    made = fake_run(truths=[single, *ways])[0].plan
    series = [
        Series(key=c.id, scaling="strong", strategy="pipeline", members=(c.id,), base=None, own_base=None)
        for c in made.cells[1:]
    ]
    plan = msgspec.structs.replace(made, series=tuple(series))

    assert list(cell_labels(plan).values())[1:] == [
        "gpt tiny, training, pipeline (gpipe), ×2, batch 8",
        "gpt tiny, training, pipeline (1f1b), ×2, batch 8",
    ]
    assert list(series_labels(plan).values()) == [
        "gpt tiny, training, strong scaling, pipeline (gpipe), batch 8",
        "gpt tiny, training, strong scaling, pipeline (1f1b), batch 8",
    ]
