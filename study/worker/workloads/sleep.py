"""The workload `sleep`: an instrument check whose true speed-up is known by construction.

A step at n devices lasts `step_ms × (s + (1 - s)/n)` with s the `serial_share`, so the true strong
speed-up is Amdahl's 1/(s + (1 - s)/n) (Amdahl 1967). Nothing is computed: what the study reports
beyond that truth is the instrument's own error. The standard library is all it needs.
"""

import math
import random
import time
from collections.abc import Callable

from study.worker.contracts import Evidence, Invalid, Job, Note, Place, Window

FACTS = {
    "summary": "Sleeps with a known serial share: the speed-up is Amdahl's, which checks the instrument.",
    "tasks": {
        "check": {
            "unit": "items",
            "options": {"step_ms": 20.0, "serial_share": 0.1, "jitter": 0.005},
            "ranges": {"step_ms": (0.1, 60_000.0), "serial_share": (0.0, 1.0), "jitter": (0.0, 1.0)},
        },
    },
    "sizes": {"amdahl": {}},
    "precisions": ("fp32",),
    "seams": {"copies": ""},
    "needs_torch": False,
}

SPIN_NS = 300_000


def build(place: Place) -> Job:
    """The job of one rank.

    Raises:
        Invalid: a duration that is not positive, or a share outside 0 to 1.
    """
    options = place.cell.options
    step_ms, serial_share = float(options["step_ms"]), float(options["serial_share"])
    if not (step_ms > 0 and 0 <= serial_share <= 1):
        raise Invalid(
            f"A step of {step_ms:g} ms with a serial share of {serial_share:g} does not exist: "
            "the duration must be positive, the share between 0 and 1."
        )
    factor = trial_factor(place.seed, float(options["jitter"]))
    return Sleeping(
        step_ns=step_duration_ns(step_ms * factor, serial_share, place.world_size),
        work_per_step=place.counted,
    )


def step_duration_ns(step_ms: float, serial_share: float, devices: int) -> float:
    """Nanoseconds of a step at so many devices, by Amdahl's law."""
    return step_ms * 1e6 * (serial_share + (1 - serial_share) / devices)


def trial_factor(seed: int, jitter: float) -> float:
    """How much longer this trial's steps are: exp(jitter × N(0, 1)), the same on all of its ranks.

    So log rates of trials vary with a standard deviation of exactly `jitter`: a noise that is known.
    """
    return math.exp(jitter * random.Random(f"sleep/{seed}").gauss(0.0, 1.0))  # noqa: S311 - noise, not secrets


class Sleeping:
    """Steps that end at absolute times, each `step_ns` after the one before.

    Waking late is made up for by the next step, so that lateness does not add up over a window; the
    last stretch of each wait is spun, since sleeping alone wakes some 0.1 ms late.
    """

    work_unit = "items"
    parameters = None

    def __init__(
        self,
        *,
        step_ns: float,
        work_per_step: int,
        clock: Callable[[], int] = time.perf_counter_ns,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`step_ns` may have a fraction: rounding must not add up either."""
        self.work_per_step = work_per_step
        self._step_ns = step_ns
        self._clock = clock
        self._sleep = sleep
        self._start_ns: int | None = None
        self._steps = 0

    def begin(self) -> None:
        """The chain starts anew with the next step."""
        self._start_ns = None
        self._steps = 0

    def step(self) -> None:
        if self._start_ns is None:
            self._start_ns = self._clock()
        self._steps += 1
        due_ns = self._start_ns + self._steps * self._step_ns
        rest_ns = due_ns - self._clock() - SPIN_NS
        if rest_ns > 0:
            self._sleep(rest_ns / 1e9)
        while self._clock() < due_ns:
            pass

    def evidence(self, first: Note, window: Window) -> Evidence:  # noqa: ARG002 - there is nothing to check
        """Nothing: the durations are the result."""
        return Evidence()
