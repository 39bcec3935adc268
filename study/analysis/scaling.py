"""Series over device counts: speed-up, efficiency, and what is lost. Nothing is fitted or forecast.

Sources: Karp & Flatt, CACM 33(5), 1990 (experimentally determined serial fraction, strong scaling);
Gustafson, CACM 31(5), 1988 (scaled speed-up); Amdahl, AFIPS 1967 (the truth of the sleeping workload);
Hoefler & Belli, SC 2015, rule 1 (a speed-up names its base and prints the base's rate).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from study.analysis import reasons
from study.analysis.intervals import LogMean, Repeats, estimate, exact, mapped, welch
from study.analysis.labels import series_labels
from study.analysis.states import Blocks, blocks_of, ratio
from study.analysis.verdicts import Refused, judge
from study.domain.estimate import Estimate
from study.domain.summary import CellSummary, SeriesPoint, SeriesSummary
from study.domain.trial import Plan, Series
from study.domain.verdict import Verdict

IMPLAUSIBLE = 1.5
"""A speed-up of more than this many times the number of devices is refused until it is explained."""

Linearity = Literal["superlinear", "not_distinguishable", "below", "unknown"]


def summarise_series(
    plan: Plan, cells: Sequence[CellSummary], measured: Mapping[str, Repeats]
) -> tuple[SeriesSummary, ...]:
    """One summary a series, in the plan's order. Verdicts are judged in one family a task."""
    by_id = {cell.cell_id: cell for cell in cells}
    labels = series_labels(plan)
    verdicts, blocks = _verdicts(plan, by_id, measured), blocks_of(plan)
    return tuple(
        _series(series, labels[series.key], by_id, measured, verdicts, blocks=blocks)
        for series in plan.series
    )


def karp_flatt(speedup: float, devices: int) -> float:
    """Experimentally determined serial fraction (1/S - 1/n) / (1 - 1/n); n at least 2."""
    return (1 / speedup - 1 / devices) / (1 - 1 / devices)


def scaled_serial_fraction(speedup: float, devices: int) -> float:
    """Gustafson's serial fraction (n - S) / (n - 1) of a scaled speed-up; n at least 2."""
    return (devices - speedup) / (devices - 1)


def amdahl(serial_share: float, devices: int) -> float:
    """The speed-up 1 / (s + (1 - s)/n) of fixed work of which the share s cannot be divided."""
    return 1 / (serial_share + (1 - serial_share) / devices)


def linearity(speedup: Estimate | None, devices: int) -> Linearity:
    """How a speed-up relates to n: superlinear only if its whole interval lies above n."""
    if speedup is None or speedup.low is None or speedup.high is None:
        return "unknown"
    if speedup.low > devices:
        return "superlinear"
    return "below" if speedup.high < devices else "not_distinguishable"


def _verdicts(
    plan: Plan, cells: Mapping[str, CellSummary], measured: Mapping[str, Repeats]
) -> dict[tuple[str, str], Verdict]:
    """A verdict for every member of every series on more than one device."""
    families: dict[str, list[tuple[str, str]]] = defaultdict(list)
    ratios: dict[tuple[str, str], LogMean | Refused] = {}
    for series in plan.series:
        for member in series.members:
            devices = cells[member].cell.devices
            if devices > 1:
                place = (series.key, member)
                families[f"{cells[member].cell.task}-speedups"].append(place)
                ratios[place] = _against(measured, member, series.base, devices)
    return {
        place: verdict
        for family, places in families.items()
        for place, verdict in zip(
            places, judge(family, [ratios[p] for p in places], plan.protocol.margin), strict=True
        )
    }


def _against(
    measured: Mapping[str, Repeats], member: str, base: str | None, devices: int
) -> LogMean | Refused:
    """The ratio of a member to its base, or why there is none."""
    if member not in measured:
        return Refused(reason=reasons.NOT_MEASURED)
    if base is None:
        return Refused(reason=reasons.NO_BASE)
    if base not in measured:
        return Refused(reason=reasons.BASE_NOT_MEASURED)
    ratio = welch(measured[member], measured[base])
    return Refused(reason=reasons.IMPLAUSIBLE) if ratio.value > IMPLAUSIBLE * devices else ratio


def _series(
    series: Series,
    label: str,
    cells: Mapping[str, CellSummary],
    measured: Mapping[str, Repeats],
    verdicts: Mapping[tuple[str, str], Verdict],
    *,
    blocks: Blocks,
) -> SeriesSummary:
    unknown: dict[str, str] = {}
    base = cells[series.base] if series.base is not None else None
    base_rate = base.rate if base else None
    if base_rate is None:
        unknown["base_rate"] = reasons.BASE_NOT_MEASURED if base else reasons.NO_BASE
    wrapper, why_not = _wrapper_cost(series, measured, blocks)
    if wrapper is None:
        unknown["wrapper_cost"] = why_not
    shown = cells[series.members[-1]]
    return SeriesSummary(
        series=series,
        label=label,
        workload=shown.cell.workload,
        size=shown.cell.size,
        task=shown.cell.task,
        unit=shown.unit,
        base_rate=base_rate,
        wrapper_cost=wrapper,
        points=tuple(
            _point(series, cells[member], measured, verdicts.get((series.key, member)))
            for member in series.members
        ),
        unknown=unknown,
    )


def _wrapper_cost(
    series: Series, measured: Mapping[str, Repeats], blocks: Blocks
) -> tuple[Estimate | None, str]:
    """The base's rate over that of the same strategy on one device, paired by block."""
    base, own = series.base, series.own_base
    if base is not None and base == own:
        return None, reasons.SAME_CODE
    if base is None or own is None:
        return None, reasons.NO_BASE if base is None else reasons.NO_OWN_BASE
    if base not in measured or own not in measured:
        return None, reasons.BASE_NOT_MEASURED if base not in measured else reasons.OWN_BASE_NOT_MEASURED
    found = ratio(blocks, (base, measured[base]), (own, measured[own]))
    return (estimate(found), "") if found else (None, reasons.TOO_FEW_PAIRS)


def _point(
    series: Series, cell: CellSummary, measured: Mapping[str, Repeats], verdict: Verdict | None
) -> SeriesPoint:
    devices = cell.cell.devices
    unknown: dict[str, str] = {}
    if cell.rate is None:
        unknown["rate"] = reasons.NOT_MEASURED
    speedup, why_not = _speedup(measured, cell, series.base)
    own, why_not_own = _own_speedup(series, cell, measured)
    efficiency = mapped(speedup, lambda s: s / devices) if speedup else None
    if speedup is None:
        unknown |= {"speedup": why_not, "efficiency": why_not}
    if own is None:
        unknown["own_speedup"] = why_not_own
    fraction = overhead = None
    if devices == 1:
        unknown |= dict.fromkeys(("karp_flatt", "overhead", "verdict"), reasons.ONE_DEVICE)
    else:
        # What is lost is a small difference of two numbers: without an interval its digits say nothing.
        doubted = speedup if speedup is not None and speedup.low is not None else None
        why_not = speedup.refusal if speedup and not doubted else why_not
        if series.scaling == "strong" and doubted:
            fraction = mapped(doubted, lambda s: karp_flatt(s, devices))
        if series.scaling == "weak" and doubted:
            overhead = mapped(doubted, lambda s: 1 - s / devices)
        if fraction is None:
            unknown["karp_flatt"] = reasons.STRONG_ONLY if series.scaling == "weak" else why_not
        if overhead is None:
            unknown["overhead"] = reasons.WEAK_ONLY if series.scaling == "strong" else why_not
    truth = _truth(series, cell)
    if truth is None:
        unknown["truth"] = reasons.NO_TRUTH
    return SeriesPoint(
        devices=devices,
        cell_id=cell.cell_id,
        rate=cell.rate,
        speedup=speedup,
        efficiency=efficiency,
        own_speedup=own,
        karp_flatt=fraction,
        overhead=overhead,
        verdict=verdict,
        oversubscribed=cell.oversubscribed,
        truth=truth,
        unknown=unknown,
    )


def _speedup(
    measured: Mapping[str, Repeats], cell: CellSummary, base: str | None
) -> tuple[Estimate | None, str]:
    """The speed-up with its pointwise 95 % interval, or the reason why there is none."""
    if base == cell.cell_id and base in measured:
        return exact(1.0, len(measured[base].trials)), ""
    ratio = _against(measured, cell.cell_id, base, cell.cell.devices)
    return (None, ratio.reason) if isinstance(ratio, Refused) else (estimate(ratio), "")


def _own_speedup(
    series: Series, cell: CellSummary, measured: Mapping[str, Repeats]
) -> tuple[Estimate | None, str]:
    """The speed-up against the same strategy on one device.

    Where the base is another strategy, the base's own ratio is the wrapper's cost and no speed-up.
    """
    if cell.cell_id == series.base != series.own_base:
        return None, reasons.ONE_DEVICE
    own, why_not = _speedup(measured, cell, series.own_base)
    named = {reasons.NO_BASE: reasons.NO_OWN_BASE, reasons.BASE_NOT_MEASURED: reasons.OWN_BASE_NOT_MEASURED}
    return own, named.get(why_not, why_not)


def _truth(series: Series, cell: CellSummary) -> float | None:
    """The true speed-up where the workload sleeps by Amdahl's law: fixed work, a stated serial share."""
    share = cell.cell.options.get("serial_share")
    if series.scaling != "strong" or not isinstance(share, float | int):
        return None
    return amdahl(float(share), cell.cell.devices)
