"""The product of factors, the reasons of what cannot run, and ids that never collide."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.domain.errors import BadStudyFile
from study.domain.study import Exclude, Matrix, Study
from study.domain.trial import Cell
from study.planning.cells import Shelves, candidates, cell_id, device_levels


def matrix(**changes: object) -> Matrix:
    """A small training matrix with some keys changed."""
    base = {"workload": "gpt", "task": "train", "size": "tiny", "strategy": "ddp", "devices": [1, 2]}
    return msgspec.convert({**base, **changes}, Matrix)


def study(*matrices: Matrix, **changes: object) -> Study:
    """A study of these matrices."""
    return Study(name="s", title="S", matrix=list(matrices), **changes)


def found(shelves: Shelves, *matrices: Matrix, devices: int = 2, accelerator: str = "cpu", **changes: object):
    """The candidates of a study of these matrices."""
    return candidates(study(*matrices, **changes), shelves, accelerator, devices, "s.toml")


def test_the_product_has_one_cell_for_each_combination_of_levels(shelves: Shelves) -> None:
    """Two sizes, two precisions, two counts and two sequence lengths are sixteen cells."""
    cells = found(
        shelves,
        matrix(size=["tiny", "small"], precision=["fp32", "bf16"], options={"sequence": [32, 64]}),
    )

    assert len({c.id for c in cells}) == 16


def test_strong_scaling_holds_the_global_batch_and_weak_the_batch_per_device(shelves: Shelves) -> None:
    """At two devices a batch of eight stays eight, or becomes sixteen."""
    strong = found(shelves, matrix(batch=8, scaling="strong"))
    weak = found(shelves, matrix(batch=8, scaling="weak"))

    assert [c.cell.batch for c in strong] == [8, 8]
    assert [c.cell.batch for c in weak] == [8, 16]


def test_options_that_are_not_named_take_the_workloads_defaults(shelves: Shelves) -> None:
    """A cell holds every option, so that a changed default is a changed cell."""
    cell = found(shelves, matrix(options={"sequence": 32}))[0].cell

    assert cell.options == {"sequence": 32, "rate": 0.5}


def test_a_whole_number_for_a_real_option_is_the_same_cell(shelves: Shelves) -> None:
    """`rate = 1` and `rate = 1.0` are one cell."""
    whole = found(shelves, matrix(options={"rate": 1}))[0]
    real = found(shelves, matrix(options={"rate": 1.0}))[0]

    assert whole.id == real.id


@pytest.mark.parametrize(
    ("changes", "devices", "accelerator", "reason"),
    [
        ({"strategy": "single"}, 2, "cpu", "The strategy single uses one device."),
        ({"strategy": "pairs"}, 2, "cpu", "The strategy pairs needs at least 2 devices."),
        ({"strategy": "pairs", "devices": 3}, 4, "cpu", "The strategy pairs uses at most 2 devices."),
        ({"strategy": "pairs", "task": "infer"}, 2, "cpu", "The strategy pairs does not do the task infer."),
        (
            {"workload": "seamless", "size": "one"},
            2,
            "cpu",
            "The workload seamless has no seam for the strategy ddp.",
        ),
        ({"batch": 7}, 2, "cpu", "The global batch of 7 cannot be shared equally by 2 devices."),
        ({"devices": 4}, 2, "cuda", "It needs 4 devices; this machine has 2."),
        ({"precision": "fp16"}, 2, "cpu", "The accelerator cpu has no precision fp16."),
        ({"precision": "bf16"}, 2, "cuda", "The accelerator cuda has no precision bf16."),
        ({"options": {"rate": 2.5}}, 2, "cpu", "The option rate is 2.5; it may lie between 0 and 1."),
        (
            {"options": {"sequence": 4096}},
            2,
            "cpu",
            "sequence come to 4096; context of size tiny is 128.",
        ),
    ],
)
def test_a_cell_that_cannot_run_has_a_sentence_that_says_why(
    shelves: Shelves, changes: dict[str, object], devices: int, accelerator: str, reason: str
) -> None:
    """Known before anything runs."""
    cells = found(shelves, matrix(**changes), devices=devices, accelerator=accelerator)

    assert reason in {c.reason for c in cells}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"strategy": "grid", "devices": 3},
            "The strategy grid cannot be laid out over 3 devices with tensor 2.",
        ),
        (
            {"strategy": "grid", "devices": 2, "strategy_options": {"tensor": 0}},
            "The strategy grid cannot be laid out over 2 devices with tensor 0.",
        ),
        (
            {"strategy": "grid", "devices": 4, "batch": 7},
            "The global batch of 7 cannot be shared equally by 2 groups of devices.",
        ),
        (
            {"strategy": "grid", "devices": 6, "strategy_options": {"tensor": 3}},
            "Size tiny can be split into 4 equal parts or a divisor of that, not 3.",
        ),
        (
            {"strategy": "pipe", "devices": 2, "batch": 6},
            "A batch of 6 cannot be cut into 4 equal micro-batches.",
        ),
        ({"strategy": "pipe", "devices": 8}, "8 stages are more than the 4 blocks of size tiny."),
        (
            {"strategy": "pipe", "devices": 4, "strategy_options": {"schedule": "interleaved"}},
            "8 stages are more than the 4 blocks of size tiny.",
        ),
        (
            {"strategy": "pipe", "devices": 4, "strategy_options": {"micro_batches": 2}},
            "The option micro_batches is 2; with 4 stages it must be 4 at least.",
        ),
        (
            {"strategy": "pipe", "devices": 1, "batch": 128, "strategy_options": {"micro_batches": 128}},
            "The option micro_batches is 128; it may lie between 1 and 64.",
        ),
        (
            {"strategy": "pipe", "task": "infer", "devices": 2},
            "The task infer of gpt needs a cache, which the strategy pipe does not have.",
        ),
    ],
)
def test_a_layout_that_cannot_be_has_a_sentence_that_says_why(
    shelves: Shelves, changes: dict[str, object], reason: str
) -> None:
    """Mesh, blocks, splits and micro-batches are known before anything runs."""
    (cell,) = found(shelves, matrix(**changes), devices=8)

    assert cell.reason == reason


def test_a_strategys_option_varies_only_the_strategies_that_have_it(shelves: Shelves) -> None:
    """Two levels of micro-batches are two cells of the pipeline and one of copies."""
    cells = found(
        shelves,
        matrix(strategy=["ddp", "pipe"], devices=2, strategy_options={"micro_batches": [2, 4]}),
    )

    assert [(c.cell.strategy, c.cell.strategy_options.get("micro_batches")) for c in cells] == [
        ("ddp", None),
        ("pipe", 2),
        ("pipe", 4),
    ]
    assert cells[0].cell.mesh == {"data": 2}
    assert cells[1].cell.mesh == {"stages": 2}


def test_an_option_that_does_not_apply_is_no_part_of_the_cell(shelves: Shelves) -> None:
    """Chunks belong to the interleaved schedule; the other has one cell whatever they are."""
    cells = found(
        shelves,
        matrix(
            strategy="pipe",
            devices=2,
            strategy_options={"schedule": ["gpipe", "interleaved"], "chunks": [2, 3]},
        ),
    )

    assert [c.cell.strategy_options.get("chunks") for c in cells] == [None, 2, 3]


def test_an_id_shows_the_strategys_options_that_are_not_at_their_default(shelves: Shelves) -> None:
    """A word as it is, a number with its letter, a switch by its name."""
    options = {"schedule": "1f1b", "micro_batches": 8}
    (pipe,) = found(shelves, matrix(strategy="pipe", devices=2, strategy_options=options))
    (grid,) = found(shelves, matrix(strategy="grid", devices=4, strategy_options={"sequence_parallel": True}))
    (plain,) = found(shelves, matrix(strategy="pipe", devices=2))

    assert pipe.id.startswith("gpt-tiny.train.pipe-m8-1f1b.x2.fp32.b8-")
    assert grid.id.startswith("gpt-tiny.train.grid-sequenceparallel.x4.")
    assert plain.id.startswith("gpt-tiny.train.pipe.x2.")


def test_an_exclusion_may_name_a_strategys_option(shelves: Shelves) -> None:
    """As `strategy_options.` and its name."""
    rule = Exclude(where={"strategy_options.micro_batches": 4}, because="No.")

    cells = found(
        shelves,
        matrix(strategy="pipe", devices=2, strategy_options={"micro_batches": [2, 4]}),
        exclude=[rule],
    )

    assert [c.reason for c in cells] == ["", "No."]


@pytest.mark.parametrize(
    ("options", "problem", "remedy"),
    [
        (
            {"micro_batchs": 4},
            "no strategy of this matrix (ddp, pipe) has such",
            'Did you mean "micro_batches"?',
        ),
        ({"tensor": 2}, "no strategy of this matrix (ddp, pipe) has such", "chunks, micro_batches, schedule"),
        ({"schedule": "1fb1"}, '"1fb1" is no schedule', 'Did you mean "1f1b"?'),
        ({"micro_batches": "4"}, "expected int, got str", "Write a value like 4."),
        ({"micro_batches": []}, "an empty list has no levels", "Name at least one level."),
    ],
)
def test_a_wrong_strategy_option_is_refused_with_the_nearest_right_one(
    shelves: Shelves, options: dict[str, object], problem: str, remedy: str
) -> None:
    """A misspelt one would measure the default in silence."""
    with pytest.raises(BadStudyFile) as refused:
        found(shelves, matrix(strategy=["ddp", "pipe"], strategy_options=options))

    assert problem in refused.value.problem
    assert remedy in refused.value.remedy


def test_more_cpu_ranks_than_cores_may_run(shelves: Shelves) -> None:
    """On the cpu oversubscription is allowed and flagged by the plan; on GPUs it is impossible."""
    cells = found(shelves, matrix(devices=4), devices=2)

    assert [c.reason for c in cells] == [""]


def test_an_exclusion_gives_its_own_reason(shelves: Shelves) -> None:
    """And touches only the cells whose every level it names."""
    rule = Exclude(where={"devices": 2, "options.sequence": 64}, because="Known to be slow.")

    cells = found(shelves, matrix(options={"sequence": [32, 64]}), exclude=[rule])

    assert [c.cell.options["sequence"] for c in cells if c.reason == "Known to be slow."] == [64]


def test_an_exclusion_means_the_batch_as_the_matrix_writes_it(shelves: Shelves) -> None:
    """Under weak scaling the batch of each device: 16 on two devices, not 8 on two."""
    rule = Exclude(where={"batch": 16, "devices": 2}, because="No.")

    cells = found(shelves, matrix(scaling="weak", batch=[8, 16]), exclude=[rule])

    assert [(c.cell.batch, c.cell.devices) for c in cells if c.reason == "No."] == [(32, 2)]


@pytest.mark.parametrize(
    ("where", "problem", "remedy"),
    [
        ({"options.sequnce": 64}, "exclude[0].where.options.sequnce: no matrix", 'Did you mean "sequence"?'),
        ({"devices": "2"}, "exclude[0].where.devices: '2' is no whole number", "devices = 2"),
        ({"batch": True}, "exclude[0].where.batch: True is no whole number", "batch = 2"),
        ({"devcies": 2}, "exclude[0].where.devcies: there is no such factor", 'Did you mean "devices"?'),
        ({"strategy": "dpd"}, 'exclude[0].where.strategy: no matrix of this study has "dpd"', '"ddp"'),
    ],
)
def test_an_exclusion_that_can_never_apply_is_refused(
    shelves: Shelves, where: dict[str, str | int], problem: str, remedy: str
) -> None:
    """A misspelt exclusion would leave the cell in, in silence."""
    with pytest.raises(BadStudyFile) as refused:
        found(shelves, matrix(), exclude=[Exclude(where=where, because="No.")])

    assert problem in refused.value.problem
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    ("changes", "problem", "remedy"),
    [
        (
            {"workload": "gtp"},
            's.toml: matrix[0].workload: there is no workload "gtp"',
            'Did you mean "gpt"?',
        ),
        ({"task": "check"}, 'matrix[0].task: the workload gpt has no task "check"', "infer, train"),
        ({"size": "tinny"}, 'matrix[0].size: "tinny" is not among the sizes of gpt', 'Did you mean "tiny"?'),
        ({"strategy": "dpp"}, 'matrix[0].strategy: "dpp" is not among the strategies', 'Did you mean "ddp"?'),
        ({"precision": "fp61"}, 'matrix[0].precision: "fp61" is not among the precisions', '"fp16"'),
        ({"options": {"sequnce": 8}}, "matrix[0].options.sequnce: gpt has no such option", '"sequence"'),
        ({"options": {"sequence": "long"}}, "matrix[0].options.sequence: expected int, got str", "64"),
        ({"options": {"sequence": -1}}, "matrix[0].options.sequence: -1 does not lie between", "64"),
        ({"options": {"rate": float("nan")}}, "matrix[0].options.rate: nan does not lie between", "0.5"),
        ({"options": {"rate": float("inf")}}, "matrix[0].options.rate: inf does not lie between", "0.5"),
        (
            {"options": {"sequence": []}},
            "matrix[0].options.sequence: an empty list has no levels",
            "at least",
        ),
        ({"options": {"sequence": [8, 8]}}, "matrix[0].options.sequence: a level stands there twice", "once"),
        ({"variant": "A B"}, "matrix[0].variant: 'A B' is not a label", "a to z"),
        ({"size": []}, "matrix[0].size: an empty list has no levels", "at least one"),
        ({"devices": [2, 2]}, "matrix[0].devices: a level stands there twice", "once"),
    ],
)
def test_a_name_on_no_shelf_is_refused_with_the_nearest_one(
    shelves: Shelves, changes: dict[str, object], problem: str, remedy: str
) -> None:
    """Nothing is guessed."""
    with pytest.raises(BadStudyFile) as refused:
        found(shelves, matrix(**changes))

    assert problem in refused.value.problem
    assert remedy in refused.value.remedy


@pytest.mark.parametrize(
    ("accelerator", "present", "threads", "levels"),
    [
        ("cuda", 1, 1, [1]),
        ("cuda", 2, 1, [1, 2]),
        ("cuda", 3, 1, [1, 2, 3]),
        ("cuda", 4, 1, [1, 2, 4]),
        ("cuda", 8, 1, [1, 2, 4, 8]),
        ("cpu", 1, 1, [1]),
        ("cpu", 2, 1, [1, 2]),
        ("cpu", 64, 1, [1, 2, 4]),
        ("cpu", 8, 4, [1, 2]),
        ("cpu", 2, 4, [1]),
    ],
)
def test_auto_means_the_powers_of_two_that_are_there_and_all_there_are(
    accelerator: str, present: int, threads: int, levels: list[int]
) -> None:
    """And on the cpu at most four ranks, none of them sharing a core."""
    assert device_levels("auto", accelerator, present, threads) == levels


cells = st.builds(
    Cell,
    workload=st.sampled_from(["gpt", "gpt-x"]),
    size=st.sampled_from(["1.5b", "15b", "tiny"]),
    task=st.sampled_from(["train", "infer"]),
    strategy=st.sampled_from(["single", "ddp"]),
    accelerator=st.sampled_from(["cpu", "cuda"]),
    devices=st.integers(1, 4),
    precision=st.sampled_from(["fp32", "bf16"]),
    batch=st.integers(1, 8),
    threads_per_device=st.integers(1, 2),
    variant=st.sampled_from(["", "a", "b"]),
    options=st.dictionaries(st.sampled_from(["x", "y"]), st.integers(0, 2)),
)


@given(cells, cells)
def test_two_cells_share_an_id_only_if_they_are_equal(one: Cell, other: Cell) -> None:
    """Also where the readable parts agree, such as sizes 1.5b and 15b."""
    assert (cell_id(one) == cell_id(other)) == (one == other)


def test_an_id_can_be_read(shelves: Shelves) -> None:
    """Workload, size, task, strategy, devices, precision, batch, then the digest."""
    readable, _, digest = found(shelves, matrix())[1].id.rpartition("-")

    assert readable == "gpt-tiny.train.ddp.x2.fp32.b8"
    assert len(digest) == 8
