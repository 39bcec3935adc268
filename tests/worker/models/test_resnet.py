"""The image classifier against published counts and shapes."""

import pytest
import torch

from study.worker.models.resnet import ResNet
from study.worker.parameters import materialise
from study.worker.training import count_parameters
from study.worker.workloads import resnet


@pytest.mark.parametrize(("size", "published"), [("resnet18", 11_689_512), ("resnet50", 25_557_032)])
def test_parameters_count_as_published(size, published):
    """With 1000 classes the networks have the published numbers of parameters."""
    with torch.device("meta"):
        model = ResNet(resnet.dimensions(size))

    assert count_parameters(model) == published


@pytest.mark.parametrize(("size", "macs"), [("resnet18", 1.814e9), ("resnet50", 4.089e9)])
def test_arithmetic_counts_as_published(size, macs):
    """At 224 pixels a forward pass is 1.8 and 4.1 thousand million multiply-adds, as published for v1.5."""
    from torch.utils.flop_counter import FlopCounterMode

    with torch.device("meta"), FlopCounterMode(display=False) as counter:
        ResNet(resnet.dimensions(size)).eval()(torch.empty(1, 3, 224, 224))

    assert counter.get_total_flops() / 2 == pytest.approx(macs, rel=0.005)


def test_blocks_start_as_their_shortcut():
    """With the last norm at zero, a block of unchanged shape passes what is not negative through."""
    torch.manual_seed(0)
    network = ResNet(resnet.dimensions("resnet18"))
    materialise(network, seed=0, device=torch.device("cpu"))
    block = network.blocks[0].eval()
    x = torch.rand(2, 64, 8, 8)

    assert torch.equal(block(x), x)


def test_seams_name_what_is_there():
    """Every name in the seams is a module, and running them in order is running the network."""
    torch.manual_seed(0)
    model = ResNet(resnet.dimensions("tiny")).eval()
    modules, seams = dict(model.named_modules()), model.seams
    images = torch.randn(2, 3, 32, 32)

    x = modules[seams.before[0]](images)
    for name in seams.blocks:
        x = modules[name](x)

    assert torch.equal(modules[seams.after[0]](x.mean(dim=(2, 3))), model(images))
