"""Workloads that train and answer: the work that they count, falling losses, answers that are numbers."""

import math

import pytest
import torch

from study.worker.contracts import Invalid
from study.worker.models import flops
from study.worker.workloads import bert, dlrm, unet, vit

OPTIONS = {"bert": {"sequence": 32}, "vit": {}, "unet": {"image": 8}, "dlrm": {"lookups": 2}}
"""What each of them is asked for beside its smallest size."""

UNITS = {
    "bert": ("tokens", 32, "sequences"),
    "vit": ("images", 1, "images"),
    "unet": ("images", 1, "denoisings"),
    "dlrm": ("samples", 1, "samples"),
}
"""The unit of training, how many of them a sample holds, and the unit of inference."""

PARAMETERS = {"bert": 892_800, "vit": 821_642, "unet": 177_427, "dlrm": 11_385}
"""Counted by hand from the sizes."""


@pytest.mark.parametrize("workload", OPTIONS)
def test_a_step_of_training_counts_its_work(build, workload):
    """The unit of work, as many as this rank's samples hold, and the parameters of the whole model."""
    job = build(workload, "train", share=range(2, 5), **OPTIONS[workload])

    unit, each, _ = UNITS[workload]
    assert (job.work_unit, job.work_per_step, job.parameters) == (unit, 3 * each, PARAMETERS[workload])


@pytest.mark.parametrize(("batch", "precision"), [(1, "fp32"), (8, "fp32"), (4, "bf16")])
@pytest.mark.parametrize("workload", OPTIONS)
def test_the_loss_falls_within_fifteen_steps(build, evidence, workload, batch, precision):
    """Also of a batch of one, and under bf16: the job itself would refuse a loss that does not."""
    job = build(workload, "train", batch=batch, precision=precision, **OPTIONS[workload])

    found = evidence(job, 15)

    assert len(found.loss) == 15
    assert sum(found.loss[-4:]) / 4 < 0.97 * found.loss_first


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("workload", OPTIONS)
def test_a_step_of_inference_answers_its_share(build, evidence, workload, precision):
    """Answers are numbers in either precision, and nothing is learnt."""
    job = build(workload, "infer", precision=precision, share=range(2, 5), **OPTIONS[workload])

    found = evidence(job, 6)

    assert (job.work_unit, job.work_per_step) == (UNITS[workload][2], 3)
    assert found.loss_first is None
    assert found.loss == ()


@pytest.mark.parametrize("workload", OPTIONS)
def test_an_answer_that_is_no_number_is_refused(build, evidence, workload):
    """One parameter that is not finite, and the step is told that shows it."""
    job = build(workload, "infer", **OPTIONS[workload])
    *_, (_, last) = job.runner.named_parameters()
    last.data.fill_(math.nan)

    with pytest.raises(Invalid, match=r"In window step 1 of 3 a .* was not finite"):
        evidence(job, 3)


FORWARD = {
    "bert": flops.of_bert(bert.dimensions("tiny"), 32),
    "vit": flops.of_vit(vit.dimensions("tiny")),
    "unet": flops.of_unet(unet.dimensions("tiny"), 8),
    "dlrm": flops.of_dlrm(dlrm.dimensions("tiny")),
}
"""Multiply-adds of one sample's forward pass, by formula."""


@pytest.mark.parametrize("workload", OPTIONS)
def test_operations_of_a_step_are_those_of_the_formula(build, evidence, workload):
    """Twice the multiply-adds of this rank's samples forward, and three times that in training, nearly."""
    trained = evidence(build(workload, "train", share=range(2, 5), **OPTIONS[workload]), 15)
    answered = evidence(build(workload, "infer", share=range(2, 5), **OPTIONS[workload]), 1)

    assert answered.flops.per_step == pytest.approx(3 * 2 * FORWARD[workload], rel=0.01)
    # The first layer needs no gradient of its input.
    assert 2.7 <= trained.flops.per_step / answered.flops.per_step <= 3


def test_sequences_longer_than_the_context_are_refused(build):
    """Both numbers are told."""
    with pytest.raises(Invalid, match="129 tokens are more than the 128 that tiny has positions for"):
        build("bert", "train", sequence=129)


@pytest.mark.parametrize("side", [1, 7])
def test_images_that_cannot_be_halved_are_refused(build, side):
    """The side and what it must be are told."""
    with pytest.raises(Invalid, match=rf"{side} by {side} pixels do not suit tiny: .* a multiple of 2"):
        build("unet", "infer", image=side)


def test_sampling_goes_on_from_its_own_result(build):
    """Step by step the times go down, and after the last one a batch of noise begins the chain again."""
    job = build("unet", "infer", image=8, batch=2)
    asked = []
    infer = job.runner.infer
    job.runner.infer = lambda inputs: asked.append(inputs) or infer(inputs)

    # The chain's first steps, and then its last ones.
    for _ in range(3):
        job.step()
    job._steps = unet.STEPS - 2
    results = []
    for _ in range(4):
        job.step()
        results.append(job._images)

    assert [int(times[0]) for _, times in asked] == [999, 998, 997, 1, 0, 999, 998]
    assert torch.equal(asked[4][0], results[0])
    assert torch.equal(asked[5][0], asked[0][0])
    assert torch.equal(asked[6][0], results[2])


def test_sampling_with_a_model_that_knows_the_noise_ends_at_the_image(build):
    """A stand-in for the model that knows the clean image leads from noise to it."""
    job = build("unet", "infer", image=8, batch=2)
    clean, kept = torch.randn(2, 3, 8, 8), job._schedule.kept

    def infer(inputs):
        images, times = inputs
        share = kept[times[0]]
        return (images - share.sqrt() * clean) / (1 - share).sqrt()

    job.runner.infer = infer
    for _ in range(unet.STEPS):
        job.step()

    assert torch.allclose(job._images, clean, atol=1e-3)
