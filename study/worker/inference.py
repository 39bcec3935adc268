"""What inference jobs share: preparing a model, and refusing answers that are no numbers."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from study.worker.contracts import Invalid

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def prepared(model: nn.Module, precision: str) -> nn.Module:
    """The model for inference, its weights held in the precision: half the bytes to read, as deployed.

    fp32 and tf32 keep the weights as they are.
    """
    model.eval()
    return model.to(DTYPES[precision]) if precision in DTYPES else model


def require_sound(answers: Sequence[Tensor | None], what: str) -> None:
    """Refuse a window in which any step's answer was unsound; `answers` are booleans on the device, or
    None where another rank has the answers.

    Raises:
        Invalid: with the number of the first such step.
    """
    here = [answer for answer in answers if answer is not None]
    for step, sound in enumerate(torch.stack(here).tolist() if here else [], 1):
        if not sound:
            raise Invalid(f"In window step {step} of {len(here)} {what}.")
