"""The workload `unet`: a diffusion denoiser, trained to predict noise or sampling images out of noise.

A training step predicts the noise in images at random times. An inference step is one denoising of a
batch, and the next step goes on from its result, so that steps wait for each other as in real sampling;
after the last time the images are noise again. All noise is drawn before the warm-up, and no step draws
random numbers. `cifar` and `lsun` are the sizes of Ho et al. 2020.
"""

import torch
from torch import Tensor
from torch.nn import functional

from study.worker.contracts import Evidence, Invalid, Job, Note, Place, Window
from study.worker.flops import answering_flops
from study.worker.inference import DTYPES, prepared, require_sound
from study.worker.models.unet import Dimensions, Noise, UNet
from study.worker.samples import image_batches, noise_batches, times
from study.worker.training import Training, count_parameters

FACTS = {
    "summary": "A diffusion denoiser (DDPM's U-Net): training to predict noise, or sampling step by step.",
    # An image side of 0 stands for the side that the size was designed for.
    "tasks": {
        "train": {"unit": "images", "options": {"image": 0}},
        "infer": {"unit": "denoisings", "options": {"image": 0}},
    },
    "sizes": {
        "tiny": {
            "width": 16,
            "factors": "1-2",
            "depth": 1,
            "attention": "1",
            "groups": 8,
            "image": 16,
            "learning_rate": 2e-3,
        },
        "cifar": {
            "width": 128,
            "factors": "1-2-2-2",
            "depth": 2,
            "attention": "1",
            "groups": 32,
            "image": 32,
            "learning_rate": 2e-4,
        },
        "lsun": {
            "width": 128,
            "factors": "1-1-2-2-4-4",
            "depth": 2,
            "attention": "4",
            "groups": 32,
            "image": 256,
            "learning_rate": 2e-5,
        },
    },
    "precisions": ("fp32", "tf32", "bf16", "fp16"),
    "seams": {"copies": ""},
}

STEPS = 1000
"""Times between an image and noise (Ho et al. 2020, section 4)."""


def build(place: Place) -> Job:
    """The job of one rank.

    Raises:
        Invalid: the images cannot be halved as often as the size has levels.
    """
    return _training(place) if place.cell.task == "train" else Sampling(place)


def dimensions(size: str) -> Dimensions:
    """The dimensions of a size of this workload."""
    facts = FACTS["sizes"][size]  # type: ignore[index]
    return Dimensions(
        width=facts["width"],
        factors=tuple(int(factor) for factor in facts["factors"].split("-")),
        depth=facts["depth"],
        attention=tuple(int(level) for level in facts["attention"].split("-")),
        groups=facts["groups"],
    )


def _training(place: Place) -> Training:
    cell, size = place.cell, dimensions(place.cell.size)
    side = _side(place, size)
    with torch.device("meta"):
        model = UNet(size)
    schedule, at = Noise.schedule(STEPS, place.device), times(place, steps=STEPS)
    # The classes' colours are learnt here: what they are not is noise.
    images = [images for images, _ in image_batches(place, side=side, classes=10)]
    pairs = zip(images, noise_batches(place, side=side), strict=True)
    rate = FACTS["sizes"][cell.size]["learning_rate"]  # type: ignore[index]
    return Training(
        place,
        model,
        [((schedule.add(clean, noise, at), at), noise) for clean, noise in pairs],
        functional.mse_loss,
        lambda parameters: torch.optim.Adam(parameters, lr=rate, fused=True),
        work_unit="images",
        work_per_step=place.counted,
    )


class Sampling:
    """One step denoises a batch of images once; work counts the images of each step."""

    work_unit = "denoisings"

    def __init__(self, place: Place) -> None:
        cell, size = place.cell, dimensions(place.cell.size)
        side = _side(place, size)
        with torch.device("meta"):
            model = UNet(size)
        self.parameters = count_parameters(model)
        self._dtype = DTYPES.get(cell.precision, torch.get_default_dtype())
        self._schedule = Noise.schedule(STEPS, place.device)
        self._pool = noise_batches(place, side=side)
        model = prepared(model, cell.precision)  # type: ignore[assignment]
        asked = (self._pool[0].to(self._dtype), times(place, steps=STEPS))
        self._flops = answering_flops(model, asked, samples=place.counted)
        self.runner = place.run(model)
        self.work_per_step = place.counted
        # Made beforehand: a time that is made in a step would be copied to the device.
        self._times = torch.arange(STEPS, device=place.device)[:, None].expand(-1, len(place.share))
        self._steps = 0
        self._images = self._pool[0]

    def begin(self) -> None:
        """Sampling goes on from window to window."""

    def step(self) -> Tensor:
        """Whether every value is finite, still on the device."""
        done = self._steps % STEPS
        time = STEPS - 1 - done
        if done == 0:
            self._images = self._pool[0]
        self._steps += 1
        fresh = self._pool[self._steps % len(self._pool)]
        predicted = self.runner.infer((self._images.to(self._dtype), self._times[time]))
        # The images themselves are kept in full precision: a thousand small changes must not be rounded.
        self._images = self._schedule.remove(self._images, predicted.to(fresh.dtype), fresh, time)
        return self._images.isfinite().all()

    def evidence(self, first: Note, window: Window) -> Evidence:  # noqa: ARG002 - nothing is learnt from it
        """Nothing but that the images were numbers.

        Raises:
            Invalid: a step gave a value that is not finite.
        """
        require_sound(window.notes, "a value of an image was not finite")
        return Evidence(flops=self._flops)


def _side(place: Place, size: Dimensions) -> int:
    side = int(place.cell.options["image"]) or FACTS["sizes"][place.cell.size]["image"]  # type: ignore[index]
    halvings = 2 ** (len(size.factors) - 1)
    if side < halvings or side % halvings:
        raise Invalid(
            f"Images of {side} by {side} pixels do not suit {place.cell.size}: "
            f"the side must be a multiple of {halvings}."
        )
    return int(side)
