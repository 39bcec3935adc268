"""The shelf of launchers: one file each, found by its name.

A launcher file states `FACTS`, a literal of `study.domain.shelf.LauncherFacts`, and offers

    launcher(*, stop: StopRequest, torch: bool = True) -> AbstractContextManager[Launcher]

which starts nothing before it is entered. `torch` says whether any planned workload needs torch.
Inside the `with` block the launcher keeps these promises:

* `launch` starts one process for each of the cell's devices, each in a session of its own, with an
  environment made from an allow-list and an `Order` as its only argument, and returns when every
  process of the attempt is gone. It never raises for what a rank did: that is an outcome.
* The first failure ends the whole trial; so does the time limit; so does `stop`, within 0.1 s.
* Each attempt has a fresh folder inside `folder`, with the rendezvous, the ranks' logs, readings and errors.
* When the block is left, or the run is killed by whatever signal, no process stays behind.
"""

from pathlib import Path
from typing import Protocol

from study.domain.fact import Fact
from study.domain.record import Outcome
from study.domain.study import Protocol as Measuring
from study.domain.trial import Cell


class Attempt(Fact, frozen=True, kw_only=True):
    """How one launch ended, and what its ranks printed: scrubbed and capped, by `rank0`, `rank1`, ..."""

    outcome: Outcome
    logs: dict[str, str]


class Launcher(Protocol):
    """What the loop asks of a launcher."""

    name: str

    def launch(
        self, *, trial: str, cell: Cell, protocol: Measuring, seed: int, folder: Path, limit_s: float
    ) -> Attempt:
        """Run one attempt to its end.

        Raises:
            NotReady: the ranks cannot be started at all, or one of them cannot be ended.
        """
        ...

    def cpu_ns(self) -> int | None:
        """CPU time used so far by all that was started here and has ended; null where it is not known."""
        ...
