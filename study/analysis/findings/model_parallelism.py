"""Several strategies on the same devices: which has the largest throughput, and is the next told apart.

All are compared with one of them, `ddp` where it is there, in one family; so the intervals hold at once,
and two strategies whose intervals do not overlap are told apart without another test.
"""

from collections.abc import Sequence

from study.analysis import caveats, claims, evidence
from study.analysis.comparisons import SAME_DEVICES
from study.analysis.parts import Parts
from study.analysis.terms import TASKS
from study.domain.finding import Finding
from study.domain.summary import CellSummary, Comparison
from study.domain.text import Slot, Text

FACTS = {
    "summary": "Several strategies on the same devices at the same batch, paired by block.",
    "section": "more_devices",
    "rank": 25,
}

FRAMES = {
    "clear": (
        "Among the strategies for {workload} ({task}, batch: {batch}) on {devices} devices, {first} has the "
        "largest throughput, {rate}: throughput with {a} is {ratio} times that with {b} ({base})."
    ),
    "small": (
        "Among the strategies for {workload} ({task}, batch: {batch}) on {devices} devices, {first} has the "
        "largest throughput, {rate}: throughput with {a} is {ratio} times that with {b} ({base}); this "
        "difference is measurable, but not shown to exceed the margin of {margin} set in the plan."
    ),
    "within": (
        "Among the strategies for {workload} ({task}, batch: {batch}) on {devices} devices, {first} has the "
        "largest throughput, {rate}: throughput with {a} is {ratio} times that with {b} ({base}); this "
        "difference is measurable and within the margin of {margin} set in the plan."
    ),
    "same": (
        "Among the strategies for {workload} ({task}, batch: {batch}) on {devices} devices, throughput with "
        "{a} and with {b} ({base}) shows no difference of practical size: the ratio is {ratio}, within the "
        "margin of {margin} set in the plan; the largest measured is {rate}, with {first}."
    ),
    "open": (
        "Among the strategies for {workload} ({task}, batch: {batch}) on {devices} devices, whether "
        "throughput with {a} differs from that with {b} ({base}) is not settled: the ratio is {ratio}; the "
        "largest measured is {rate}, with {first}."
    ),
    "not_compared": (
        "Among the strategies for {workload} ({task}, batch: {batch}) on {devices} devices, the largest "
        "measured throughput is {rate}, with {first}; {a} is not compared with {b}: a comparison needs three "
        "blocks that hold both."
    ),
    "short": (
        "Throughput of {workload} ({task}) on {devices} devices with {a} is {value} times that with {b}."
    ),
    "short_small": (
        "Throughput of {workload} ({task}) on {devices} devices with {a} is {value} times that with {b}; "
        "this is not shown to exceed the margin of {margin}."
    ),
    "short_within": (
        "Throughput of {workload} ({task}) on {devices} devices with {a} is {value} times that with {b}; "
        "this is within the margin of {margin}."
    ),
    "short_same": (
        "Throughput of {workload} ({task}) on {devices} devices with {a} and with {b} shows no difference of "
        "practical size."
    ),
    "short_open": (
        "Whether throughput of {workload} ({task}) on {devices} devices with {a} differs from that with {b} "
        "is not settled."
    ),
    "short_not_compared": (
        "Throughput of {workload} ({task}) on {devices} devices with {a} is not compared with that with {b}."
    ),
    "told_apart": (
        "The next is {second}; the two are told apart, as their intervals against {b} do not overlap."
    ),
    "not_told_apart": (
        "The next is {second}; the two are not told apart, as their intervals against {b} overlap."
    ),
    "against_one": "With {strategy} it is {speedup} times that of one device ({single}).",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each place where two strategies or more were measured on the same devices.

    The largest number of devices of a model and task asks for a place in the findings box.
    """
    groups: dict[str, list[Comparison]] = {}
    for comparison in parts.comparisons:
        if comparison.factor == SAME_DEVICES:
            groups.setdefault(comparison.cell_b, []).append(comparison)
    found = []
    for base, family in groups.items():
        ranked = _ranked(parts, base, family)
        if len(ranked) > 1:
            found.append(_claim(parts, family, ranked, headline=_leads(parts, base, list(groups))))
    return found


def _ranked(parts: Parts, base: str, family: Sequence[Comparison]) -> list[CellSummary]:
    """The measured cells on the same devices, the largest rate first."""
    cells = [parts.cell(cell_id) for cell_id in (base, *(each.cell_a for each in family))]
    measured = [cell for cell in cells if cell.rate is not None]
    return sorted(measured, key=_rate, reverse=True)


def _rate(cell: CellSummary) -> float:
    return cell.rate.value if cell.rate else 0.0


def _leads(parts: Parts, base: str, bases: Sequence[str]) -> bool:
    """Whether these are the most devices with a core for every thread, for this model and task."""
    own = parts.cell(base)
    subject = (own.cell.workload, own.cell.size, own.cell.task)
    cells = [parts.cell(each) for each in bases]
    counts = [
        other.cell.devices
        for other in cells
        if (other.cell.workload, other.cell.size, other.cell.task) == subject and not other.oversubscribed
    ]
    return own.cell.devices == max(counts, default=0)


def _claim(
    parts: Parts, family: Sequence[Comparison], ranked: Sequence[CellSummary], *, headline: bool
) -> Finding:
    """The first against the one that all are compared with; where it is that itself, the next against it."""
    by_cell = {each.cell_a: each for each in family}
    first, second = ranked[0], ranked[1]
    told = by_cell.get(first.cell_id) or by_cell[second.cell_id]
    verdict, involved = told.verdict, (told.cell_a, told.cell_b)
    disturbed = (
        *caveats.disturbances(parts, *involved),
        *caveats.of_states(parts, verdict, *involved),
    )
    kind = "within" if verdict.also_same else verdict.kind
    compared = verdict.kind != "not_compared"
    slots = _slots(parts, first, told)
    ratio = claims.judged(verdict)
    n = ratio.n if ratio is not None else 0
    return claims.claim(
        key=f"model-parallelism.{told.cell_b}",
        shelf="model-parallelism",
        section="more_devices",
        sentence=claims.worded(FRAMES[kind], slots),
        short=claims.worded(FRAMES["short" if kind == "clear" else f"short_{kind}"], slots),
        evidence=evidence.of_comparison(verdict, n, flagged=bool(disturbed)),
        note=evidence.trials_each(n),
        estimate=ratio if compared else None,
        style="times",
        verdict=verdict,
        table="t-parallel",
        headline=headline,
        weight=claims.size(ratio) if compared else claims.fewer_first(first.cell.devices),
        trials=[trial.trial for trial in parts.measured_of(*(cell.cell_id for cell in ranked))],
        caveats=[
            *caveats.of_verdict(verdict),
            *_next(by_cell.get(first.cell_id), by_cell.get(second.cell_id)),
            *_against_one(parts, first),
            *disturbed,
            *(caveats.of_margin(parts, *involved) if compared else ()),
        ],
    )


def _slots(parts: Parts, first: CellSummary, told: Comparison) -> dict[str, Slot]:
    slots: dict[str, Slot] = {
        "workload": claims.workload(first.cell),
        "task": TASKS[first.cell.task],
        "devices": claims.whole(first.cell.devices),
        "batch": claims.whole(first.cell.batch),
        "first": claims.strategy(parts, first.cell),
        "a": claims.code(told.level_a),
        "b": claims.code(told.level_b),
        "margin": claims.percent(told.verdict.margin),
    }
    base, ratio = parts.cell(told.cell_b), claims.judged(told.verdict)
    if first.rate is not None:
        slots["rate"] = claims.bare_rate(first, first.rate)
    if base.rate is not None:
        slots["base"] = claims.bare_rate(base, base.rate)
    if ratio is not None:
        slots |= {"ratio": claims.ratio(ratio), "value": claims.bare_ratio(ratio)}
    return slots


def _next(first: Comparison | None, second: Comparison | None) -> tuple[Text, ...]:
    """Whether the next is told apart; of what all are compared with, the verdict says it."""
    ratios = [each.verdict.ratio for each in (first, second) if each is not None]
    if first is None or second is None or len(ratios) < 2:
        return ()
    upper, lower = ratios
    if upper is None or lower is None or upper.low is None or lower.high is None:
        return ()
    slots: dict[str, Slot] = {"second": claims.code(second.level_a), "b": claims.code(first.level_b)}
    apart = upper.low > lower.high
    return (claims.worded(FRAMES["told_apart" if apart else "not_told_apart"], slots),)


def _against_one(parts: Parts, first: CellSummary) -> tuple[Text, ...]:
    """What the first is against one device, where that is settled; the series say it of every strategy."""
    return tuple(
        claims.worded(
            FRAMES["against_one"],
            {
                "strategy": claims.strategy(parts, first.cell),
                "speedup": claims.ratio(ratio),
                "single": claims.bare_rate(first, series.base_rate),
            },
        )
        for series in parts.series
        for point in series.points
        if point.cell_id == first.cell_id
        and point.verdict is not None
        and point.verdict.kind in ("clear", "small")
        and series.base_rate is not None
        and (ratio := claims.judged(point.verdict)) is not None
    )[:1]
