"""A study on a machine, made into a plan: cells, series, randomised complete blocks, predicted time.

The sentinel is first and last in each block.
"""

import fnmatch
import hashlib
import random
import secrets
from typing import Literal

import msgspec

from study.domain.errors import BadStudyFile, NotReady
from study.domain.shelf import AcceleratorFacts, StrategyFacts, WorkloadFacts, all_facts
from study.domain.study import Protocol, Study
from study.domain.trial import Plan, PlannedCell, PlannedTrial, SkippedCell
from study.planning.cells import Candidate, Shelves, candidates
from study.planning.sentinel import TRIALS_A_BLOCK, candidate, sentinel_protocol, why_none
from study.planning.series import all_series
from study.planning.study_file import nearest

MOST_TRIALS = 100_000

Role = Literal["cell", "sentinel"]


def make_plan(
    study: Study,
    *,
    place: str,
    gpus: int,
    cores: int,
    blocks: int | None = None,
    precision: float | None = None,
    shelves: Shelves | None = None,
) -> Plan:
    """The plan of `study` on a machine with `gpus` GPUs and `cores` usable CPU cores.

    `cores` are physical cores: two ranks on one core say little about two devices. `place` names the
    study file in errors. `blocks` and `precision` replace the protocol's own. The
    order comes from the protocol's seed, or from a fresh one, which the plan keeps.

    Raises:
        BadStudyFile: the study names what is on no shelf, or no cell of it can run here.
        NotReady: the study asks for an accelerator of which there is no device here.
    """
    shelves = shelves or read_shelves()
    protocol = _settled(study.protocol, blocks, precision)
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
    _check_precision(cells, protocol, place)
    series = tuple(all_series([c for c in found if not c.reason]))
    sentinel, why_no_sentinel = _sentinel(cells, protocol, shelves, accelerator, cores)
    block_s = _block_s(cells, sentinel)
    unknown = {} if sentinel else {"sentinel": why_no_sentinel}
    if block_s is None:
        unknown["predicted_s"] = WHY_NO_TIME
    seed = protocol.seed if protocol.seed is not None else secrets.randbits(32)
    return Plan(
        digest=_digest([accelerator, protocol, cells, series, sentinel]),
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
        trials=tuple(
            _blocks([cell.id for cell in cells], protocol.blocks, seed, sentinel.id if sentinel else None)
        ),
        predicted_s=None if block_s is None else block_s * protocol.blocks,
        sentinel=sentinel,
        unknown=unknown,
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
    """Refuse a plan whose trials cannot end before they are ended; preheating may take all its time."""
    longest = max(
        (cell.predicted_s - protocol.settle_s if cell.predicted_s else protocol.preheat_s for cell in cells),
        default=0.0,
    )
    if longest > protocol.time_limit_s:
        raise BadStudyFile(
            f"{place}: protocol.time_limit_s",
            f"a trial takes about {longest:g} s and would be ended after {protocol.time_limit_s:g} s",
            "Raise the limit to several times that, or shorten the window or the preheating.",
        )


def _check_precision(cells: tuple[PlannedCell, ...], protocol: Protocol, place: str) -> None:
    """Refuse a glob of `precision_cells` that fits no cell, and globs or a budget without a precision."""
    for glob in protocol.precision_cells:
        if not any(fnmatch.fnmatchcase(cell.id, glob) for cell in cells):
            raise BadStudyFile(
                f"{place}: protocol.precision_cells",
                f'no cell that can run here matches "{glob}"',
                "`study plan` shows the ids of all cells; without precision_cells it is asked of all.",
            )
    if protocol.precision is None and (protocol.precision_cells or protocol.time_budget_s is not None):
        key = "precision_cells" if protocol.precision_cells else "time_budget_s"
        raise BadStudyFile(
            f"{place}: protocol.{key}",
            "it does nothing, since no precision is asked for",
            "Add protocol.precision, or give --precision, or take the key out.",
        )


def _settled(protocol: Protocol, blocks: int | None, precision: float | None) -> Protocol:
    given = {"blocks": blocks, "precision": precision}
    return msgspec.structs.replace(protocol, **{key: one for key, one in given.items() if one is not None})


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
        measuring_s = protocol.warmup_s + protocol.preheat_s + protocol.window_s
        seconds = round(protocol.settle_s + start + measuring_s, 3)
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


def _sentinel(
    cells: tuple[PlannedCell, ...], protocol: Protocol, shelves: Shelves, accelerator: str, cores: int
) -> tuple[PlannedCell | None, str]:
    """The sentinel as it will run, or none and the reason."""
    found, own = candidate(shelves, accelerator), sentinel_protocol(protocol)
    planned = msgspec.structs.replace(_planned(found, own, shelves, cores), protocol=own)
    workloads = [shelves.workloads[cell.cell.workload] for cell in cells]
    why = found.reason or why_none(protocol, workloads, planned, [cell.predicted_s for cell in cells])
    return (None, why) if why else (planned, "")


def _block_s(cells: tuple[PlannedCell, ...], sentinel: PlannedCell | None) -> float | None:
    """Predicted seconds of a block with its sentinels, or nothing if one of the cells has no prediction."""
    each = [cell.predicted_s for cell in (*cells, *((sentinel,) * TRIALS_A_BLOCK if sentinel else ()))]
    known = [one for one in each if one is not None]
    return sum(known) if len(known) == len(each) else None


def _blocks(cell_ids: list[str], blocks: int, seed: int, sentinel: str | None = None) -> list[PlannedTrial]:
    """Randomised complete blocks: every block runs every cell once, in a fresh random order.

    With a sentinel it is first and last in each; the order of the cells is the same with it and without.
    Source: method page, "order"; a fixed order turns drift into differences between cells.
    """
    shuffler = random.Random(seed)  # noqa: S311  a stored seed, for an order that can be repeated
    trials: list[PlannedTrial] = []
    for block in range(1, blocks + 1):
        shuffled = sorted(cell_ids)
        shuffler.shuffle(shuffled)
        watch: list[tuple[str, Role]] = [(sentinel, "sentinel")] if sentinel else []
        for cell, role in (*watch, *((each, "cell") for each in shuffled), *watch):
            order = len(trials) + 1
            trials.append(
                PlannedTrial(
                    id=f"{order:04d}-{cell}",
                    order=order,
                    block=block,
                    cell_id=cell,
                    seed=trial_seed(seed, block, cell),
                    role=role,
                )
            )
    return trials


def trial_seed(seed: int, block: int, cell_id: str) -> int:
    """A trial's own seed: 32 bits of the SHA-256 of the plan's seed, the block and the cell."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{block}/{cell_id}".encode()).digest()[:4])


def _digest(parts: object) -> str:
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()
