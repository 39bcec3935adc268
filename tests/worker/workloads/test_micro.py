"""Micro-workloads: the work that they count, and that a wrong product, sum or copy is refused."""

import pytest
import torch

from study.worker.contracts import Invalid
from study.worker.workloads import gemm


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_a_product_counts_its_operations(build, evidence, precision):
    """Two operations for each of n³ multiply-adds, of every product that this rank counts."""
    job = build("gemm", "check", size="small", batch=3, share=range(1, 3), precision=precision)

    found = evidence(job, 2)

    assert (job.work_unit, job.work_per_step, job.parameters) == ("multiplications", 2, None)
    assert found.flops.per_step == 2 * 2 * 512**3


def test_one_wrong_element_of_a_product_is_refused(build, evidence):
    """The row and its error are told."""
    job = build("gemm", "check", size="small", batch=1)
    step = job.step
    job.step = lambda: (step(), job.product[511, 7].add_(1.0))

    with pytest.raises(Invalid, match=r"Row 511 of the product is wrong by 0\.\d+ of its largest element"):
        evidence(job, 2)


def test_a_product_that_is_no_number_is_refused(build, evidence):
    """NaN is no small error."""
    job = build("gemm", "check", size="small", batch=1)
    job.step = lambda: job.product.fill_(torch.nan)

    with pytest.raises(Invalid, match="Row 0 of the product is wrong by nan"):
        evidence(job, 2)


def test_a_product_in_the_rounding_of_tf32_is_not_fp32():
    """Factors cut to the ten bits of tf32 leave an error above what fp32 is allowed, and below tf32's."""
    a, b = torch.randn((2, 512, 512), generator=torch.Generator().manual_seed(1))
    cut = [(x.view(torch.int32) & ~0x1FFF).view(torch.float32) for x in (a, b)]

    error = gemm.relative_error(cut[0] @ cut[1], a.double() @ b.double())

    assert gemm.TOLERANCES["fp32"] < error < gemm.TOLERANCES["tf32"]


def test_a_copy_counts_bytes_read_and_written(build, evidence):
    """Every byte twice, of every copy; nothing is multiplied, and that is said."""
    job = build("memcpy", "check", size="1mb", batch=3)

    found = evidence(job, 2)

    assert (job.work_unit, job.work_per_step, job.parameters) == ("bytes", 3 * 2 * 2**20, None)
    assert (found.flops.per_step, found.flops.reason) == (None, "nothing is multiplied")


def test_a_copy_that_was_not_made_is_refused(build, evidence):
    """A window that copies nothing leaves zeros, and about one byte in 256 of them is right by chance."""
    job = build("memcpy", "check", size="1mb", batch=1)
    job.step = lambda: None

    with pytest.raises(Invalid, match=r"10\d{5} of 1048576 bytes of the copy differ"):
        evidence(job, 2)


def test_a_sum_over_one_device_is_refused(build):
    """The sentence says what to ask for."""
    with pytest.raises(Invalid, match="ask for the strategy ddp on 2 devices or more"):
        build("allreduce", "check", size="1mb")


@pytest.mark.torch
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_two_ranks_sum_their_messages(readings, precision):
    """Each counts its own message of a step, and no model's operations."""
    found = readings("allreduce", "check", size="1mb", batch=4, devices=2, precision=precision)

    assert [reading.work for reading in found] == [24, 24]
    assert {reading.work_unit for reading in found} == {"messages"}
    assert {reading.unknown["model_flops_per_step"] for reading in found} == {"nothing is multiplied"}


@pytest.mark.torch
def test_a_sum_that_is_none_is_invalid(launch):
    """An exchange that leaves everyone with its own message is found out after the window."""
    prelude = "import torch.distributed as dist\nreal = dist.all_reduce\n"
    prelude += "dist.all_reduce = lambda x, **how: real(x, **how) if x.dtype.itemsize == 8 else None\n"

    ranks = launch("allreduce", "check", size="1mb", batch=2, devices=2, prelude=prelude)

    assert [rank.code for rank in ranks] == [3, 3], ranks[0].log
    assert "262144 of 262144 elements are not the sum over 2 devices." in ranks[0].error.message
