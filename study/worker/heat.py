"""Preheating: a rank runs its own load until the temperature of its device hardly moves any more.

Training rates are hot rates, and so the state in which a window opens does not depend on the trial before
it. Source: method page, order and heat: under 1 °C a minute over the last minute, five minutes at most.
"""

import math
import time
from collections.abc import Callable, Sequence

from study.domain.record import Preheat
from study.domain.study import Protocol
from study.worker.contracts import Group, Job
from study.worker.timing import Marker, measure, step_ns

Temperature = tuple[float | None, str]
"""Degrees Celsius, or nothing and the reason."""

ROUND_S = 1.0
SPAN_S = 60.0
LEAST_S = 10.0
"""A sensor of whole degrees says nothing about a slope over less."""


def preheat(
    job: Job,
    protocol: Protocol,
    accelerator: Marker,
    group: Group,
    *,
    pace_ns: float,
    read: Callable[[], Temperature],
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Preheat, tuple[int, ...]]:
    """Run `job` until every rank's temperature is level, at most for `preheat_s`.

    Returns how it went on this rank, and the step times of its last round in nanoseconds. A rank without a
    sensor does not ask to go on.
    """
    if not protocol.preheat_s:
        return Preheat(seconds=0.0, ended="off"), ()
    began = clock()
    seen: list[tuple[float, float]] = []
    last: tuple[int, ...] = ()
    level = blind = False
    while True:
        now = clock() - began
        degrees, _ = read()
        blind = degrees is None
        if degrees is not None:
            seen.append((now, degrees))
        level = is_level(seen, protocol.preheat_slope_c_per_min)
        wants = not (level or blind or now >= protocol.preheat_s)
        left_s = min(ROUND_S, protocol.preheat_s - now)
        steps = max(1, math.ceil(left_s * 1e9 / max(pace_ns, 1.0))) if wants else 0
        # A rank that has enough goes on with those that have not, or they would wait for it for ever.
        steps = int(group.max(steps))
        if steps == 0:
            break
        last = step_ns(measure(job, steps, accelerator, group), accelerator)
    return Preheat(seconds=round(now, 3), ended="level" if level else "no_sensor" if blind else "limit"), last


def is_level(seen: Sequence[tuple[float, float]], limit_c_per_min: float) -> bool:
    """Whether temperatures (seconds, °C) of the last minute, ten seconds at least, moved by less."""
    if not seen:
        return False
    recent = [(at, degrees) for at, degrees in seen if at >= seen[-1][0] - SPAN_S]
    if recent[-1][0] - recent[0][0] < LEAST_S:
        return False
    return abs(slope_c_per_min(recent)) < limit_c_per_min


def slope_c_per_min(seen: Sequence[tuple[float, float]]) -> float:
    """The least-squares slope through temperatures (seconds, °C) at two moments or more."""
    mean_s = math.fsum(at for at, _ in seen) / len(seen)
    mean_c = math.fsum(degrees for _, degrees in seen) / len(seen)
    spread = math.fsum((at - mean_s) ** 2 for at, _ in seen)
    return 60.0 * math.fsum((at - mean_s) * (degrees - mean_c) for at, degrees in seen) / spread
