"""The clock that the loop is given: this host's monotonic time, the date, and sleep."""

import time
from datetime import UTC, datetime


class Clock:
    """The real clock; tests pass one of their own."""

    def now_ns(self) -> int:
        return time.perf_counter_ns()

    def utc(self) -> str:
        return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
