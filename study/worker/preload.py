"""Everything that is slow to import, for a forkserver to load once, before it forks ranks.

It runs no operation, starts no thread and touches no CUDA: a fork copies only the thread that forks,
and a CUDA context not at all. Unlike any other module it may not be imported for anything else.
"""

import os

# torch imports numpy, whose OpenBLAS starts a pool of threads when it loads. Ranks do no linear
# algebra in numpy, and the server must have one thread when it forks.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch
import torch._dynamo  # the first AdamW imports it: more than a second, inside a trial
import torch.distributed
import torch.nn.parallel  # noqa: F401

import study.worker.accelerators.cpu
import study.worker.accelerators.cuda
import study.worker.ranks
import study.worker.strategies.ddp
import study.worker.strategies.single
import study.worker.workloads.gpt
import study.worker.workloads.resnet
import study.worker.workloads.sleep  # noqa: F401
