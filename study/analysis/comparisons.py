"""Cells that differ in one factor and the verdict on each: variants, precisions, strategies, the wrapper."""

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from study.analysis import reasons
from study.analysis.intervals import LogMean, Repeats
from study.analysis.states import Blocks, blocks_of, ratio
from study.analysis.verdicts import Refused, judge
from study.domain.fact import Fact
from study.domain.strategy_words import strategy_words
from study.domain.summary import Comparison
from study.domain.trial import Cell, Plan, PlannedCell

SAME_DEVICES = "strategies"
"""The factor of strategies that share the same devices; the wrapper's cost is a factor of its own."""

REFERENCE = "ddp"
"""The strategy that others on the same devices are compared with, since it changes the model least."""


class Pair(Fact, frozen=True, kw_only=True):
    """Two cells to be compared: A against the baseline B."""

    factor: str
    level_a: str
    level_b: str
    cell_a: str
    cell_b: str


def compare(plan: Plan, cells: Mapping[str, Repeats]) -> tuple[Comparison, ...]:
    """Every declared comparison of the plan with its verdict, paired by block; a factor is a family."""
    found: list[Comparison] = []
    blocks = blocks_of(plan)
    for pairs in declared(plan):
        ratios = [_ratio(blocks, pair, cells) for pair in pairs]
        verdicts = judge(pairs[0].factor, ratios, plan.protocol.margin)
        found += [
            Comparison(
                key=f"{pair.factor}:{pair.cell_a}:{pair.cell_b}",
                factor=pair.factor,
                level_a=pair.level_a,
                level_b=pair.level_b,
                cell_a=pair.cell_a,
                cell_b=pair.cell_b,
                verdict=verdict,
            )
            for pair, verdict in zip(pairs, verdicts, strict=True)
        ]
    return tuple(found)


def declared(plan: Plan) -> list[list[Pair]]:
    """Every pair of cells that the plan compares, but for speed-ups; one list a family, none empty."""
    families = (
        _by_factor(plan, "variant"),
        _by_factor(plan, "precision"),
        _wrappers(plan),
        _same_devices(plan),
    )
    return [pairs for pairs in families if pairs]


def _by_factor(plan: Plan, factor: str) -> list[Pair]:
    """Cells equal in everything but `factor`: every further level against the first in the plan."""
    groups: dict[bytes, list[tuple[str, Cell]]] = defaultdict(list)
    for planned in plan.cells:
        alike = msgspec.structs.replace(planned.cell, **{factor: ""})
        groups[msgspec.json.encode(alike, order="deterministic")].append((planned.id, planned.cell))
    return [
        Pair(
            factor=factor,
            level_a=getattr(cell, factor),
            level_b=getattr(group[0][1], factor),
            cell_a=cell_id,
            cell_b=group[0][0],
        )
        for group in groups.values()
        for cell_id, cell in group[1:]
    ]


def _wrappers(plan: Plan) -> list[Pair]:
    """The base of each series against the same strategy on one device: what the wrapper costs."""
    cells = {planned.id: planned.cell for planned in plan.cells}
    pairs = {
        (series.base, series.own_base): Pair(
            factor="strategy",
            level_a=cells[series.base].strategy,
            level_b=cells[series.own_base].strategy,
            cell_a=series.base,
            cell_b=series.own_base,
        )
        for series in plan.series
        if series.base is not None and series.own_base is not None and series.base != series.own_base
    }
    return list(pairs.values())


def _same_devices(plan: Plan) -> list[Pair]:
    """Strategies on several devices at one batch: each against ddp, else against the first in the plan."""
    groups: dict[bytes, list[PlannedCell]] = defaultdict(list)
    for planned in plan.cells:
        if planned.cell.devices > 1 and planned.cell.task != "check":
            alike = msgspec.structs.replace(planned.cell, strategy="", mesh={}, strategy_options={})
            groups[msgspec.json.encode(alike, order="deterministic")].append(planned)
    cells = [planned.cell for planned in plan.cells]
    found = []
    for group in groups.values():
        base = next((one for one in group if one.cell.strategy == REFERENCE), group[0])
        found += [
            Pair(
                factor=SAME_DEVICES,
                level_a=strategy_words(one.cell, cells),
                level_b=strategy_words(base.cell, cells),
                cell_a=one.id,
                cell_b=base.id,
            )
            for one in group
            if one is not base
        ]
    return found


def _ratio(blocks: Blocks, pair: Pair, cells: Mapping[str, Repeats]) -> LogMean | Refused:
    a, b = cells.get(pair.cell_a), cells.get(pair.cell_b)
    if a is None or b is None:
        return Refused(reason=reasons.NOT_MEASURED)
    return ratio(blocks, (pair.cell_a, a), (pair.cell_b, b)) or Refused(reason=reasons.TOO_FEW_PAIRS)
