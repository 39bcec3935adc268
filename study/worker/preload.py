"""Everything that is slow to import, for a forkserver to load once, before it forks ranks.

It runs no operation, starts no thread and touches no CUDA: a fork copies only the thread that forks,
and a CUDA context not at all. Unlike any other module it may not be imported for anything else.
"""

import importlib
import os

# torch imports numpy, whose OpenBLAS starts a pool of threads when it loads. Ranks do no linear
# algebra in numpy, and the server must have one thread when it forks.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch
import torch._dynamo  # the first AdamW imports it: more than a second, inside a trial
import torch.distributed
import torch.distributed.fsdp
import torch.distributed.pipelining
import torch.distributed.tensor.parallel
import torch.nn.parallel  # noqa: F401

import study.worker.parameters
import study.worker.ranks
import study.worker.runners
import study.worker.schedules
import study.worker.shards
import study.worker.splits
import study.worker.stages  # noqa: F401
from study.domain.shelf import module_names

# Files of ours only: what another distribution's file does when it is imported is not known.
for _shelf in ("accelerators", "strategies", "workloads"):
    for _module in module_names(_shelf).values():
        if _module.startswith("study.worker."):
            importlib.import_module(_module)
