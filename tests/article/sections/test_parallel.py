"""The section on model parallelism."""

import msgspec
import pytest
from fakes.records import fake_run, quick_truths

from study.article.sections.parallel import section
from study.domain.article import Paragraph, TableBlock
from study.domain.figure import Missing
from study.domain.record import Measured
from study.domain.text import said
from study.domain.trial import SkippedCell


@pytest.fixture
def scene_of(scene, make):
    """Training on one device and under ddp, tensor and a failed fsdp on two, with records of both ranks."""

    def build(peaks=(100, 300), **run):
        single, ddp, tensor, fsdp = (
            make.cell("gpt", "train", name, n)
            for name, n in (("single", 1), ("ddp", 2), ("tensor", 2), ("fsdp", 2))
        )
        rates = {"ddp": 1500.0, "tensor": 800.0}
        cells = [
            make.cell_summary(single, 1000.0),
            make.cell_summary(ddp, 1500.0),
            make.cell_summary(tensor, 800.0),
            make.cell_summary(fsdp, None),
            make.cell_summary(make.cell("resnet", "train", "ddp", 2), 10.0),
        ]
        series = [make.series("gpt", "train", name, {1: 1000.0, 2: rate}) for name, rate in rates.items()]
        fault = make.trial(fsdp, 1, None, outcome="failed", fault="rank 1 raised", unknown={"rate": "None."})
        desk = make.analysis(
            cells=tuple(cells),
            series=tuple(series),
            trials=(fault,),
            findings=(make.finding("largest", table="t-parallel"),),
        )
        records = tuple(with_peaks(cell, peaks) for cell in cells[1:3])
        return scene.but(run=make.run(cells, series, **run), records=records, analysis=desk)

    return build


def with_peaks(summary, peaks):
    """A record of the first trial of a cell, whose two ranks had these peaks."""
    record = next(r for r in fake_run(truths=quick_truths()[2:3])[1])
    readings = tuple(
        msgspec.structs.replace(
            reading,
            peak_memory_bytes=peak,
            unknown=reading.unknown
            if peak
            else {**reading.unknown, "peak_memory_bytes": "It cannot be told."},
        )
        for reading, peak in zip(record.outcome.readings, peaks, strict=True)
    )
    return msgspec.structs.replace(
        record, trial=summary.trials[0], cell_id=summary.cell_id, outcome=Measured(readings=readings)
    )


def rows(scene):
    """The rows of the table."""
    return section(scene.material()).blocks[-1].table.rows


def test_strategies_stand_beside_one_device(scene_of, say):
    """The base and each strategy on two devices; a model under one strategy alone has no row."""
    found = [(say(row[0]), say(row[2]), say(row[3])) for row in rows(scene_of())]

    assert found == [
        ("gpt tiny", "single", "1"),
        ("gpt tiny", "ddp", "2"),
        ("gpt tiny", "fsdp", "2"),
        ("gpt tiny", "tensor", "2"),
    ]


def test_rates_and_speedups_have_their_intervals(scene_of):
    """Tensor: 800 a second, 0.8 times one device."""
    tensor = rows(scene_of())[3]

    assert (tensor[5].estimate.value, tensor[5].estimate.low) == (800.0, 784.0)
    assert (tensor[7].estimate.value, tensor[7].style) == (0.8, "times")


def test_memory_is_that_of_the_fullest_device(scene_of):
    """Of 100 and 300 bytes it is 300."""
    assert rows(scene_of())[1][8].value == 300.0


def test_memory_that_one_device_did_not_tell_is_missing_with_the_reason(scene_of, say):
    """The fullest of two is not known if one of them is not."""
    entry = rows(scene_of(peaks=(100, None)))[1][8]

    assert isinstance(entry, Missing)
    assert say(entry.reason) == "It cannot be told."


def test_a_failed_cell_is_a_row_with_its_reason(scene_of, say):
    """Fsdp has no rate, no speed-up and no memory."""
    fsdp = rows(scene_of())[2]

    assert say(fsdp[5].reason) == "rank 1 raised"
    assert [isinstance(entry, Missing) for entry in fsdp[5:]] == [True, False, True, True]


def test_a_skipped_cell_is_a_row_with_its_reason(scene_of, make, say):
    """Skipped on four devices; single on two and other work are no rows."""
    skipped = tuple(
        SkippedCell(id=str(place), cell=cell, reason="Matrices cannot be split so.")
        for place, cell in enumerate(
            (
                make.cell("gpt", "train", "tensor", 4),
                make.cell("gpt", "train", "single", 2),
                make.cell("gpt", "train", "tensor", 1),
                make.cell("vit", "train", "tensor", 2),
            )
        )
    )

    found = rows(scene_of(skipped=skipped))

    assert len(found) == 5
    assert (say(found[4][2]), say(found[4][3])) == ("tensor", "4")
    assert {say(entry.reason) for entry in found[4][5:]} == {"Matrices cannot be split so."}


def test_a_cell_without_a_fault_or_a_series_says_so(scene_of, say):
    """No trial of it ran, and nothing on one device is there to compare with."""
    scene = scene_of().with_analysis(trials=(), series=())

    ddp, fsdp, _ = rows(scene)

    assert say(fsdp[5].reason) == "Not measured."
    assert say(ddp[7].reason) == "There is no measurement on one device to compare it with."


def test_what_was_found_stands_above_the_table(scene_of):
    """The finding that names this table, then what memory means on a CPU."""
    first, memory, table = section(scene_of().material()).blocks

    assert isinstance(first, Paragraph)
    assert first.finding == "largest"
    assert memory.sentences[1] == said("On the CPU it is that of a process, with Python and its libraries.")
    assert isinstance(table, TableBlock)


def test_on_a_gpu_memory_is_no_process(scene_of):
    """There it is the device's own."""
    memory = section(scene_of(accelerator="cuda").material()).blocks[1]

    assert len(memory.sentences) == 1


def test_one_strategy_alone_has_no_such_section(scene):
    """Training under ddp on two and four devices compares no strategies."""
    assert section(scene.material()) is None


def test_strategies_that_were_not_measured_have_no_such_section(scene_of):
    """The section on failures tells of them."""
    scene = scene_of()
    cells = tuple(
        msgspec.structs.replace(cell, rate=None, unknown={"rate": "None."}) for cell in scene.analysis.cells
    )

    assert section(scene.with_analysis(cells=cells).material()) is None
