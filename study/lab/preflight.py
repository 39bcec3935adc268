"""What must be true before a run may start; each refusal says what stands in the way and what to do."""

import re
import shutil
from pathlib import Path

from study.domain.errors import NotReady
from study.domain.machine import WorkerFacts
from study.domain.shelf import WorkloadFacts, facts
from study.domain.trial import Plan

OLDEST_TORCH = (2, 9)
ROOM_BYTES = 200 * 1000 * 1000
"""A long study's records and logs; logs are at most 64 KiB a rank and attempt."""


def needs_torch(plan: Plan) -> bool:
    """Whether any planned workload runs on torch."""
    names = {cell.cell.workload for cell in plan.cells}
    return any(facts("workloads", name, WorkloadFacts).needs_torch for name in sorted(names))


def ready(plan: Plan, worker: WorkerFacts | None, *, runs: Path) -> None:
    """Refuse a plan that cannot run here. `worker` is null where torch was not asked; `runs` is the archive.

    Raises:
        NotReady: torch is missing or too old, the accelerator or some of its devices are not there,
            or the disk is full.
    """
    if needs_torch(plan):
        if worker is None:
            raise NotReady("This plan needs PyTorch, which is not here.", _install())
        check_torch(worker.torch)
    if worker is not None:
        check_devices(plan, worker)
    elif plan.accelerator != "cpu":
        raise NotReady(
            f"This plan runs on `{plan.accelerator}`, and without PyTorch nothing can use it.", _install()
        )
    check_room(runs)


def _install() -> str:
    return f"Install PyTorch {'.'.join(map(str, OLDEST_TORCH))} or newer, or choose a study that needs none."


def check_torch(version: str) -> None:
    """Refuse a version of torch that is too old.

    Raises:
        NotReady: it is older than 2.9, or cannot be told.
    """
    found = re.match(r"(\d+)\.(\d+)", version)
    if not found or (int(found[1]), int(found[2])) < OLDEST_TORCH:
        raise NotReady(f"PyTorch {version} is too old, or of an unknown version.", _install())


def check_devices(plan: Plan, worker: WorkerFacts) -> None:
    """Refuse a plan whose devices torch cannot use here.

    On `cpu` a device is a rank, of which there may be more than cores; elsewhere it is a thing.

    Raises:
        NotReady: the accelerator or some of its devices are not there.
    """
    usable = worker.devices.get(plan.accelerator)
    if usable is None:
        works = ", ".join(f"`{name}`" for name in sorted(worker.devices)) or "none"
        raise NotReady(
            f"PyTorch cannot use the accelerator `{plan.accelerator}` here; what works: {works}.",
            "Install the build of PyTorch for it and its driver, or set `accelerator` in the study.",
        )
    most = max((cell.cell.devices for cell in plan.cells), default=0)
    if plan.accelerator != "cpu" and most > len(usable):
        raise NotReady(
            f"The plan has cells on {most} devices; PyTorch can use {len(usable)} of `{plan.accelerator}`.",
            "Plan for the devices that are there, or look whether CUDA_VISIBLE_DEVICES hides some.",
        )


def check_room(runs: Path) -> int:
    """The bytes that are free where the archive is, or will be.

    Raises:
        NotReady: they are too few for a run.
    """
    folder = runs.absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < ROOM_BYTES:
        raise NotReady(
            f"Only {free / 1e6:.0f} MB are free where {runs} is; a run wants {ROOM_BYTES / 1e6:.0f} MB.",
            "Make room, or store the run elsewhere with --runs.",
        )
    return free
