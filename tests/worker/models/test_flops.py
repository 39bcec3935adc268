"""The arithmetic of every model against what torch counts, and against what was published.

Counted on the meta device: on the CPU torch's counter does not see attention.
"""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from study.worker.models import flops
from study.worker.models.bert import BERT
from study.worker.models.dlrm import DLRM
from study.worker.models.gpt import GPT
from study.worker.models.resnet import ResNet
from study.worker.models.unet import UNet
from study.worker.models.vit import ViT
from study.worker.workloads import bert, dlrm, gpt, resnet, unet, vit

CASES = {
    "gpt tiny": (GPT, gpt, flops.of_gpt, 64),
    "gpt 124m": (GPT, gpt, flops.of_gpt, 1024),
    "bert tiny": (BERT, bert, flops.of_bert, 30),
    "bert base": (BERT, bert, flops.of_bert, 512),
    "vit tiny": (ViT, vit, flops.of_vit, 32),
    "vit b16": (ViT, vit, flops.of_vit, 224),
    "resnet tiny": (ResNet, resnet, flops.of_resnet, 30),
    "resnet resnet18": (ResNet, resnet, flops.of_resnet, 224),
    "resnet resnet50": (ResNet, resnet, flops.of_resnet, 230),
    "unet tiny": (UNet, unet, flops.of_unet, 16),
    "unet cifar": (UNet, unet, flops.of_unet, 32),
    "unet lsun": (UNet, unet, flops.of_unet, 256),
    "dlrm small": (DLRM, dlrm, flops.of_dlrm, 0),
}
"""Model, workload, formula, and the length of the sequence or the side of the image."""


def inputs(model, length):
    """One sample of what a model takes."""
    if model is DLRM:
        return torch.empty((1, 13)), torch.empty((1, 26, 1), dtype=torch.long)
    if model in (GPT, BERT):
        return torch.empty((1, length), dtype=torch.long)
    image = torch.empty((1, 3, length, length))
    return (image, torch.empty(1)) if model is UNet else image


@pytest.mark.parametrize("case", CASES)
def test_arithmetic_is_what_torch_counts(case):
    """Twice the multiply-adds are the floating-point operations of a forward pass, to within 1 %."""
    model, workload, formula, length = CASES[case]
    size = workload.dimensions(case.split()[1])

    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        model(size).eval()(inputs(model, length))

    fixed = model in (ViT, DLRM)
    assert 2 * (formula(size) if fixed else formula(size, length)) == pytest.approx(
        counter.get_total_flops(), rel=0.01
    )


@pytest.mark.parametrize(
    ("found", "published"),
    [
        (flops.of_resnet(resnet.dimensions("resnet18"), 224), 1.814e9),
        (flops.of_resnet(resnet.dimensions("resnet50"), 224), 4.089e9),
        (flops.of_vit(vit.dimensions("b16")), 17.56e9),
        (flops.of_vit(vit.dimensions("l16")), 61.55e9),
    ],
)
def test_arithmetic_is_what_was_published(found, published):
    """The tables of torchvision, which count as we do."""
    assert found == pytest.approx(published, rel=0.01)


def test_long_sequences_cost_more_per_token():
    """Attention grows with the square of the length, everything else with the length."""
    size = gpt.dimensions("124m")

    doubled = flops.of_gpt(size, 2000) - 2 * flops.of_gpt(size, 1000)

    assert doubled == 12 * 2 * 768 * (2000**2 - 2 * 1000**2)
