"""The workload `vit`: an image classifier made of a transformer, trained or answering batches of images.

The images of `resnet` and the arithmetic of `gpt`: large products of matrices, and nothing that mixes the
samples of a batch, so that training on several devices is the same computation as on one. Sizes are those
of Dosovitskiy et al. 2021 (table 1); S/16 is Touvron et al.'s (2021).
"""

import torch
from torch import Tensor
from torch.nn import functional

from study.worker.answering import Answering
from study.worker.contracts import Job, Place
from study.worker.inference import DTYPES
from study.worker.models.vit import Dimensions, ViT
from study.worker.samples import image_batches
from study.worker.training import Training

FACTS = {
    "summary": "A Vision Transformer: training on images, or answering batches of them.",
    "tasks": {"train": {"unit": "images"}, "infer": {"unit": "images"}},
    # Rates below those of the papers, since there is no warm-up of the rate.
    "sizes": {
        "tiny": {
            "layers": 4,
            "width": 128,
            "heads": 4,
            "patch": 8,
            "image": 32,
            "classes": 10,
            "learning_rate": 1e-3,
        },
        "s16": {
            "layers": 12,
            "width": 384,
            "heads": 6,
            "patch": 16,
            "image": 224,
            "classes": 1000,
            "learning_rate": 3e-4,
        },
        "b16": {
            "layers": 12,
            "width": 768,
            "heads": 12,
            "patch": 16,
            "image": 224,
            "classes": 1000,
            "learning_rate": 1e-4,
        },
        "l16": {
            "layers": 24,
            "width": 1024,
            "heads": 16,
            "patch": 16,
            "image": 224,
            "classes": 1000,
            "learning_rate": 1e-4,
        },
    },
    "precisions": ("fp32", "tf32", "bf16", "fp16"),
    "seams": {"copies": "", "blocks": "layers", "split": "heads"},
}


def build(place: Place) -> Job:
    """The job of one rank."""
    cell, size = place.cell, dimensions(place.cell.size)
    with torch.device("meta"):
        model = ViT(size)
    pool = image_batches(place, side=size.image, classes=size.classes)
    if cell.task == "infer":
        images = [images.to(DTYPES.get(cell.precision, images.dtype)) for images, _ in pool]
        return Answering(place, model, images, work_unit="images", work_per_step=place.counted)
    rate = FACTS["sizes"][cell.size]["learning_rate"]  # type: ignore[index]
    return Training(
        place,
        model,
        pool,
        _smoothed_loss,
        lambda parameters: torch.optim.AdamW(parameters, lr=rate, fused=True),
        work_unit="images",
        work_per_step=place.counted,
    )


def dimensions(size: str) -> Dimensions:
    """The dimensions of a size of this workload."""
    facts = FACTS["sizes"][size]  # type: ignore[index]
    return Dimensions(**{name: int(facts[name]) for name in Dimensions.__dataclass_fields__})


def _smoothed_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Labels smoothed by a tenth, so that gradients stay of ordinary size however long a window lasts."""
    return functional.cross_entropy(logits, labels, label_smoothing=0.1)
