"""The ranks of one trial meeting: alone, over torch.distributed, or over files without torch.

Every wait is bounded, and a wait that fails says "Timed out waiting" or "Connection closed by peer",
the words by which an echo of another rank's failure is told from a cause.
"""

import os
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from study.domain.trial import Order
from study.worker.contracts import Unmet

TAKEN = ("address already in use", "eaddrinuse", "errno: 98")
"""What torch's store, gloo and NCCL say where a port is taken; the number is Linux's EADDRINUSE."""


class Alone:
    """A world of one: no meeting, no process group, so that the base of every comparison is plain."""

    def barrier(self) -> None:
        """Nobody to wait for."""

    def max(self, value: float) -> float:
        return value

    def close(self) -> None:
        """Nothing was opened."""

    def abort(self) -> None:
        """Nothing was opened."""


class FileGroup:
    """Ranks that meet by writing small files into the attempt's folder, for work that needs no torch.

    At meeting k each rank writes `meet-k-rank` and waits for those of the others. Ranks leave within
    one poll of each other: some 0.1 ms, against 0.3 ms and more for a barrier of gloo.
    """

    POLL_S = 0.00005
    LOOK_FOR_ERRORS_EVERY = 200

    def __init__(
        self,
        order: Order,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder = Path(order.folder)
        self._rank = order.rank
        self._others = tuple(rank for rank in range(order.world_size) if rank != order.rank)
        self._deadline_s = order.deadline_s
        self._clock = clock
        self._sleep = sleep
        self._meeting = 0

    def barrier(self) -> None:
        self.max(0.0)

    def max(self, value: float) -> float:
        """The largest value that any rank brought.

        Raises:
            TimeoutError: a rank did not come within the deadline.
            ConnectionError: a rank has left an error file and will not come.
        """
        meeting, self._meeting = self._meeting, self._meeting + 1
        final = self._path(meeting, self._rank)
        part = final.with_suffix(".part")
        part.write_text(repr(value), encoding="ascii")
        part.rename(final)
        # Whoever came to the last meeting has read everything of the one before it.
        self._path(meeting - 2, self._rank).unlink(missing_ok=True)
        give_up_s = self._clock() + self._deadline_s
        return max(value, *(self._read(meeting, rank, give_up_s) for rank in self._others))

    def close(self) -> None:
        """Leave what is left: a slower rank may still be reading it, and the folder is the launcher's."""

    def abort(self) -> None:
        """The error file in the folder tells the others."""

    def _path(self, meeting: int, rank: int) -> Path:
        return self._folder / f"meet-{meeting}-{rank}"

    def _read(self, meeting: int, rank: int, give_up_s: float) -> float:
        path = self._path(meeting, rank)
        polls = 0
        while not path.exists():
            polls += 1
            if polls % self.LOOK_FOR_ERRORS_EVERY == 0 and any(self._folder.glob("error-*.json")):
                raise ConnectionError(f"Connection closed by peer: a rank failed before meeting {meeting}")
            if self._clock() > give_up_s:
                raise TimeoutError(f"Timed out waiting for rank {rank} for {self._deadline_s:g} s")
            self._sleep(self.POLL_S)
        return float(path.read_text(encoding="ascii"))


class TorchGroup:
    """The process group of torch.distributed over the accelerator's backend."""

    def __init__(self, order: Order, backend: str, device: Any) -> None:
        import torch.distributed as dist

        self._dist = dist
        self._device = device
        self._backend = backend
        one_machine = "://" not in order.store
        if backend == "gloo" and sys.platform == "linux" and one_machine:
            # Without it gloo asks for the address of the host's name, which need not resolve.
            os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        try:
            dist.init_process_group(
                backend,
                init_method=f"file://{order.store}" if one_machine else order.store,
                rank=order.rank,
                world_size=order.world_size,
                timeout=timedelta(seconds=order.deadline_s),
                # NCCL is bound to its device now; else it would guess one at the first barrier.
                device_id=None if device.type == "cpu" else device,
            )
        except Exception as error:
            if any(sign in str(error).lower() for sign in TAKEN):
                raise Unmet(f"The ranks could not meet: {error}") from error
            raise

    def barrier(self) -> None:
        self._dist.barrier()

    def max(self, value: float) -> float:
        import torch

        largest = torch.tensor([value], dtype=torch.float64, device=self._device)
        self._dist.all_reduce(largest, op=self._dist.ReduceOp.MAX)
        return float(largest.item())

    def close(self) -> None:
        """Leave in order, except from gloo, which is left to the end of the process.

        Destroying gloo's group joins its threads while this one holds the interpreter's lock, and those
        may wait for that lock to drop the last barrier: a deadlock in one of some fifteen trials with
        torch 2.13. The group lives as long as the process, whose end closes its sockets.
        """
        if self._backend != "gloo":
            self._dist.destroy_process_group()

    def abort(self) -> None:
        """Leave without waiting: NCCL would wait for collectives that a failed rank never joins."""
        world = self._dist.group.WORLD
        if self._backend != "gloo" and world is not None:
            world.abort()
