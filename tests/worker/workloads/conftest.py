"""Jobs of one rank, built and stepped in this process."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
import torch

from study.domain.trial import Cell
from study.worker.accelerators import cpu
from study.worker.contracts import Evidence, Place, Window
from study.worker.strategies import single

Build = Callable[..., Any]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """One thread for small models, and threads as they were afterwards."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def build() -> Build:
    """Build a job: `build(workload, task, batch=…, precision=…, share=…, option=…)`."""

    def build(
        workload: str,
        task: str,
        *,
        size: str = "tiny",
        batch: int = 8,
        precision: str = "fp32",
        share: range | None = None,
        **options: str | float,
    ) -> Any:
        cell = Cell(
            workload=workload,
            size=size,
            task=task,
            strategy="single",
            accelerator="cpu",
            devices=1,
            precision=precision,
            batch=batch,
            threads_per_device=1,
            options=options,
        )
        mine = range(batch) if share is None else share
        place = Place(
            cell=cell,
            seed=5,
            rank=0,
            world_size=1,
            device=torch.device("cpu"),
            accelerator=cpu,
            share=mine,
            counted=len(mine),
            strategy=single,
        )
        return import_module(f"study.worker.workloads.{workload}").build(place)

    return build


@pytest.fixture
def evidence() -> Callable[[Any, int], Evidence]:
    """What a job says after so many steps and one before them."""

    def evidence(job: Any, steps: int) -> Evidence:
        job.begin()
        first, *notes = [job.step() for _ in range(steps + 1)]
        window = Window(start_ns=0, end_ns=steps, cpu_ns=0, marks=range(steps + 1), notes=notes)
        return job.evidence(first, window)

    return evidence
