"""A workload from another distribution that goes wrong on purpose, without torch."""

import os
import signal
import time

from study.worker.contracts import Evidence, Invalid, Job, Place, Window

FACTS = {
    "summary": "Goes wrong on purpose.",
    "tasks": {"check": {"unit": "items", "options": {"fault": "", "rank": 0}}},
    "sizes": {"one": {}},
    "precisions": ("fp32",),
    "seams": {"copies": ""},
    "needs_torch": False,
}


def build(place: Place) -> Job:
    """A job that fails in the way that the option `fault` names, on rank `rank` only."""
    mine = place.rank == int(place.cell.options["rank"])
    return Faulty(str(place.cell.options["fault"]) if mine else "", place.counted)


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("mute")


class Faulty:
    """Does nothing, then fails at its seventh step."""

    work_unit = "items"
    parameters = None

    def __init__(self, fault: str, work_per_step: int) -> None:
        """`fault` is raise, memory, primitive, address, mute, invalid, kill, hang, or nothing."""
        self.work_per_step = work_per_step
        self._fault = fault
        self._steps = 0

    def begin(self) -> None:
        """Nothing starts."""

    def step(self) -> None:
        self._steps += 1
        if self._steps < 7:
            return
        if self._fault == "raise":
            raise ValueError("a fault on purpose\nwith a second line")
        if self._fault == "memory":
            raise MemoryError("no room on purpose")
        if self._fault == "primitive":
            raise RuntimeError("could not create a primitive")
        if self._fault == "address":
            raise OSError(98, "Address already in use")
        if self._fault == "mute":
            raise Mute
        if self._fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._fault == "hang":
            time.sleep(3600)

    def evidence(self, first: object, window: Window) -> Evidence:
        if self._fault == "invalid":
            raise Invalid("The answer is wrong on purpose.")
        return Evidence()
