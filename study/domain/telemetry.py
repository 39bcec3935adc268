"""Sensor readings on the same monotonic clock as the step times."""

from study.domain.fact import Fact


class Sample(Fact, frozen=True, kw_only=True):
    """One sensor read once. `value` is null with a reason when the sensor did not answer."""

    time_ns: int
    target: str
    sensor: str
    unit: str
    value: float | None
    reason: str = ""
