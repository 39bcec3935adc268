"""After a block: whether the intervals are narrow enough, or which cells one more block is for.

    settled   the interval is narrower than asked for, over at least seven trials, and was after each of the
              last three
    wide      its half-width is above the share of the rate that was asked for, or there is no interval
    given up  none of the cell's last three trials was measured: it is not waited for

A sequence that is stopped at its first narrow interval favours those that are narrow by chance, and covers
too little (Chow & Robbins, Annals of Mathematical Statistics 36, 1965): 90 % of 95 % from three trials on.
Seven trials and three in a row keep it at 93 % or more (tests/analysis/test_enough.py has the simulation).

Only widths, failures and times are looked at, never which of two cells is faster. Blocks that are added hold
whole groups of cells that are compared with one another, so that pairing by block stays whole; a group in
which every cell is settled, or can no longer be, gets no more.
"""

import fnmatch
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from study.analysis.comparisons import declared
from study.analysis.intervals import NO_SPREAD, Repeats, estimate, of_cell, quantile
from study.analysis.trials import counting, excluded, wall_ns
from study.domain.fact import Fact
from study.domain.record import Measured, Record
from study.domain.run import PRECISE_IN_A_ROW, PRECISE_TRIALS, Decision
from study.domain.trial import Plan

HOPELESS = 3
"""A cell is given up when none of so many last trials of its was measured."""
OPTIMISM = 0.90
"""The spread that is reckoned with has this chance to lie below the true one."""
MOST_TRIALS = 100_000


class Group(Fact, frozen=True, kw_only=True):
    """Cells that are compared with one another, directly or through others, and what one block costs.

    `needs` are the trials that each cell that is not settled still needs, if its spread is as small as its
    trials allow; null beyond counting. `room` is how many blocks the protocol still allows.
    """

    cells: tuple[str, ...]
    needs: dict[str, int | None]
    room: int
    block_s: float

    @property
    def within_room(self) -> tuple[str, ...]:
        return tuple(cell for cell, need in self.needs.items() if need is not None and need <= self.room)

    @property
    def blocks(self) -> int:
        """How many blocks settle every cell that can be settled; 0 if there is none."""
        return max((self.needs[cell] or 0 for cell in self.within_room), default=0)


def decide(plan: Plan, records: Sequence[Record], spent_s: float) -> Decision:
    """What to do after the blocks of `plan`, of which every trial has a record.

    `spent_s` is how long the run has measured so far. The plan's protocol asks for a precision.
    """
    precision = plan.protocol.precision
    if precision is None:
        raise ValueError("the protocol asks for no precision")
    samples = _samples(plan, records)
    lost = given_up(plan, records)
    measured = measurements(samples)
    asked = [cell.id for cell in plan.cells if is_asked_for(plan, cell.id)]
    watched = [cell for cell in asked if cell not in lost]
    unsettled = [cell for cell in watched if not is_settled(measured.get(cell), precision)]
    groups = _groups(plan, samples, measured, unsettled=unsettled, lost=lost, precision=precision)
    groups = [group for group in groups if group.needs]
    goes_on = _affordable(groups, plan.protocol.time_budget_s, spent_s)
    wide = [cell for cell in unsettled if not is_narrow(measured.get(cell), precision)]
    after_block = max(trial.block for trial in plan.trials)
    if goes_on:
        cells = {cell for group in goes_on for cell in group.within_room}
        return Decision(
            after_block=after_block,
            verdict="more",
            cells=tuple(cell for cell in unsettled if cell in cells),
            given_up=tuple(cell for cell in asked if cell in lost),
        )
    return Decision(
        after_block=after_block,
        verdict=_why(plan, groups, wide, spent_s) if wide else "reached",
        cells=tuple(wide),
        blocks_needed=_blocks_needed(plan, groups, wide),
        given_up=tuple(cell for cell in asked if cell in lost),
    )


def companions(plan: Plan, decision: Decision, records: Sequence[Record]) -> tuple[str, ...]:
    """The cells of the block that was decided on, in the plan's order: with all that are compared with them.

    Cells that give no result any more are left out: they would pair with nothing.
    """
    lost = given_up(plan, records)
    joined = [group for group in _connected(plan, lost) if not group.isdisjoint(decision.cells)]
    return tuple(cell.id for cell in plan.cells if any(cell.id in group for group in joined))


def is_asked_for(plan: Plan, cell_id: str) -> bool:
    """Whether the protocol's precision is asked of this cell."""
    globs = plan.protocol.precision_cells
    return not globs or any(fnmatch.fnmatchcase(cell_id, glob) for glob in globs)


def given_up(plan: Plan, records: Sequence[Record]) -> frozenset[str]:
    """The cells of which none of the last trials was measured. A rate is not looked at."""
    samples = counting(_samples(plan, records))
    faults = excluded(samples)
    results: dict[str, list[bool]] = {cell.id: [] for cell in plan.cells}
    for record in samples:
        results[record.cell_id].append(isinstance(record.outcome, Measured) and record.trial not in faults)
    return frozenset(
        cell for cell, gave in results.items() if len(gave) >= HOPELESS and not any(gave[-HOPELESS:])
    )


def measurements(samples: Sequence[Record]) -> dict[str, Repeats]:
    """The measured trials of each cell that has any, as the page has them, without looking at their steps."""
    chosen = counting(samples)
    faults = excluded(chosen)
    rows: dict[str, list[tuple[int, str, int, float]]] = defaultdict(list)
    for record in chosen:
        if isinstance(record.outcome, Measured) and record.trial not in faults:
            readings = record.outcome.readings
            work, wall_s = sum(r.work for r in readings), wall_ns(readings, record.cell.nodes) / 1e9
            rows[record.cell_id].append((record.block, record.trial, work, wall_s))
    return {
        cell: Repeats(
            blocks=tuple(row[0] for row in several),
            trials=tuple(row[1] for row in several),
            work=tuple(row[2] for row in several),
            wall_s=tuple(row[3] for row in several),
        )
        for cell, several in ((cell, sorted(several)) for cell, several in rows.items())
    }


def is_settled(cell: Repeats | None, precision: float) -> bool:
    """Whether the interval is narrow enough, and not so by chance alone."""
    if cell is None or len(cell.trials) < PRECISE_TRIALS:
        return False
    newest = len(cell.trials)
    return all(
        is_narrow(cell.of_blocks(cell.blocks[:n]), precision)
        for n in range(newest - PRECISE_IN_A_ROW + 1, newest + 1)
    )


def is_narrow(cell: Repeats | None, precision: float) -> bool:
    """Whether half the interval that the page gives is below this share of the rate."""
    half = None if cell is None else half_width(cell)
    return half is not None and half < precision


def half_width(cell: Repeats) -> float | None:
    """Half of the 95 % interval as a share of the rate; null without an interval."""
    rate = estimate(of_cell(cell))
    if rate.low is None or rate.high is None:
        return None
    return (rate.high - rate.low) / 2 / rate.value


def trials_needed(cell: Repeats | None, precision: float) -> int | None:
    """How many trials in all would settle a cell, if its spread is as small as its trials allow.

    The spread is the lower confidence bound of the standard deviation of the logs, by chi-square. Null when
    not even a hundred thousand would do. One that is narrow but not settled needs another one at least.
    """
    have = 0 if cell is None else len(cell.trials)
    least = max(PRECISE_TRIALS, have + 1)
    mean = of_cell(cell) if cell is not None else None
    if mean is None or mean.error is None or mean.error < NO_SPREAD:
        return least
    from scipy.special import chdtri

    spread = mean.error * math.sqrt(have) * math.sqrt((have - 1) / float(chdtri(have - 1, 1 - OPTIMISM)))

    def narrow(trials: int) -> bool:
        # half of exp(m + h) - exp(m - h), as a share of exp(m)
        return math.sinh(min(quantile(0.975, trials - 1) * spread / math.sqrt(trials), 700.0)) < precision

    # More trials never widen it, so the first that will do is found by halving.
    possible = range(least, MOST_TRIALS + 1)
    first = bisect_left(possible, True, key=narrow)
    return possible[first] if first < len(possible) else None


def _samples(plan: Plan, records: Sequence[Record]) -> tuple[Record, ...]:
    """The records of the plan's own cells: a sentinel is no sample, nor is a cell that was taken out."""
    samples = {trial.id for trial in plan.trials if trial.role == "cell"}
    return tuple(record for record in records if record.trial in samples)


def _connected(plan: Plan, lost: Collection[str]) -> list[set[str]]:
    """The plan's cells, but for those that were given up, in groups that are compared with one another."""
    pairs = [(pair.cell_a, pair.cell_b) for family in declared(plan) for pair in family]
    for series in plan.series:
        for base in (series.base, series.own_base):
            pairs += [(base, member) for member in series.members if base is not None]
    group_of = {cell.id: {cell.id} for cell in plan.cells if cell.id not in lost}
    for a, b in pairs:
        if a in group_of and b in group_of and group_of[a] is not group_of[b]:
            group_of[a] |= group_of[b]
            for cell in group_of[b]:
                group_of[cell] = group_of[a]
    return list({id(group): group for group in group_of.values()}.values())


def _groups(
    plan: Plan,
    records: Sequence[Record],
    measured: Mapping[str, Repeats],
    *,
    unsettled: Sequence[str],
    lost: Collection[str],
    precision: float,
) -> list[Group]:
    planned: dict[str, int] = defaultdict(int)
    for trial in plan.trials:
        if trial.role == "cell":
            planned[trial.cell_id] += 1
    seconds, watch_s = _seconds(plan, records), _sentinel_s(plan, records)
    found = []
    for cells in _connected(plan, lost):
        needs: dict[str, int | None] = {}
        for cell in unsettled:
            if cell in cells:
                in_all = trials_needed(measured.get(cell), precision)
                have = len(measured[cell].trials) if cell in measured else 0
                needs[cell] = None if in_all is None else in_all - have
        found.append(
            Group(
                cells=tuple(sorted(cells)),
                needs=needs,
                room=max(0, plan.protocol.most_blocks - max(planned[cell] for cell in cells)),
                block_s=math.fsum(seconds[cell] for cell in cells) + watch_s,
            )
        )
    return found


def _seconds(plan: Plan, records: Sequence[Record]) -> dict[str, float]:
    """How long a trial of each cell takes: the mean of its attempts so far, else what was predicted."""
    took: dict[str, list[float]] = defaultdict(list)
    for record in records:
        if record.role == "cell":
            took[record.cell_id].append(record.turnaround_ns / 1e9 + plan.protocol.settle_s)
    return {
        cell.id: math.fsum(took[cell.id]) / len(took[cell.id]) if took[cell.id] else cell.predicted_s or 0.0
        for cell in plan.cells
    }


def _sentinel_s(plan: Plan, records: Sequence[Record]) -> float:
    """What the sentinel adds to a block: its first and its last trial. Reckoned for each group, though groups
    that go on together share them: so the time is never overrun."""
    if plan.sentinel is None:
        return 0.0
    took = [
        record.turnaround_ns / 1e9 + plan.protocol.settle_s for record in records if record.role == "sentinel"
    ]
    return 2 * (math.fsum(took) / len(took) if took else plan.sentinel.predicted_s or 0.0)


def _affordable(groups: Sequence[Group], budget_s: float | None, spent_s: float) -> list[Group]:
    """The groups that can still be settled: by blocks, and, the cheapest first, within the time."""
    left_s = math.inf if budget_s is None else budget_s - spent_s
    found = []
    for group in sorted((g for g in groups if g.blocks), key=lambda g: (g.blocks * g.block_s, g.cells)):
        left_s -= group.blocks * group.block_s
        if left_s < 0:
            break
        found.append(group)
    return found


def _why(
    plan: Plan, groups: Sequence[Group], wide: Sequence[str], spent_s: float
) -> Literal["most_blocks", "budget", "out_of_reach"]:
    """Why nothing is added although cells are too wide."""
    concerned = [group for group in groups if not set(wide).isdisjoint(group.cells)]
    if all(group.room == 0 for group in concerned):
        return "most_blocks"
    budget_s = plan.protocol.time_budget_s
    if budget_s is not None and all(spent_s + group.block_s > budget_s for group in concerned):
        return "budget"
    return "out_of_reach"


def _blocks_needed(plan: Plan, groups: Sequence[Group], wide: Sequence[str]) -> int | None:
    """How many blocks in all the widest cell needs at least; null beyond counting, or if none is wide."""
    needs = [need for group in groups for cell, need in group.needs.items() if cell in wide]
    known = [need for need in needs if need is not None]
    if not known or len(known) < len(needs):
        return None
    return max(trial.block for trial in plan.trials) + max(known)
