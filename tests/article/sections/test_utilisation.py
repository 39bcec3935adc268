"""The section on how much of the devices was used."""

import msgspec
import pytest

from study.article.sections.utilisation import section
from study.domain.article import TableBlock
from study.domain.figure import Missing


@pytest.fixture
def used(scene, make):
    """Training that reaches 60 TFLOP/s of a product of 150, and sums and copies."""
    train, product, slow, fast, copies = (
        make.cell_summary(make.cell("gpt", "train", "single", 1), 1000.0),
        make.cell_summary(make.cell("gemm", "check", "single", 1), 10.0),
        make.cell_summary(make.cell("allreduce", "check", "ddp", 2), 10.0, unit="messages"),
        make.cell_summary(make.cell("allreduce", "check", "ddp", 4), 10.0, unit="messages"),
        make.cell_summary(make.cell("memcpy", "check", "single", 1), 10.0, unit="bytes"),
    )
    cells = (
        msgspec.structs.replace(
            train,
            tflops_per_device=make.estimate(60.0),
            mfu_of_ceiling=make.estimate(0.4),
            unknown={"mfu": "The peak is not known."},
        ),
        msgspec.structs.replace(product, tflops_per_device=make.estimate(150.0), mfu=make.estimate(0.8)),
        msgspec.structs.replace(slow, bandwidth_gb_s=make.estimate(20.0)),
        msgspec.structs.replace(fast, bandwidth_gb_s=make.estimate(30.0)),
        msgspec.structs.replace(copies, bandwidth_gb_s=make.estimate(2000.0)),
        make.cell_summary(make.cell("sleep", "check", "single", 1), 100.0),
    )
    return scene.with_analysis(cells=cells)


def rows(scene, key):
    """The rows of one table."""
    blocks = section(scene.material()).blocks
    return next(b.table.rows for b in blocks if isinstance(b, TableBlock) and b.table.key == key)


def test_operations_stand_with_both_shares(used, say):
    """Models and products have a row; a share that is not known is a dash with the reason."""
    product, train = rows(used, "t-utilisation")

    assert [say(product[0]), say(train[0])] == ["gemm tiny", "gpt tiny"]
    assert (train[6].estimate.value, train[6].unit) == (60.0, "TFLOP/s")
    assert (train[7].estimate.value, train[7].style) == (0.4, "percent")
    assert isinstance(train[8], Missing)
    assert say(train[8].reason) == "The peak is not known."
    assert product[8].estimate.value == 0.8


def test_bandwidths_stand_in_a_table_of_their_own(used, say):
    """Sums and copies, with the unit in the head."""
    found = [(say(row[0]), say(row[4]), row[6].estimate.value) for row in rows(used, "t-bandwidth")]

    assert found == [
        ("allreduce tiny", "2", 20.0),
        ("allreduce tiny", "4", 30.0),
        ("memcpy tiny", "1", 2000.0),
    ]


def test_the_fastest_sum_is_told_in_words(used, words_in):
    """Its devices and what a link carried; copies are no exchange."""
    words = words_in(section(used.material()))

    assert "In the fastest sum over devices, allreduce tiny on 4 devices, a link carried 30" in words


def test_copies_alone_say_nothing_of_links(used, words_in):
    """Without a sum over devices there is the table, and no sentence on links."""
    copies = tuple(cell for cell in used.analysis.cells if cell.cell.workload == "memcpy")

    found = section(used.with_analysis(cells=copies).material())

    assert [block.table.key for block in found.blocks] == ["t-bandwidth"]


def test_a_run_that_counted_nothing_has_no_such_section(scene):
    """No operations and no bandwidth: there is nothing to say."""
    assert section(scene.material()) is None
