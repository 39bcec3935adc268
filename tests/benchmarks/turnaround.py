"""From the request to launch two gloo ranks until both are gone: the local launcher against torchrun.

Both do the same work (join, one all-reduce, leave), alternated in one run. Run by hand:
`python tests/benchmarks/turnaround.py`. The last line is one JSON document: medians, and the ratio.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from study.domain.record import Failed
from study.domain.study import Protocol
from study.domain.trial import Cell
from study.lab.launchers.local import Local
from study.lab.stop import StopRequest

ROUNDS = 11
HERE = Path(__file__).resolve().parent
CELL = Cell(
    workload="nothing",
    size="none",
    task="check",
    strategy="ddp",
    accelerator="cpu",
    devices=2,
    precision="fp32",
    batch=2,
    threads_per_device=1,
    mesh={"data": 2},
)


def ours(launcher: Local, folder: Path) -> float:
    """Seconds of one launch by the forkserver; both ranks must have ended well, having left no reading."""
    start = time.perf_counter()
    ended = launcher.launch(trial="t", cell=CELL, protocol=Protocol(), seed=0, folder=folder, limit_s=60.0)
    seconds = time.perf_counter() - start
    if not (isinstance(ended.outcome, Failed) and ended.outcome.cause == "invalid"):
        raise RuntimeError(f"the ranks did not meet: {ended.outcome}")
    return seconds


def torchruns() -> float:
    """Seconds of one launch by torchrun."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    start = time.perf_counter()
    # gloo on the loopback, as the local launcher has it: a host's own name need not resolve
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    script = str(HERE / "turnaround_rank.py")
    subprocess.run([*command, script], check=True, capture_output=True, env=environment)
    return time.perf_counter() - start


def main() -> None:
    """Alternate the two, so that whatever else the machine does hits both."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Local(stop=StopRequest(), entry="turnaround_rank:serve", sys_path=[str(HERE)]) as launcher,
    ):
        ours(launcher, Path(folder))  # the first also waits for the server to have loaded torch
        pairs = [(ours(launcher, Path(folder)), torchruns()) for _ in range(ROUNDS)]
    local = statistics.median(pair[0] for pair in pairs)
    torchrun = statistics.median(pair[1] for pair in pairs)
    ratio = statistics.median(pair[1] / pair[0] for pair in pairs)
    print(f"local {local:.3f} s, torchrun {torchrun:.2f} s, {ratio:.0f} times (medians of {ROUNDS} pairs)")
    print(json.dumps({"local_s": local, "torchrun_s": torchrun, "ratio": ratio, "pairs": pairs}))


if __name__ == "__main__":
    main()
