"""Shelves that do not change when the real ones grow."""

import pytest

from study.domain.shelf import AcceleratorFacts, StrategyFacts, TaskFacts, WorkloadFacts
from study.planning.cells import Shelves


@pytest.fixture
def shelves() -> Shelves:
    """Two workloads, five strategies, two accelerators."""
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
                    "infer": TaskFacts(unit="tokens", options={}, needs=("cache",)),
                },
                sizes={
                    "tiny": {"context": 128, "layers": 4, "heads": 4},
                    "small": {"context": 256, "layers": 6, "heads": 6},
                },
                precisions=("fp32", "bf16", "fp16"),
                seams={"copies": "", "blocks": "layers", "split": "heads"},
            ),
            "nap": WorkloadFacts(
                summary="no torch",
                tasks={"check": TaskFacts(unit="items")},
                sizes={"one": {}},
                precisions=("fp32",),
                seams={"alone": ""},
                needs_torch=False,
            ),
            "seamless": WorkloadFacts(
                summary="a model without seams",
                tasks={"train": TaskFacts(unit="images")},
                sizes={"one": {}},
                precisions=("fp32",),
                seams={"alone": ""},
            ),
        },
        strategies={
            "single": StrategyFacts(
                summary="one",
                tasks=("train", "infer", "check"),
                min_devices=1,
                max_devices=1,
                startup_s=0.0,
                offers=("cache",),
            ),
            "ddp": StrategyFacts(
                summary="copies",
                tasks=("train", "infer"),
                min_devices=1,
                max_devices=None,
                startup_s=0.1,
                axes=("data",),
                needs=("copies",),
                offers=("cache",),
                shares_batch=("data",),
            ),
            "pairs": StrategyFacts(
                summary="two",
                tasks=("train",),
                min_devices=2,
                max_devices=2,
                startup_s=0.1,
                axes=("pair",),
                needs=("copies",),
            ),
            "pipe": StrategyFacts(
                summary="stages",
                tasks=("train", "infer"),
                min_devices=1,
                max_devices=None,
                startup_s=0.1,
                axes=("stages",),
                needs=("blocks",),
                options={"schedule": "gpipe", "micro_batches": 4, "chunks": 2},
                ranges={"micro_batches": (1, 64), "chunks": (2, 8)},
                choices={"schedule": ("gpipe", "1f1b", "interleaved")},
                at_least={"micro_batches": "stages"},
                applies={"chunks": {"schedule": ("interleaved",)}},
            ),
            "grid": StrategyFacts(
                summary="copies of splits",
                tasks=("train",),
                min_devices=2,
                max_devices=None,
                startup_s=0.1,
                axes=("data", "tensor"),
                needs=("split",),
                shares_batch=("data",),
                options={"tensor": 2, "sequence_parallel": False},
                ranges={"tensor": (1, 64)},
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
