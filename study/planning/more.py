"""A plan with one more block, of some of its cells, where the protocol asks for a precision."""

import random
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Literal

import msgspec

from study.domain.trial import Plan, PlannedTrial
from study.planning.plan import trial_seed


def one_more_block(plan: Plan, cell_ids: Collection[str], recorded: Sequence[PlannedTrial] = ()) -> Plan:
    """The plan with a block of these cells behind all others, in a fresh random order.

    The order comes from the plan's seed and the block's number, so equal arguments give an equal plan. The
    plan's sentinel, if it has one, stands first and last. `recorded` are trials that the run has records of,
    also of cells that the plan no longer has: orders and blocks go on behind theirs.
    """
    before = (*plan.trials, *recorded)
    block = max(trial.block for trial in before) + 1
    ids = sorted(cell_ids)
    random.Random(f"{plan.seed}/{block}").shuffle(ids)  # noqa: S311  a stored seed, for an order that can be repeated
    watch: list[tuple[str, Literal["cell", "sentinel"]]]
    watch = [(plan.sentinel.id, "sentinel")] if plan.sentinel else []
    first = max(trial.order for trial in before) + 1
    added = tuple(
        PlannedTrial(
            id=f"{order:04d}-{cell_id}",
            order=order,
            block=block,
            cell_id=cell_id,
            seed=trial_seed(plan.seed, block, cell_id),
            role=role,
        )
        for order, (cell_id, role) in enumerate((*watch, *((each, "cell") for each in ids), *watch), first)
    )
    return msgspec.structs.replace(plan, trials=(*plan.trials, *added), predicted_s=_predicted_s(plan, added))


def _predicted_s(plan: Plan, added: Sequence[PlannedTrial]) -> float | None:
    """Seconds of the plan and of the added trials; nothing if the plan has no prediction."""
    if plan.predicted_s is None:
        return None
    planned = (*plan.cells, *((plan.sentinel,) if plan.sentinel else ()))
    seconds = {cell.id: cell.predicted_s or 0.0 for cell in planned}
    return plan.predicted_s + sum(seconds[cell] * n for cell, n in Counter(t.cell_id for t in added).items())
