"""The workload `resnet`: an image classifier, trained by SGD with momentum or answering batches of images.

Convolutions and small parameters: much arithmetic for each byte that ranks exchange, where `gpt` is
the other way round. BatchNorm normalises by the statistics of each rank's share, so training under
`ddp` is not the same computation as on one device, only the same work.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from study.worker.contracts import Evidence, Invalid, Job, Note, Place, Window
from study.worker.flops import answering_flops
from study.worker.inference import prepared, require_sound
from study.worker.models.resnet import Dimensions, ResNet
from study.worker.samples import image_batches
from study.worker.training import Training, count_parameters

FACTS = {
    "summary": "A residual network for images: training by SGD with momentum, or answering batches.",
    # An image side of 0 stands for the side that the size was designed for.
    "tasks": {
        "train": {"unit": "images", "options": {"image": 0}},
        "infer": {"unit": "images", "options": {"image": 0}},
    },
    "sizes": {
        "tiny": {
            "bottleneck": False,
            "depths": "1-1-1-1",
            "width": 16,
            "classes": 10,
            "small_stem": True,
            "image": 32,
            "blocks": 4,
        },
        "resnet18": {
            "bottleneck": False,
            "depths": "2-2-2-2",
            "width": 64,
            "classes": 1000,
            "small_stem": False,
            "image": 224,
            "blocks": 8,
        },
        "resnet50": {
            "bottleneck": True,
            "depths": "3-4-6-3",
            "width": 64,
            "classes": 1000,
            "small_stem": False,
            "image": 224,
            "blocks": 16,
        },
    },
    "precisions": ("fp32", "tf32", "bf16", "fp16"),
    "seams": {"copies": "", "blocks": "blocks"},
}

MOMENTUM = 0.9


def build(place: Place) -> Job:
    """The job of one rank.

    Raises:
        Invalid: the images are too small for the network.
    """
    return _training(place) if place.cell.task == "train" else Classifying(place)


def dimensions(size: str) -> Dimensions:
    """The dimensions of a size of this workload."""
    facts = FACTS["sizes"][size]  # type: ignore[index]
    return Dimensions(
        bottleneck=facts["bottleneck"],
        depths=tuple(int(depth) for depth in facts["depths"].split("-")),
        width=facts["width"],
        classes=facts["classes"],
        small_stem=facts["small_stem"],
    )


def learning_rate(batch: int) -> float:
    """In proportion to the global batch while that is small (Goyal et al. 2017), then constant.

    Without a ramp the first steps must be calm: a deep network on one image would else diverge.
    """
    return min(0.02, 0.0025 * batch)


def _training(place: Place) -> Training:
    size = dimensions(place.cell.size)
    with torch.device("meta"):
        model = ResNet(size)
    rate = learning_rate(place.cell.batch)
    return Training(
        place,
        model,
        _images(place, size),
        _smoothed_loss,
        lambda parameters: torch.optim.SGD(parameters, lr=rate, momentum=MOMENTUM, fused=True),
        work_unit="images",
        work_per_step=place.counted,
    )


def _smoothed_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Labels smoothed by a tenth, as in the usual recipe: gradients stay of ordinary size however long
    a window lasts, where a loss of nothing would end in denormal numbers, which are slow on a CPU."""
    return functional.cross_entropy(logits, labels, label_smoothing=0.1)


class Classifying:
    """One step is a batch of images answered."""

    work_unit = "images"

    def __init__(self, place: Place) -> None:
        size = dimensions(place.cell.size)
        with torch.device("meta"):
            model: nn.Module = ResNet(size)
        self.parameters = count_parameters(model)
        model = prepared(model, place.cell.precision)
        dtype = next(model.parameters()).dtype
        self._pool = [images.to(dtype) for images, _ in _images(place, size)]
        self._flops = answering_flops(model, self._pool[0], samples=place.counted)
        self.runner = place.run(model)
        self.work_per_step = place.counted
        self._steps = 0

    def begin(self) -> None:
        """Each step stands alone."""

    def step(self) -> Tensor | None:
        """Whether every logit is finite, still on the device; None if another rank has them."""
        images = self._pool[self._steps % len(self._pool)]
        self._steps += 1
        logits = self.runner.infer(images)
        return None if logits is None else logits.isfinite().all()

    def evidence(self, first: Note, window: Window) -> Evidence:  # noqa: ARG002 - nothing is learnt from it
        """Nothing but that the answers were numbers.

        Raises:
            Invalid: a step gave a logit that is not finite.
        """
        require_sound(window.notes, "a logit was not finite")
        return Evidence(flops=self._flops)


def _images(place: Place, size: Dimensions) -> list[tuple[Tensor, Tensor]]:
    cell = place.cell
    side = int(cell.options["image"]) or FACTS["sizes"][cell.size]["image"]  # type: ignore[index]
    if side < 8:
        raise Invalid(f"Images of {side} by {side} pixels are too small for {cell.size}.")
    return image_batches(place, side=side, classes=size.classes)
