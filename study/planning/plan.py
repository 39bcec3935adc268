"""A study on a machine, made into a plan: cells, series, randomised complete blocks, predicted time."""

import hashlib
import random
import secrets

import msgspec

from study.domain.errors import BadStudyFile, NotReady
from study.domain.shelf import AcceleratorFacts, StrategyFacts, WorkloadFacts, all_facts
from study.domain.study import Protocol, Study
from study.domain.trial import Plan, PlannedCell, PlannedTrial, SkippedCell
from study.planning.cells import Candidate, Shelves, candidates
from study.planning.series import all_series
from study.planning.study_file import nearest

MOST_TRIALS = 100_000


def make_plan(
    study: Study,
    *,
    place: str,
    gpus: int,
    cores: int,
    blocks: int | None = None,
    shelves: Shelves | None = None,
) -> Plan:
    """The plan of `study` on a machine with `gpus` GPUs and `cores` usable CPU cores.

    `cores` are physical cores: two ranks on one core say little about two devices. `place` names the
    study file in errors. `blocks` replaces the protocol's number of blocks. The
    order comes from the protocol's seed, or from a fresh one, which the plan keeps.

    Raises:
        BadStudyFile: the study names what is on no shelf, or no cell of it can run here.
        NotReady: the study asks for an accelerator of which there is no device here.
    """
    shelves = shelves or read_shelves()
    protocol = _settled(study.protocol, blocks)
    accelerator = _accelerator(study, shelves, gpus, place)
    present = cores if accelerator == "cpu" else gpus
    if present < 1:
        raise NotReady(
            f"The study asks for the accelerator {accelerator}, and there is no such device here.",
            'Set accelerator = "auto" or "cpu" in the study, or look with `study check` what is missing.',
        )
    found = candidates(study, shelves, accelerator, present, place)
    runnable = _unique([c for c in found if not c.reason])
    if not runnable:
        reasons = "; ".join(sorted({c.reason for c in found}))
        raise BadStudyFile(place, "no cell of this study can run on this machine", f"The reasons: {reasons}")
    if len(runnable) * protocol.blocks > MOST_TRIALS:
        raise BadStudyFile(
            place,
            f"{len(runnable)} cells in {protocol.blocks} blocks are more than {MOST_TRIALS} trials",
            "Take fewer levels or fewer blocks.",
        )
    cells = tuple(_planned(c, protocol, shelves, cores) for c in runnable)
    _check_time_limit(cells, protocol, place)
    series = tuple(all_series([c for c in found if not c.reason]))
    seconds = [cell.predicted_s for cell in cells if cell.predicted_s is not None]
    whole = len(seconds) == len(cells)
    seed = protocol.seed if protocol.seed is not None else secrets.randbits(32)
    return Plan(
        digest=_digest([accelerator, protocol, cells, series]),
        seed=seed,
        accelerator=accelerator,
        devices_present=present,
        cores_present=cores,
        protocol=protocol,
        cells=cells,
        skipped=tuple(
            SkippedCell(id=c.id, cell=c.cell, reason=c.reason)
            for c in _unique([c for c in found if c.reason])
        ),
        series=series,
        trials=tuple(_blocks([cell.id for cell in cells], protocol.blocks, seed)),
        predicted_s=sum(seconds) * protocol.blocks if whole else None,
        unknown={} if whole else {"predicted_s": WHY_NO_TIME},
    )


WHY_NO_TIME = "the window is given in steps, and how long a step takes is known only once one has run"
WHY_NO_MEMORY = "memory is not predicted for this workload"


def read_shelves() -> Shelves:
    """The facts of every workload, strategy and accelerator, read without importing one."""
    return Shelves(
        workloads=all_facts("workloads", WorkloadFacts),
        strategies=all_facts("strategies", StrategyFacts),
        accelerators=all_facts("accelerators", AcceleratorFacts),
    )


def _check_time_limit(cells: tuple[PlannedCell, ...], protocol: Protocol, place: str) -> None:
    """Refuse a plan whose trials cannot end before they are ended."""
    longest = max((cell.predicted_s - protocol.settle_s for cell in cells if cell.predicted_s), default=0.0)
    if longest > protocol.time_limit_s:
        raise BadStudyFile(
            f"{place}: protocol.time_limit_s",
            f"a trial takes about {longest:g} s and would be ended after {protocol.time_limit_s:g} s",
            "Raise the limit to several times that, or shorten the window.",
        )


def _settled(protocol: Protocol, blocks: int | None) -> Protocol:
    return protocol if blocks is None else msgspec.structs.replace(protocol, blocks=blocks)


def _accelerator(study: Study, shelves: Shelves, gpus: int, place: str) -> str:
    if study.accelerator == "auto":
        known = [shelves.workloads[m.workload] for m in study.matrix if m.workload in shelves.workloads]
        return "cuda" if gpus and any(workload.needs_torch for workload in known) else "cpu"
    if study.accelerator not in shelves.accelerators:
        raise BadStudyFile(
            f"{place}: accelerator",
            f'there is no accelerator "{study.accelerator}"',
            nearest(study.accelerator, shelves.accelerators, "accelerators"),
        )
    return study.accelerator


def _unique(found: list[Candidate]) -> list[Candidate]:
    """Each cell once, at its first place: two matrices may meet in the same cell."""
    return list({candidate.id: candidate for candidate in reversed(found)}.values())[::-1]


def _planned(candidate: Candidate, protocol: Protocol, shelves: Shelves, cores: int) -> PlannedCell:
    cell = candidate.cell
    seconds: float | None = None
    if protocol.window_steps is None:
        start = shelves.accelerators[cell.accelerator].startup_s + shelves.strategies[cell.strategy].startup_s
        seconds = round(protocol.settle_s + start + protocol.warmup_s + protocol.window_s, 3)
    unknown = {"predicted_memory_bytes": WHY_NO_MEMORY}
    if seconds is None:
        unknown["predicted_s"] = WHY_NO_TIME
    return PlannedCell(
        id=candidate.id,
        cell=cell,
        predicted_s=seconds,
        predicted_memory_bytes=None,
        oversubscribed=cell.devices * cell.threads_per_device > cores,
        unknown=unknown,
    )


def _blocks(cell_ids: list[str], blocks: int, seed: int) -> list[PlannedTrial]:
    """Randomised complete blocks: every block runs every cell once, in a fresh random order.

    Source: method page, "order"; a fixed order turns drift into differences between cells.
    """
    shuffler = random.Random(seed)  # noqa: S311  a stored seed, for an order that can be repeated
    trials: list[PlannedTrial] = []
    for block in range(1, blocks + 1):
        shuffled = sorted(cell_ids)
        shuffler.shuffle(shuffled)
        for cell in shuffled:
            order = len(trials) + 1
            trials.append(
                PlannedTrial(
                    id=f"{order:04d}-{cell}",
                    order=order,
                    block=block,
                    cell_id=cell,
                    seed=trial_seed(seed, block, cell),
                )
            )
    return trials


def trial_seed(seed: int, block: int, cell_id: str) -> int:
    """A trial's own seed: 32 bits of the SHA-256 of the plan's seed, the block and the cell."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{block}/{cell_id}".encode()).digest()[:4])


def _digest(parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()
