"""Fresh ranks from a process that has torch loaded, as the launcher's are: each is spared seconds of imports.

Started as `python rank_server.py`; a line of JSON (`Launch`) on its input forks a process per rank, and when
all have ended a line on its output has their exit codes.
"""

import importlib
import multiprocessing
import os
import signal
import sys
from multiprocessing.process import BaseProcess
from pathlib import Path

import msgspec

from study.domain.fact import Fact

PATIENCE_S = 240


class Launch(Fact, frozen=True, kw_only=True):
    """The order of each rank as JSON, and the file that takes what it prints."""

    orders: tuple[str, ...]
    logs: tuple[str, ...]


def serve_rank(order: str, log: str) -> None:
    """One rank: it ends for good after its order, or where it takes too long."""
    signal.alarm(PATIENCE_S)
    with Path(log).open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    code = importlib.import_module("study.worker.ranks").serve(order.encode())
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main() -> None:
    """Serve until the input ends."""
    importlib.import_module("study.worker.preload")
    fork = multiprocessing.get_context("fork")
    for line in sys.stdin:
        launch = msgspec.json.decode(line, type=Launch)
        ranks: list[BaseProcess] = []
        for each in zip(launch.orders, launch.logs, strict=True):
            ranks.append(fork.Process(target=serve_rank, args=each))
            ranks[-1].start()
        for rank in ranks:
            rank.join()
        print(msgspec.json.encode([rank.exitcode for rank in ranks]).decode(), flush=True)


if __name__ == "__main__":
    main()
