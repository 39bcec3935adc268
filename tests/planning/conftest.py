"""Shelves that do not change when the real ones grow."""

import pytest

from study.domain.shelf import AcceleratorFacts, StrategyFacts, TaskFacts, WorkloadFacts
from study.planning.cells import Shelves


@pytest.fixture
def shelves() -> Shelves:
    """Two workloads, three strategies, two accelerators."""
    strategies = ("single", "ddp", "pairs")
    return Shelves(
        workloads={
            "gpt": WorkloadFacts(
                summary="a model",
                tasks={
                    "train": TaskFacts(
                        unit="tokens",
                        options={"sequence": 64, "rate": 0.5},
                        ranges={"rate": (0.0, 1.0)},
                        fits={"context": ("sequence",)},
                    ),
                    "infer": TaskFacts(unit="tokens", options={}),
                },
                sizes={"tiny": {"context": 128}, "small": {"context": 256}},
                precisions=("fp32", "bf16", "fp16"),
                strategies=strategies,
            ),
            "nap": WorkloadFacts(
                summary="no torch",
                tasks={"check": TaskFacts(unit="items")},
                sizes={"one": {}},
                precisions=("fp32",),
                strategies=("single",),
                needs_torch=False,
            ),
            "seamless": WorkloadFacts(
                summary="a model without seams",
                tasks={"train": TaskFacts(unit="images")},
                sizes={"one": {}},
                precisions=("fp32",),
                strategies=("single",),
            ),
        },
        strategies={
            "single": StrategyFacts(
                summary="one",
                tasks=("train", "infer", "check"),
                min_devices=1,
                max_devices=1,
                copies=True,
                startup_s=0.0,
            ),
            "ddp": StrategyFacts(
                summary="copies",
                tasks=("train", "infer"),
                min_devices=1,
                max_devices=None,
                copies=True,
                startup_s=0.1,
            ),
            "pairs": StrategyFacts(
                summary="two", tasks=("train",), min_devices=2, max_devices=2, copies=False, startup_s=0.1
            ),
        },
        accelerators={
            "cpu": AcceleratorFacts(
                summary="cpu", backend="gloo", precisions=("fp32", "bf16"), startup_s=0.2
            ),
            "cuda": AcceleratorFacts(
                summary="gpu", backend="nccl", precisions=("fp32", "fp16"), startup_s=5.0
            ),
        },
    )
