"""The shortest labels that tell cells or series apart."""

import msgspec

from study.article.labels import cell_labels, held_batch, series_entries, series_labels


def test_strategy_names_series_of_one_model(make, say):
    """Within one model the strategy alone tells series apart."""
    panel = [make.series("gpt", "train", s, {1: 1.0, 2: 2.0}) for s in ("ddp", "fsdp")]

    assert [say(label) for label in series_labels(panel, make.analysis())] == ["ddp", "fsdp"]


def test_model_names_series_of_several(make, say):
    """Beside another model a series carries its model's name."""
    panel = [make.series(w, "train", "ddp", {1: 1.0, 2: 2.0}) for w in ("gpt", "resnet")]

    labels = [say(label) for label in series_labels(panel, make.analysis())]

    assert labels == ["gpt tiny, training", "resnet tiny, training"]


def test_model_and_strategy_together(make, say):
    """Several models under several strategies carry both names."""
    panel = [make.series(w, "train", s, {1: 1.0, 2: 2.0}) for w in ("gpt", "resnet") for s in ("ddp", "fsdp")]

    labels = [say(label) for label in series_labels(panel, make.analysis())]

    assert labels[0] == "gpt tiny, training, ddp"
    assert len(set(labels)) == 4


def test_batch_when_nothing_else_differs(make, say):
    """Series that differ in the batch only carry the batch."""
    panel = [make.series("gpt", "train", "ddp", {1: 1.0, 2: 2.0}, batch=b) for b in (8, 16)]
    cells = [make.cell_summary(make.cell("gpt", "train", "ddp", 2, b), 1.0) for b in (8, 16)]

    labels = [say(label) for label in series_labels(panel, make.analysis(cells=tuple(cells)))]

    assert labels == ["gpt tiny, training, ddp, batch 8", "gpt tiny, training, ddp, batch 16"]


def test_cells_of_one_model_need_no_model(make, say):
    """Cells of one model are told by what differs, shortest first."""
    cells = [make.cell_summary(make.cell("gpt", "infer", "single", 1, b), 1.0) for b in (1, 8)]

    labels = [say(label) for label in cell_labels(cells)]

    assert labels == ["batch 1", "batch 8"]


def test_cells_of_several_tasks(make, say):
    """Cells of one model under several tasks carry the task, and no more than they need."""
    cells = [make.cell_summary(make.cell("gpt", task, "single", 1), 1.0) for task in ("train", "infer")]

    assert [say(label) for label in cell_labels(cells)] == ["training", "inference"]


def test_cells_that_differ_in_devices(make, say):
    """Cells that differ in the number of devices carry it."""
    cells = [make.cell_summary(make.cell("gpt", "train", "ddp", n), 1.0) for n in (2, 4)]

    assert [say(label) for label in cell_labels(cells)] == ["ddp × 2", "ddp × 4"]


def test_cells_of_several_models(make, say):
    """Cells of several models carry model and task, and the strategy only where it tells them apart."""
    single = [make.cell_summary(make.cell(w, "train", "single", 1), 1.0) for w in ("gpt", "resnet")]
    wrapped = make.cell_summary(make.cell("gpt", "train", "ddp", 1), 1.0)

    assert [say(label) for label in cell_labels(single)] == ["gpt tiny, training", "resnet tiny, training"]
    assert [say(label) for label in cell_labels([*single, wrapped])] == [
        "gpt tiny, training, single",
        "resnet tiny, training, single",
        "gpt tiny, training, ddp",
    ]


def test_what_differs_is_shown_even_if_less_would_do(make, say):
    """Cells that differ in strategy, devices and batch at once show all three."""
    cells = [
        make.cell_summary(make.cell("gpt", "infer", "single", 1, 4), 1.0),
        make.cell_summary(make.cell("gpt", "infer", "ddp", 2, 8), 1.0),
    ]

    assert [say(label) for label in cell_labels(cells)] == ["single × 1, batch 4", "ddp × 2, batch 8"]


def test_models_may_have_batches_of_their_own(make, say):
    """A batch that differs between models only is no part of their labels."""
    cells = [
        make.cell_summary(make.cell(w, "train", "single", 1, b), 1.0) for w, b in (("gpt", 8), ("resnet", 16))
    ]

    assert [say(label) for label in cell_labels(cells)] == ["gpt tiny, training", "resnet tiny, training"]


def test_one_cell_is_named_by_its_strategy(make, say):
    """A cell alone carries its strategy."""
    (label,) = cell_labels([make.cell_summary(make.cell("gpt", "train", "ddp", 2), 1.0)])

    assert say(label) == "ddp"


def test_labels_are_never_equal(make, say):
    """Cells that differ in what no label shows fall back to their own label or id."""
    cell = make.cell_summary(make.cell("gpt", "infer", "single", 1), 1.0)
    twin = make.cell_summary(make.cell("gpt", "infer", "single", 1), 1.0, cell_id="twin")

    labels = [say(label) for label in cell_labels([cell, twin])]

    assert labels == [cell.cell_id, "twin"]


def test_strong_scaling_holds_the_global_batch(make):
    """The batch that a series holds is the global one, or under weak scaling that of each device."""
    strong = make.series("gpt", "train", "ddp", {1: 1.0, 2: 2.0}, batch=16)
    weak = make.series("gpt", "train", "ddp", {1: 1.0, 2: 2.0}, batch=16, scaling="weak")
    desk = make.analysis(cells=(make.cell_summary(make.cell("gpt", "train", "ddp", 2, 16), 1.0),))

    assert (held_batch(strong, desk), held_batch(weak, desk)) == (16, 8)


def test_a_series_in_a_table(make, say):
    """A table names a series by model and task, strategy, scaling and the batch held."""
    series = make.series("gpt", "train", "ddp", {1: 1.0, 2: 2.0})
    cells = (make.cell_summary(make.cell("gpt", "train", "ddp", 2), 1.0),)

    entries = series_entries(series, make.analysis(cells=cells, series=(series,)))

    assert [say(entry) for entry in entries] == ["gpt tiny, training", "ddp", "strong scaling", "8"]


def test_twins_in_a_table_carry_their_own_labels(make, say):
    """Series that differ in what no column shows are named by their own labels."""
    one = make.series("gpt", "train", "ddp", {1: 1.0, 2: 2.0})
    other = msgspec.structs.replace(one, label="gpt tiny, training, bf16")

    entries = series_entries(other, make.analysis(series=(one, other)))

    assert say(entries[0]) == "gpt tiny, training, bf16"


def ways(make):
    """Two pipelines that differ in their schedule."""
    cells = [make.cell("gpt", "train", "pipeline", 2) for _ in range(2)]
    return [
        msgspec.structs.replace(cell, strategy_options={"schedule": schedule})
        for cell, schedule in zip(cells, ("gpipe", "1f1b"), strict=True)
    ]


def test_cells_that_differ_in_an_option_of_the_strategy(make, say):
    """The option tells them apart."""
    cells = [make.cell_summary(cell, 1.0) for cell in ways(make)]

    assert [say(label) for label in cell_labels(cells)] == ["pipeline (gpipe)", "pipeline (1f1b)"]


def test_series_that_differ_in_an_option_of_the_strategy(make, say):
    """Panels and tables name the option."""
    cells = [make.cell_summary(cell, 1.0, cell_id=f"p{place}") for place, cell in enumerate(ways(make))]
    made = make.series("gpt", "train", "pipeline", {1: 1.0, 2: 2.0})
    panel = [
        msgspec.structs.replace(
            made, series=msgspec.structs.replace(made.series, members=(made.series.base, cell.cell_id))
        )
        for cell in cells
    ]
    desk = make.analysis(cells=tuple(cells), series=tuple(panel))

    assert [say(label) for label in series_labels(panel, desk)] == ["pipeline (gpipe)", "pipeline (1f1b)"]
    assert [say(series_entries(one, desk)[1]) for one in panel] == ["pipeline (gpipe)", "pipeline (1f1b)"]
