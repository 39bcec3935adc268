"""The workload `dlrm`: a recommendation model, trained on clicks or answering batches of samples.

Nearly all of its bytes lie in tables of which a sample needs a few rows, and its arithmetic is little: it
is bound by memory, and under copies by the exchange of gradients as large as the tables. The MLPs of
`small` and `medium` are those of the authors' runs on Criteo's logs of 7 days and of a terabyte (Naumov
et al. 2019, and MLPerf); the tables are made up, all with the same number of rows.
"""

import torch
from torch import Tensor

from study.worker.answering import Answering
from study.worker.contracts import Job, Place
from study.worker.inference import DTYPES
from study.worker.models.dlrm import DLRM, Dimensions, click_loss
from study.worker.samples import click_batches
from study.worker.training import Training

FACTS = {
    "summary": "A recommendation model (DLRM's shape): large sparse tables between two small dense MLPs.",
    "tasks": {
        "train": {"unit": "samples", "options": {"lookups": 1}, "ranges": {"lookups": (1, 1e4)}},
        "infer": {"unit": "samples", "options": {"lookups": 1}, "ranges": {"lookups": (1, 1e4)}},
    },
    # `rows` and `width` are those of each table: tables × rows × width are the sparse parameters.
    "sizes": {
        "tiny": {"numeric": 8, "tables": 6, "rows": 200, "width": 8, "bottom": "16", "top": "32-16"},
        "small": {
            "numeric": 13,
            "tables": 26,
            "rows": 100_000,
            "width": 16,
            "bottom": "512-256-64",
            "top": "512-256",
        },
        "medium": {
            "numeric": 13,
            "tables": 26,
            "rows": 100_000,
            "width": 128,
            "bottom": "512-256",
            "top": "1024-1024-512-256",
        },
    },
    "precisions": ("fp32", "tf32", "bf16", "fp16"),
    "seams": {"copies": ""},
}

LEARNING_RATE = 0.1
"""Of plain SGD, as in the authors' runs."""


def build(place: Place) -> Job:
    """The job of one rank."""
    cell, size = place.cell, dimensions(place.cell.size)
    with torch.device("meta"):
        model = DLRM(size)
    pool = click_batches(
        place,
        numeric=size.numeric,
        tables=size.tables,
        rows=size.rows,
        lookups=int(cell.options["lookups"]),
    )
    if cell.task == "infer":
        inputs = [_held(inputs, cell.precision) for inputs, _ in pool]
        return Answering(place, model, inputs, work_unit="samples", work_per_step=place.counted)
    return Training(
        place,
        model,
        pool,
        click_loss,
        lambda parameters: torch.optim.SGD(parameters, lr=LEARNING_RATE, fused=True),
        work_unit="samples",
        work_per_step=place.counted,
    )


def dimensions(size: str) -> Dimensions:
    """The dimensions of a size of this workload."""
    facts = FACTS["sizes"][size]  # type: ignore[index]
    return Dimensions(
        numeric=facts["numeric"],
        tables=facts["tables"],
        rows=facts["rows"],
        width=facts["width"],
        bottom=tuple(int(width) for width in facts["bottom"].split("-")),
        top=tuple(int(width) for width in facts["top"].split("-")),
    )


def _held(inputs: tuple[Tensor, Tensor], precision: str) -> tuple[Tensor, Tensor]:
    """Numeric features in the precision that the weights are held in."""
    numeric, rows = inputs
    return numeric.to(DTYPES.get(precision, numeric.dtype)), rows
