"""The table of all trials: every attempt that counts, in the order of the run, failures included."""

from study.article.material import Material
from study.article.words import EVENTS, OUTCOMES, a_second, count, entry, number, shared_unit, unit_column
from study.domain.figure import Column, Table, TableCell
from study.domain.summary import CellSummary, TrialSummary
from study.domain.text import Listing, Name, Slot, said

NO_FAULT = said("Nothing to report.")
NO_CELL = said("The plan has no such cell.")


def all_trials(material: Material) -> Table:
    """One row a trial, in order."""
    cells = {cell.cell_id: cell for cell in material.analysis.cells}
    trials = sorted(material.analysis.trials, key=lambda trial: (trial.order, trial.attempt))
    return Table(
        key="t-trials",
        caption=said("All trials in the order in which they were run, failed and excluded ones too."),
        columns=(
            Column(key="order", title=said("Order"), style="integer"),
            Column(key="block", title=said("Block"), style="integer"),
            Column(key="attempt", title=said("Attempt"), style="integer"),
            Column(key="cell", title=said("Cell"), numeric=False),
            Column(key="outcome", title=said("Outcome"), numeric=False),
            Column(
                key="rate_per_s",
                title=said("Rate"),
                style="rate",
                unit=shared_unit({cell.unit for cell in cells.values() if cell.rate}),
            ),
            unit_column(),
            Column(key="steps", title=said("Steps"), style="integer"),
            Column(key="window_s", title=said("Window"), style="seconds", unit="s"),
            Column(key="foreign_cpu_share", title=said("Other programs"), style="percent"),
            Column(key="reason", title=said("Reason"), numeric=False),
            Column(key="trial", title=said("Trial"), numeric=False),
        ),
        rows=tuple(_row(trial, cells.get(trial.cell_id)) for trial in trials),
    )


def _row(trial: TrialSummary, cell: CellSummary | None) -> tuple[TableCell, ...]:
    unknown = trial.unknown
    return (
        count(trial.order),
        count(trial.block),
        count(trial.attempt),
        Name(text=cell.label if cell else trial.cell_id),
        OUTCOMES[trial.outcome],
        entry(number(trial.rate, "rate", cell.unit if cell else ""), unknown.get("rate", "")),
        entry(a_second(cell.unit) if cell else None, "", NO_CELL),
        entry(count(len(trial.step_ns)) if trial.step_ns else None, unknown.get("rate", "")),
        entry(number(trial.wall_s, "seconds"), unknown.get("wall_s", "")),
        entry(number(trial.foreign_cpu_share, "percent"), unknown.get("foreign_cpu_share", "")),
        entry(_reason(trial), "", NO_FAULT),
        Name(text=trial.trial, code=True),
    )


def _reason(trial: TrialSummary) -> Slot | None:
    """Why it has no rate, or what happened in its window."""
    if trial.fault:
        return Name(text=trial.fault)
    if not trial.window_events:
        return None
    events = tuple(EVENTS.get(name, Name(text=name)) for name in trial.window_events)
    return said("In its window: {events}.", events=Listing(items=events))
