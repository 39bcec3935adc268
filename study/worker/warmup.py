"""Warming up, and agreeing on the length of the window: all ranks take the same number of steps.

Ranks that train together must step together, so neither may be decided by one rank's clock: each
says what it needs, and the largest answer holds for all.
"""

import math
from dataclasses import dataclass

from study.domain.study import Protocol
from study.worker.contracts import Group, Job, Note
from study.worker.timing import Marker, measure, pace_ns, step_ns


@dataclass(frozen=True, kw_only=True)
class WarmUp:
    """The steps before the window: their times, and what the first of them left behind."""

    step_ns: tuple[int, ...]
    first: Note


def warm_up(job: Job, protocol: Protocol, accelerator: Marker, group: Group) -> WarmUp:
    """Step until every rank has done `warmup_steps` steps that took `warmup_s` seconds in all.

    Each round at most doubles the steps so far, so that a first step that was too quick or too slow
    to be typical cannot decide how long the warm-up lasts.
    """
    window = measure(job, protocol.warmup_steps, accelerator, group)
    times = step_ns(window, accelerator)
    first = window.notes[0]
    while True:
        left_ns = protocol.warmup_s * 1e9 - sum(times)
        wanted = math.ceil(left_ns / max(pace_ns(times), 1.0)) if left_ns > 0 else 0
        more = int(group.max(min(wanted, len(times))))
        if more == 0:
            return WarmUp(step_ns=times, first=first)
        times += step_ns(measure(job, more, accelerator, group), accelerator)


def window_steps(protocol: Protocol, warm: WarmUp, group: Group) -> int:
    """Steps of the window: as the study says, or as many as fill `window_s` at the slowest rank's pace.

    An explicit `window_steps` is taken as it is; `min_steps` bounds only a number that was computed.
    """
    if protocol.window_steps is not None:
        return protocol.window_steps
    slowest_ns = max(group.max(pace_ns(warm.step_ns)), 1.0)
    return max(protocol.min_steps, math.ceil(protocol.window_s * 1e9 / slowest_ns))
