"""What an edited study file leaves apart: records of cells it no longer names, and cells of other blocks.

Cells are compared fairly where they were randomised together, in the same blocks. Trials that were added
by an edit of the study file stand in later blocks of their own: a drift in between is part of any
difference to the earlier ones.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from study.analysis.intervals import LogMean, Repeats, paired, welch
from study.domain.record import Record
from study.domain.run import Run
from study.domain.trial import Plan

Blocks = Mapping[str, frozenset[int]]


def of_the_plan(run: Run, records: Sequence[Record]) -> tuple[Record, ...]:
    """The records without those of cells that were taken out of the study file after they were measured.

    The plan names such a cell among the skipped ones, with the reason. Any other record that the plan does
    not know stays, for the rules to find.
    """
    if not run.states:
        return tuple(records)
    planned = {trial.id for trial in run.plan.trials}
    taken_out = {cell.id for cell in run.plan.skipped}
    return tuple(r for r in records if r.trial in planned or r.cell_id not in taken_out)


def blocks_of(plan: Plan) -> Blocks:
    """The blocks in which each cell is planned."""
    found: dict[str, set[int]] = defaultdict(set)
    for trial in plan.trials:
        if trial.role == "cell":
            found[trial.cell_id].add(trial.block)
    return {cell_id: frozenset(blocks) for cell_id, blocks in found.items()}


def together(blocks: Blocks, *cell_ids: str) -> bool:
    """Whether these cells are planned in the same blocks, so that every comparison of them is randomised."""
    return len({blocks.get(cell_id, frozenset()) for cell_id in cell_ids}) <= 1


def ratio(blocks: Blocks, a: tuple[str, Repeats], b: tuple[str, Repeats]) -> LogMean | None:
    """The ratio of the rates of two cells, A over B: paired by block, as long as there are blocks to pair.

    Cells that were not planned together and share too few blocks for pairs are compared as wholes, by Welch.
    Null without a pair where there should be some.
    """
    pairs = paired(a[1], b[1])
    if together(blocks, a[0], b[0]) or (pairs is not None and pairs.error is not None):
        return pairs
    return welch(a[1], b[1])
