"""One rank of one trial: from the order to the reading, or to the error that says why there is none.

    CPUs → seeds and threads → device → group → job under its strategy
      → warm-up → preheating → window → checks → reading

A launcher starts a fresh process, sends its output to the rank's log, calls `serve` and ends the
process with the code that it returns.
"""

import gc
import importlib
import math
import multiprocessing
import multiprocessing.context
import os
import random
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import msgspec

from study.domain.fact import Fact, require_reasons
from study.domain.heartbeat import WARM_UP
from study.domain.record import CountedEvent, Preheat, Reading
from study.domain.shelf import AcceleratorFacts, WorkloadFacts, module_names
from study.domain.trial import Order
from study.worker.binding import bind, bound, nodes_of
from study.worker.contracts import Accelerator, Evidence, Group, Invalid, Job, Place, Strategy, Window
from study.worker.events import counted, look_at
from study.worker.failures import EXIT_CODES, rank_error
from study.worker.group import Alone, FileGroup, TorchGroup
from study.worker.heartbeat import Heart
from study.worker.heat import Temperature, preheat
from study.worker.switches import switches
from study.worker.timing import measure, pace_ns, step_ns
from study.worker.warmup import WarmUp, warm_up, window_steps


def serve(order: bytes) -> int:
    """Run the rank that `order` describes (JSON of `study.domain.trial.Order`).

    Leaves `reading-<rank>.json` (`Reading`) or `error-<rank>.json` (`RankError`) in the order's folder.
    Returns the code to exit with: 0, or 1 if it raised, 2 if out of memory, 3 if the result is invalid,
    4 if the ranks could not meet.
    """
    told = msgspec.json.decode(order, type=Order)
    try:
        _leave(told, "reading", run(told))
    except Exception as error:
        fact = rank_error(error, told.rank, time.perf_counter_ns())
        # The file first: a peer may die of this failure's echo any moment, and the earlier clock wins.
        _leave(told, "error", fact)
        traceback.print_exception(error)
        return EXIT_CODES[fact.kind]
    return 0


def run(order: Order) -> Reading:
    """The whole life of a rank inside its process.

    Raises:
        Invalid: the order cannot be measured, or what was measured is not the work that was asked for.
    """
    cell = order.cell
    not_pinned = bind(order.cpus) if order.cpus else order.not_pinned
    heart = Heart(Path(order.folder), order.rank)
    workload = importlib.import_module(_module("workloads", cell.workload))
    needs_torch = msgspec.convert(workload.FACTS, WorkloadFacts).needs_torch
    _require_fresh()
    # Work that needs no torch never touches a device: it stands on the host, whatever the study's
    # accelerator is.
    place_name = cell.accelerator if needs_torch else "cpu"
    accelerator = cast("Accelerator", importlib.import_module(_module("accelerators", place_name)))
    strategy = cast("Strategy", importlib.import_module(_module("strategies", cell.strategy)))
    place = standing(order, accelerator, strategy)
    _seed(order.seed, needs_torch)
    local_rank = order.rank % (order.world_size // cell.nodes)
    device = accelerator.open_device(local_rank, cell.threads_per_device, cell.precision)
    place = replace(place, device=device)
    look = look_at(accelerator, strategy, runner=lambda: place.runners[-1] if place.runners else None)
    with _joined(order, accelerator, strategy, needs_torch, device) as group:
        job: Job = workload.build(place)
        no_peak = accelerator.reset_peak_memory()
        heart.enter(WARM_UP)
        begin = look()
        warm = warm_up(job, order.protocol, accelerator, group, look=look)
        heated, last = preheat(
            job,
            order.protocol,
            accelerator,
            group,
            pace_ns=pace_ns(warm.step_ns),
            read=lambda: _temperature(accelerator),
        )
        # The window takes up where the last of the preheating left off, so these steps set its pace.
        warm = WarmUp(step_ns=warm.step_ns + last, first=warm.first)
        steps = window_steps(order.protocol, warm, group)
        heart.expect(steps * pace_ns(warm.step_ns))
        opening, start_c = look(), _temperature(accelerator)
        with _no_collections():
            window = measure(job, steps, accelerator, group, heart=heart)
        state = _State(
            preheat=heated,
            start_c=start_c,
            end_c=_temperature(accelerator),
            events=counted(begin, opening, look()),
            not_pinned=not_pinned,
        )
        peak = None if no_peak else accelerator.peak_memory_bytes()
        evidence = job.evidence(warm.first, window)
    return _reading(
        order,
        accelerator,
        job,
        warm=warm,
        window=window,
        state=state,
        evidence=evidence,
        peak_memory_bytes=peak,
        no_peak=no_peak,
    )


def standing(order: Order, accelerator: Accelerator, strategy: Strategy) -> Place:
    """Where the rank that `order` describes stands, before its device is open.

    Raises:
        Invalid: the mesh is not made of the ranks there are, or the batch cannot be shared so.
    """
    cell, rank = order.cell, order.rank
    if math.prod(cell.mesh.values()) != order.world_size:
        raise Invalid(f"A mesh of {dict(cell.mesh)} is not made of {order.world_size} ranks.")
    return Place(
        cell=cell,
        seed=order.seed,
        rank=rank,
        world_size=order.world_size,
        device=None,
        accelerator=accelerator,
        share=strategy.share(cell.batch, rank, cell.mesh),
        counted=strategy.counted(cell.batch, rank, cell.mesh),
        strategy=strategy,
    )


def _reading(
    order: Order,
    accelerator: Accelerator,
    job: Job,
    *,
    warm: WarmUp,
    window: Window,
    state: "_State",
    evidence: Evidence,
    peak_memory_bytes: int | None,
    no_peak: str,
) -> Reading:
    unknown = {}
    if evidence.loss_first is None:
        unknown["loss_first"] = evidence.no_loss
    if job.parameters is None:
        unknown["parameters"] = "nothing is computed"
    if peak_memory_bytes is None:
        unknown["peak_memory_bytes"] = no_peak
    if evidence.flops.per_step is None:
        unknown["model_flops_per_step"] = evidence.flops.reason
    cpus, no_cpus = bound()
    nodes, no_nodes = nodes_of(cpus) if cpus is not None else (None, no_cpus)
    reasons = {
        "cpus": no_cpus,
        "numa_nodes": no_nodes,
        "pinned": no_cpus,
        "temperature_start_c": state.start_c[1],
        "temperature_end_c": state.end_c[1],
    }
    unknown.update({name: why for name, why in reasons.items() if why})
    times = step_ns(window, accelerator)
    reading = Reading(
        rank=order.rank,
        device=accelerator.device_name(),
        threads=accelerator.threads() or order.cell.threads_per_device,
        start_method=start_method(),
        window_start_ns=window.start_ns,
        window_end_ns=window.end_ns,
        warmup_step_ns=warm.step_ns,
        step_ns=times,
        work=len(times) * job.work_per_step,
        work_unit=job.work_unit,
        loss_first=evidence.loss_first,
        loss=evidence.loss,
        first_token_ns=evidence.first_token_ns,
        token_ns=evidence.token_ns,
        parameters=job.parameters,
        peak_memory_bytes=peak_memory_bytes,
        cpu_ns=window.cpu_ns,
        numerics=accelerator.numerics(),
        model_flops_per_step=evidence.flops.per_step,
        cpus=cpus,
        numa_nodes=nodes,
        pinned=None if cpus is None else not state.not_pinned and cpus == tuple(sorted(order.cpus)),
        not_pinned=state.not_pinned,
        events=state.events,
        preheat=state.preheat,
        temperature_start_c=state.start_c[0],
        temperature_end_c=state.end_c[0],
        environment=switches(os.environ),
        unknown=unknown,
    )
    require_reasons(reading, reading.unknown)
    require_reasons(reading.numerics, reading.numerics.unknown)
    return reading


@dataclass(frozen=True, kw_only=True)
class _State:
    """In what state the rank and its device were, around the window."""

    preheat: Preheat
    start_c: Temperature
    end_c: Temperature
    events: tuple[CountedEvent, ...]
    not_pinned: str


def _temperature(accelerator: Accelerator) -> Temperature:
    """The temperature of the rank's device; an accelerator need not know it, and no sensor fails a trial."""
    read = getattr(accelerator, "temperature_c", None)
    if read is None:
        return None, "this accelerator does not tell its temperature"
    try:
        found: Temperature = read()
    except Exception as error:  # whatever a driver that is going away raises
        return None, f"the temperature could not be read ({type(error).__name__})"
    return found


def start_method() -> str:
    """How this process came to be: forkserver, spawn or fork of multiprocessing, else exec."""
    me = multiprocessing.current_process()
    for kind in ("ForkServer", "Spawn", "Fork"):
        if isinstance(me, getattr(multiprocessing.context, f"{kind}Process")):
            return kind.lower()
    return "exec"


@contextmanager
def _joined(
    order: Order, accelerator: Accelerator, strategy: Strategy, needs_torch: bool, device: Any
) -> Iterator[Group]:
    """The group of this trial's ranks, left in order on success and at once on failure."""
    group = _group(order, accelerator, strategy, needs_torch, device)
    try:
        yield group
    except BaseException:
        # What went wrong first is what is told, not that leaving went wrong as well.
        with suppress(Exception):
            group.abort()
        raise
    group.close()


def _group(
    order: Order, accelerator: Accelerator, strategy: Strategy, needs_torch: bool, device: Any
) -> Group:
    if not needs_torch:
        if order.world_size == 1:
            return Alone()
        return FileGroup(order)
    if not strategy.JOINS_GROUP:
        return Alone()
    facts = msgspec.convert(cast("Any", accelerator).FACTS, AcceleratorFacts)
    return TorchGroup(order, facts.backend, device)


def _require_fresh() -> None:
    """CUDA must not have been touched before this rank: a forked context does not work."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        raise RuntimeError("CUDA was initialised before the rank began; start ranks from a clean process")


def _seed(seed: int, needs_torch: bool) -> None:
    """The same seed on every rank, so that every rank builds the same model."""
    random.seed(seed)
    if needs_torch:
        import torch

        torch.manual_seed(seed)


@contextmanager
def _no_collections() -> Iterator[None]:
    """No garbage collection inside the window; what lives by then is frozen out of later ones."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _module(shelf: str, name: str) -> str:
    names = module_names(shelf)
    if name not in names:
        raise Invalid(f"There is no {name!r} on the shelf of {shelf}; there are {', '.join(names)}.")
    return names[name]


def _leave(order: Order, what: str, fact: Fact) -> None:
    """Write a file whole or not at all: a launcher may look at any moment."""
    final = Path(order.folder) / f"{what}-{order.rank}.json"
    part = final.with_suffix(".part")
    part.write_bytes(msgspec.json.encode(fact))
    part.replace(final)
