"""The workload `bert`: an encoder, pre-trained on masked words or answering batches of sequences.

Like `gpt` without a future: every position is seen at once, so inference is bound by arithmetic, not by
reading weights. `base` and `large` are the published sizes (Devlin et al. 2019).
"""

import torch

from study.worker.answering import Answering
from study.worker.contracts import Invalid, Job, Place
from study.worker.models.bert import BERT, UNMASKED, Dimensions, pretraining_loss
from study.worker.samples import masked_batches
from study.worker.training import Training

FACTS = {
    "summary": "An encoder (BERT's shape): training on masked words, or answering batches of sequences.",
    "tasks": {
        "train": {
            "unit": "tokens",
            "options": {"sequence": 64},
            "ranges": {"sequence": (2, 1e9)},
            "fits": {"context": ("sequence",)},
        },
        "infer": {
            "unit": "sequences",
            "options": {"sequence": 64},
            "ranges": {"sequence": (2, 1e9)},
            "fits": {"context": ("sequence",)},
        },
    },
    # The paper's rate for base; half of it for large, since there is no warm-up of the rate.
    "sizes": {
        "tiny": {
            "layers": 4,
            "width": 128,
            "heads": 4,
            "vocab": 512,
            "context": 128,
            "learning_rate": 1e-3,
        },
        "base": {
            "layers": 12,
            "width": 768,
            "heads": 12,
            "vocab": 30522,
            "context": 512,
            "learning_rate": 1e-4,
        },
        "large": {
            "layers": 24,
            "width": 1024,
            "heads": 16,
            "vocab": 30522,
            "context": 512,
            "learning_rate": 5e-5,
        },
    },
    "precisions": ("fp32", "tf32", "bf16", "fp16"),
    "seams": {"copies": "", "blocks": "layers", "split": "heads"},
}


def build(place: Place) -> Job:
    """The job of one rank.

    Raises:
        Invalid: the sequence is longer than the size has positions for.
    """
    cell = place.cell
    size, sequence = dimensions(cell.size), int(cell.options["sequence"])
    if sequence > size.context:
        raise Invalid(
            f"{sequence} tokens are more than the {size.context} that {cell.size} has positions for."
        )
    with torch.device("meta"):
        model = BERT(size)
    pool = masked_batches(place, length=sequence, vocab=size.vocab, unmasked=UNMASKED)
    if cell.task == "infer":
        tokens = [tokens for tokens, _ in pool]
        return Answering(place, model, tokens, work_unit="sequences", work_per_step=place.counted)
    rate = FACTS["sizes"][cell.size]["learning_rate"]  # type: ignore[index]
    return Training(
        place,
        model,
        pool,
        pretraining_loss,
        lambda parameters: torch.optim.AdamW(parameters, lr=rate, fused=True),
        work_unit="tokens",
        work_per_step=place.counted * sequence,
    )


def dimensions(size: str) -> Dimensions:
    """The dimensions of a size of this workload."""
    facts = FACTS["sizes"][size]  # type: ignore[index]
    return Dimensions(**{name: int(facts[name]) for name in Dimensions.__dataclass_fields__})
