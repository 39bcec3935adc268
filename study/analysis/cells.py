"""One summary a cell: its rate with its interval, its step times, its latency."""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import median

from study.analysis import intervals, reasons
from study.analysis.intervals import Repeats
from study.analysis.labels import cell_labels
from study.analysis.steady import agree
from study.analysis.tails import latency
from study.analysis.trials import awaited
from study.analysis.utilisation import FIELDS
from study.domain.record import Measured, Reading, Record
from study.domain.summary import CellSummary, TrialSummary
from study.domain.trial import Plan, PlannedCell

MEANS_DIFFER = 0.001
"""Kinds of mean that differ by more than this are both printed (a coefficient of variation of 4.5 %)."""


def repeats_by_cell(trials: Sequence[TrialSummary]) -> dict[str, Repeats]:
    """The measured trials of each cell that has any."""
    grouped: dict[str, list[TrialSummary]] = defaultdict(list)
    for trial in trials:
        if trial.rate is not None:
            grouped[trial.cell_id].append(trial)
    return {cell_id: intervals.repeats(several) for cell_id, several in grouped.items()}


def summarise_cells(
    plan: Plan, trials: Sequence[TrialSummary], records: Sequence[Record]
) -> tuple[CellSummary, ...]:
    """One summary for each planned cell, in the plan's order. `records` are those that count."""
    labels = cell_labels(plan)
    usable = {trial.trial for trial in trials if trial.rate is not None}
    readings: dict[str, list[tuple[Reading, ...]]] = defaultdict(list)
    for record in records:
        if record.trial in usable and isinstance(record.outcome, Measured):
            readings[record.cell_id].append(record.outcome.readings)
    units = _units(plan, readings)
    by_cell: dict[str, list[TrialSummary]] = defaultdict(list)
    for trial in trials:
        by_cell[trial.cell_id].append(trial)
    planned = Counter(trial.cell_id for trial in plan.trials if trial.role == "cell")
    return tuple(
        _cell(
            cell,
            label=labels[cell.id],
            unit=units[cell.id],
            planned_trials=planned[cell.id],
            trials=by_cell[cell.id],
            readings=readings[cell.id],
        )
        for cell in plan.cells
    )


def _units(plan: Plan, readings: dict[str, list[tuple[Reading, ...]]]) -> dict[str, str]:
    """The unit of work of each cell; one that was not measured has that of its workload and task."""
    known = {cell_id: several[0][0].work_unit for cell_id, several in readings.items() if several}
    shared = {(cell.cell.workload, cell.cell.task): known[cell.id] for cell in plan.cells if cell.id in known}
    return {
        cell.id: known.get(cell.id) or shared.get((cell.cell.workload, cell.cell.task), "")
        for cell in plan.cells
    }


def _cell(
    planned: PlannedCell,
    *,
    label: str,
    unit: str,
    planned_trials: int,
    trials: Sequence[TrialSummary],
    readings: Sequence[tuple[Reading, ...]],
) -> CellSummary:
    measured = intervals.repeats(trials)
    steps_ns = [step for ranks in readings for step in awaited(planned.cell, [r.step_ns for r in ranks])]
    unknown: dict[str, str] = {}
    rate, geometric_mean = None, None
    if measured.trials:
        rate = intervals.estimate(intervals.of_cell(measured), unit=f"{unit}/s")
        geometric_mean = math.exp(math.fsum(measured.logs) / len(measured.logs))
    else:
        missing = ("rate", "geometric_mean", "step_mean_s", "step_median_s")
        unknown |= dict.fromkeys(missing, reasons.NOT_MEASURED)
    tail = latency(planned.cell, readings)
    if tail is None:
        unknown["latency"] = reasons.NO_DECODING if readings else reasons.NOT_MEASURED
    parameters = next((r.parameters for several in readings for r in several if r.parameters), None)
    if parameters is None:
        unknown["parameters"] = reasons.NO_PARAMETERS if readings else reasons.NOT_MEASURED
    unknown |= dict.fromkeys(FIELDS, reasons.NO_FLOPS if readings else reasons.NOT_MEASURED)
    settled = [trial.steadiness for trial in trials if trial.steadiness is not None]
    if not settled:
        unknown["steadiness"] = reasons.NOT_MEASURED
    return CellSummary(
        cell_id=planned.id,
        cell=planned.cell,
        label=label,
        unit=unit,
        rate=rate,
        geometric_mean=geometric_mean,
        means_differ=geometric_mean is not None and abs(measured.rate / geometric_mean - 1) > MEANS_DIFFER,
        step_mean_s=math.fsum(steps_ns) / len(steps_ns) / 1e9 if steps_ns else None,
        step_median_s=median(steps_ns) / 1e9 if steps_ns else None,
        latency=tail,
        oversubscribed=planned.oversubscribed,
        measured=len(measured.trials),
        planned=planned_trials,
        trials=measured.trials,
        parameters=parameters,
        steadiness=agree(settled) if settled else None,
        unknown=unknown,
    )
