"""All attempts as one pandas frame, one row an attempt, with units in the column names."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from study.analysis.trials import summarise
from study.domain.record import Measured, Record

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(records: Sequence[Record]) -> "DataFrame":
    """One row an attempt, in order of trials and attempts; what is not known is missing, never zero.

    `role` tells the trials of the sentinel from those of a cell with the same id. `counts` says whether the
    attempt is the one that the analysis uses for its trial. Options of the workload stand in columns named
    `option_<name>`.
    """
    import pandas as pd

    roles = [[record for record in records if record.role == role] for role in ("cell", "sentinel")]
    used = {(summary.trial, summary.attempt): summary for each in roles for summary in summarise(each)}
    rows = []
    for record in sorted(records, key=lambda r: (r.order, r.trial, r.attempt, r.started_utc)):
        counts = (record.trial, record.attempt) in used
        summary = used[record.trial, record.attempt] if counts else summarise([record])[0]
        readings = record.outcome.readings if isinstance(record.outcome, Measured) else ()
        peaks = [r.peak_memory_bytes for r in readings if r.peak_memory_bytes is not None]
        rows.append(
            {
                "trial": record.trial,
                "cell_id": record.cell_id,
                "role": record.role,
                "order": record.order,
                "block": record.block,
                "attempt": record.attempt,
                "counts": counts,
                "outcome": summary.outcome,
                "fault": summary.fault,
                "started_utc": record.started_utc,
                "workload": record.cell.workload,
                "size": record.cell.size,
                "task": record.cell.task,
                "strategy": record.cell.strategy,
                "accelerator": record.cell.accelerator,
                "devices": record.cell.devices,
                "nodes": record.cell.nodes,
                "precision": record.cell.precision,
                "global_batch": record.cell.batch,
                "threads_per_device": record.cell.threads_per_device,
                "variant": record.cell.variant,
                "work_unit": readings[0].work_unit if readings else None,
                "work": summary.work,
                "wall_s": summary.wall_s,
                "rate_per_s": summary.rate,
                "steps": len(summary.step_ns) or None,
                "step_mean_s": sum(summary.step_ns) / len(summary.step_ns) / 1e9 if summary.step_ns else None,
                "imbalance_share": summary.imbalance,
                "peak_memory_bytes": max(peaks) if peaks else None,
                "foreign_cpu_share": summary.foreign_cpu_share,
                "load_before": record.surroundings.load_before,
                "turnaround_s": record.turnaround_ns / 1e9,
                **{f"option_{name}": value for name, value in sorted(record.cell.options.items())},
            }
        )
    table = pd.DataFrame(rows).convert_dtypes()
    # A column without a single value has no type to infer; this one is whole on every accelerator but cpu.
    return table.astype({"peak_memory_bytes": "Int64"}) if rows else table
