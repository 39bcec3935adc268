"""Warming up, and agreeing on the length of the window: all ranks take the same number of steps.

The window opens after what happens once: compilation, growth of memory, rebuilt buckets. So the warm-up goes
on by whole rounds until one passed on all ranks without any of these, or until there were many of them.

Ranks that train together must step together, so neither may be decided by one rank's clock: each
says what it needs, and the largest answer holds for all.
"""

import math
from dataclasses import dataclass

from study.domain.record import MOST_EXTRA_ROUNDS
from study.domain.study import Protocol
from study.worker.contracts import Group, Job, Note
from study.worker.events import Look, happened, nothing
from study.worker.timing import Marker, measure, pace_ns, step_ns

LEAST_STEPS = 3
"""Where events are counted: what happens in a second step is counted with the third."""


@dataclass(frozen=True, kw_only=True)
class WarmUp:
    """The steps before the window: their times, and what the first of them left behind."""

    step_ns: tuple[int, ...]
    first: Note


def warm_up(
    job: Job, protocol: Protocol, accelerator: Marker, group: Group, *, look: Look = nothing
) -> WarmUp:
    """Step until every rank has done `warmup_steps` steps that took `warmup_s` seconds in all, and is quiet.

    Each round at most doubles the steps so far, so that a first step that was too quick or too slow
    to be typical cannot decide how long the warm-up lasts. `look` reads the counters of events.
    """
    seen = look()
    window = measure(job, protocol.warmup_steps, accelerator, group)
    times = step_ns(window, accelerator)
    first = window.notes[0]
    extra = 0
    while True:
        seen, before = look(), seen
        left_ns = protocol.warmup_s * 1e9 - sum(times)
        wanted = math.ceil(left_ns / max(pace_ns(times), 1.0)) if left_ns > 0 else 0
        more = int(group.max(min(wanted, len(times))))
        if more == 0:
            is_quiet = not happened(before, seen) and (not seen or len(times) >= LEAST_STEPS)
            if int(group.max(0 if is_quiet or not _has_time(extra, times, protocol) else 1)) == 0:
                return WarmUp(step_ns=times, first=first)
            more, extra = protocol.warmup_steps, extra + 1
        times += step_ns(measure(job, more, accelerator, group), accelerator)


def _has_time(extra: int, times: tuple[int, ...], protocol: Protocol) -> bool:
    """Whether one more round is due: a load that never comes to rest must not eat the trial's time."""
    room_s = (protocol.time_limit_s - protocol.preheat_s - protocol.window_s) / 2
    return extra < MOST_EXTRA_ROUNDS and sum(times) / 1e9 < room_s


def window_steps(protocol: Protocol, warm: WarmUp, group: Group) -> int:
    """Steps of the window: as the study says, or as many as fill `window_s` at the slowest rank's pace.

    An explicit `window_steps` is taken as it is; `min_steps` bounds only a number that was computed.
    """
    if protocol.window_steps is not None:
        return protocol.window_steps
    slowest_ns = max(group.max(pace_ns(warm.step_ns)), 1.0)
    return max(protocol.min_steps, math.ceil(protocol.window_s * 1e9 / slowest_ns))
