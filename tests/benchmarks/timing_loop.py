"""What the timing loop itself costs per step: an empty job, timed by its own window.

Run by hand: `python tests/benchmarks/timing_loop.py`. The last line is one JSON document. A step of a
millisecond is long against a cost of a microsecond; compare the number before and after a change.
"""

import json
import tempfile
from pathlib import Path
from statistics import median

from study.worker.accelerators import cpu
from study.worker.contracts import Evidence, Window
from study.worker.group import Alone
from study.worker.heartbeat import Heart
from study.worker.timing import measure, step_ns

STEPS = 20_000
REPEATS = 15


class Nothing:
    """A job whose step does nothing."""

    work_unit = "items"
    work_per_step = 1
    parameters = None

    def begin(self) -> None:
        """Nothing starts."""

    def step(self) -> None:
        """Nothing is done."""

    def evidence(self, first: object, window: Window) -> Evidence:
        return Evidence()


def main() -> None:
    """Time many empty windows and tell the median cost of a step, and of what the steps do not see."""
    with tempfile.TemporaryDirectory() as folder:
        heart = Heart(Path(folder), 0)
        windows, deaf = [], []
        for _ in range(REPEATS):  # in turn, so that what the machine does hits both
            windows.append(measure(Nothing(), STEPS, cpu, Alone(), heart=heart))
            deaf.append(measure(Nothing(), STEPS, cpu, Alone()))
    cost_ns, deaf_ns = (median((w.end_ns - w.start_ns) / STEPS for w in each) for each in (windows, deaf))
    ends_ns = median(w.end_ns - w.start_ns - sum(step_ns(w, cpu)) for w in windows)
    print(f"{cost_ns:.0f} ns a step, {deaf_ns:.0f} without a heartbeat; {ends_ns:.0f} ns at a window's ends")
    costs = {"step_cost_ns": cost_ns, "without_heartbeat_ns": deaf_ns, "ends_cost_ns": ends_ns}
    print(json.dumps({**costs, "steps": STEPS, "repeats": REPEATS}))


if __name__ == "__main__":
    main()
