"""The workload gpt with a fault at its seventh step: it raises, hungers for memory, or stops learning."""

import os
import signal
import time
from typing import Any

import torch

from study.worker.contracts import Job, Place
from study.worker.workloads import gpt

FACTS = {
    "summary": "The workload gpt, going wrong on purpose.",
    "tasks": {
        "train": {"unit": "tokens", "options": {"sequence": 16, "fault": "", "rank": 0}},
        "infer": {"unit": "tokens", "options": {"prompt": 4, "generate": 4, "fault": "", "rank": 0}},
    },
    "sizes": {"tiny": {}},
    "precisions": ("fp32",),
    "seams": {"copies": ""},
}


def build(place: Place) -> Job:
    """The job of gpt, whose step fails as the option `fault` says on rank `rank`."""
    job: Any = gpt.build(place)
    sound, steps = job.step, iter(range(1_000_000))

    def step() -> Any:
        if place.rank == int(place.cell.options["rank"]) and next(steps) == 6:
            fail(job, str(place.cell.options["fault"]))
        return sound()

    job.step = step
    return job


def fail(job: Any, fault: str) -> None:
    """Go wrong in the way that is asked for."""
    if fault == "raise":
        raise ValueError("a fault on purpose")
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "hang":
        time.sleep(3600)
    if fault == "memory":
        torch.empty(1 << 50, dtype=torch.uint8)
    if fault == "accelerator memory":
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")
    if fault == "nan":
        with torch.no_grad():
            next(iter(job.runner.named_parameters()))[1].fill_(float("nan"))
    if fault == "wrong sign":
        for group in job._optimiser.param_groups:
            group["maximize"] = True
