"""An edited study file and a run that was begun before: one plan that keeps every trial that still holds.

A cell's id has a digest of all that defines the cell, so equal ids are equal cells. Kept cells keep their
trials; new cells, and the blocks by which the file was raised, come as added blocks behind all others. So
trials of two states of a file never share a block, and nothing pairs them as if they had been randomised
together. Blocks that nothing was recorded of yet are planned anew with the new cells among them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from study.domain.fact import Fact
from study.domain.study import Protocol
from study.domain.trial import Plan, PlannedCell, PlannedTrial, SkippedCell
from study.planning.more import one_more_block
from study.planning.plan import WHY_NO_TIME

LIMITS = ("most_blocks", "time_budget_s")
"""Keys of the protocol that say how far a run goes on and not how a trial is measured: they may change."""


class Revision(Fact, frozen=True, kw_only=True):
    """A run's plan after an edit of its study file, and what the edit came to.

    `kept` are the cells that the run has trials of and keeps, `fresh` those that are new or changed,
    `taken_out` those whose records stay although the file no longer names them. `added` counts the trials
    that the edit added; `first_order` is the order of the first of them, or that which the next would have.
    """

    plan: Plan
    kept: tuple[str, ...]
    fresh: tuple[str, ...]
    taken_out: tuple[str, ...]
    added: int
    first_order: int


def revise(old: Plan, new: Plan, recorded: Sequence[PlannedTrial]) -> Revision | str:
    """The plan `old` of a run as the edited file's plan `new` wants it, or the reason why that cannot be.

    `recorded` are the trials of the run that have a record, of cells taken out by earlier edits too. The
    seed stays the run's own. Equal arguments give an equal plan.
    """
    wanted = {cell.id for cell in new.cells}
    if not recorded:  # nothing that could be kept, so nothing that could be mixed
        return Revision(
            plan=new,
            kept=(),
            fresh=tuple(cell.id for cell in new.cells),
            taken_out=(),
            added=len(new.trials),
            first_order=1,
        )
    refusal = _refusal(old, new)
    if refusal:
        return refusal
    known = {trial.cell_id for trial in (*old.trials, *recorded) if trial.role == "cell"}
    fresh = [cell.id for cell in new.cells if cell.id not in known]
    if len(fresh) == len(wanted):
        return "none of its cells is as it was"
    stays = _staying(old, wanted, recorded, replan=bool(fresh))
    first_order = max(trial.order for trial in (*stays, *recorded)) + 1
    sentinel = new.sentinel or old.sentinel
    base = msgspec.structs.replace(new, seed=old.seed, sentinel=sentinel, trials=tuple(stays))
    trials = _with_added_blocks(base, recorded).trials
    taken = Counter(t.cell_id for t in recorded if t.role == "cell" and t.cell_id not in wanted)
    plan = msgspec.structs.replace(
        base,
        skipped=_skipped(old, new, taken),
        trials=trials,
        predicted_s=(predicted := _predicted(new.cells, sentinel, trials)),
        unknown=_unknown(new, predicted, sentinel),
    )
    return Revision(
        plan=plan,
        kept=tuple(cell.id for cell in new.cells if cell.id in known),
        fresh=tuple(fresh),
        taken_out=tuple(taken),
        added=len(trials) - len(stays),
        first_order=first_order,
    )


def _refusal(old: Plan, new: Plan) -> str:
    """Why trials of the two plans are not measured alike, or nothing."""
    if old.accelerator != new.accelerator:
        return f"the accelerator was {old.accelerator} and is {new.accelerator}"
    for name in Protocol.__struct_fields__:
        before, after = getattr(old.protocol, name), getattr(new.protocol, name)
        if before != after and name not in LIMITS and (name != "blocks" or after < before):
            return f"protocol.{name} was {_word(before)} and is {_word(after)}"
    if old.sentinel and new.sentinel and old.sentinel.id != new.sentinel.id:
        return "the sentinel is another cell than it was"
    if old.sentinel and new.sentinel and old.sentinel.protocol != new.sentinel.protocol:
        return "the sentinel is measured in another way than it was"
    return ""


def _word(value: object) -> str:
    return "not set" if value is None else msgspec.json.encode(value).decode()


def _staying(
    old: Plan, wanted: set[str], recorded: Sequence[PlannedTrial], *, replan: bool
) -> list[PlannedTrial]:
    """The trials that the revised plan takes over: those recorded, and those still to come.

    A cell that was taken out and put back has its recorded trials again. With `replan`, blocks that nothing
    was recorded of make room for blocks that hold the new cells too; not so where blocks are added for a
    precision, since which of them are to come was decided from the rates.
    """
    begun = {trial.block for trial in recorded}
    keep_all = not replan or old.protocol.precision is not None
    cells = [t for t in old.trials if t.cell_id in wanted and t.role == "cell"]
    still = [t for t in cells if keep_all or t.block in begun]
    watched = {t.block for t in still}  # a sentinel has nothing to watch where all cells were taken out
    watch = [t for t in old.trials if t.role == "sentinel" and t.block in watched]
    back = [t for t in recorded if t.role == "sentinel" or t.cell_id in wanted]
    return sorted({t.id: t for t in (*still, *watch, *back)}.values(), key=lambda trial: trial.order)


def _with_added_blocks(plan: Plan, recorded: Sequence[PlannedTrial]) -> Plan:
    """The plan with blocks until every cell has as many trials as the protocol says.

    Each holds the cells that are still short. Orders and blocks go on behind those of all records.
    """
    have = Counter(trial.cell_id for trial in plan.trials if trial.role == "cell")
    short = {cell.id: plan.protocol.blocks - have[cell.id] for cell in plan.cells}
    for number in range(max(short.values(), default=0)):
        still = [cell_id for cell_id, missing in short.items() if missing > number]
        plan = one_more_block(plan, still, recorded)
    return plan


def _skipped(old: Plan, new: Plan, taken: Mapping[str, int]) -> tuple[SkippedCell, ...]:
    """The file's own skipped cells, and those with records that it no longer names, each with the reason."""
    cells = {each.id: each.cell for each in old.skipped} | {each.id: each.cell for each in old.cells}
    reasons = {each.id: f"{each.reason} " for each in new.skipped}
    cells |= {each.id: each.cell for each in new.skipped}
    for cell_id, trials in taken.items():
        reasons[cell_id] = reasons.get(cell_id, "") + (
            f"Taken out of the study file after {trials} of its trials were recorded."
            if trials > 1
            else "Taken out of the study file after one of its trials was recorded."
        )
    return tuple(SkippedCell(id=key, cell=cells[key], reason=why.rstrip()) for key, why in reasons.items())


def _predicted(
    cells: Sequence[PlannedCell], sentinel: PlannedCell | None, trials: Sequence[PlannedTrial]
) -> float | None:
    """Seconds of all these trials, or nothing if one of them has no prediction."""
    seconds = {("cell", cell.id): cell.predicted_s for cell in cells}
    if sentinel:
        seconds["sentinel", sentinel.id] = sentinel.predicted_s
    each = [seconds[trial.role, trial.cell_id] for trial in trials]
    known = [one for one in each if one is not None]
    return sum(known) if len(known) == len(each) else None


def _unknown(new: Plan, predicted_s: float | None, sentinel: PlannedCell | None) -> dict[str, str]:
    unknown = {key: why for key, why in new.unknown.items() if key not in ("predicted_s", "sentinel")}
    if predicted_s is None:
        unknown["predicted_s"] = WHY_NO_TIME
    if sentinel is None and "sentinel" in new.unknown:
        unknown["sentinel"] = new.unknown["sentinel"]
    return unknown
