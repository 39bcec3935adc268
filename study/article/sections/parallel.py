"""Model parallelism: several strategies on the same devices, their rates, speed-ups and memory in one table.

Failed and skipped cells are rows with their reason: that a strategy cannot run is a result about it.
"""

from collections.abc import Iterator

import msgspec

from study.article.material import Material, cells_in_order
from study.article.words import (
    NOT_MEASURED,
    TASKS,
    a_second,
    alone,
    count,
    entry,
    estimate,
    model,
    number,
    shared_unit,
    strategy,
    unit_column,
)
from study.domain.article import Paragraph, SectionOfArticle, TableBlock
from study.domain.figure import Column, Missing, Table, TableCell
from study.domain.record import Measured
from study.domain.summary import CellSummary, SeriesPoint
from study.domain.text import Est, Name, Term, Text, said
from study.domain.trial import Cell, SkippedCell

FULLEST = said("Memory is the largest peak of any device in any trial, over warm-up and window.")
OF_A_PROCESS = said("On the CPU it is that of a process, with Python and its libraries.")
NO_SERIES = said("There is no measurement on one device to compare it with.")


def section(material: Material) -> SectionOfArticle | None:
    """None where no two strategies were planned on the same devices, or nothing of them was measured."""
    cells = _shown(material)
    if not any(cell.rate is not None for cell in cells):
        return None
    words = (FULLEST, *((OF_A_PROCESS,) if material.run.plan.accelerator == "cpu" else ()))
    return SectionOfArticle(
        key="parallel",
        title=said("Model parallelism"),
        blocks=(
            *material.findings_as_prose("parallel"),
            Paragraph(sentences=words),
            TableBlock(table=_table(material, cells)),
        ),
    )


def _shown(material: Material) -> tuple[CellSummary, ...]:
    """Cells that share devices and work with a cell of another strategy, and the bases of their series."""
    cells = cells_in_order(material.analysis)
    places = [_place(cell.cell) for cell in cells if _is_shared(cell.cell)]
    ids = {c.cell_id for c in cells if _is_shared(c.cell) and places.count(_place(c.cell)) > 1}
    bases = {s.series.base for s in material.analysis.series if ids & set(s.series.members)}
    return tuple(cell for cell in cells if cell.cell_id in ids | bases)


def _is_shared(cell: Cell) -> bool:
    return cell.devices > 1 and cell.task != "check"


def _place(cell: Cell) -> Cell:
    """What strategies on the same devices have in common: all but how they spread the work."""
    return msgspec.structs.replace(cell, strategy="", mesh={}, strategy_options={})


def _skipped(material: Material, cells: tuple[CellSummary, ...]) -> Iterator[SkippedCell]:
    """Skipped cells of several devices whose work is that of a cell shown, on as many devices or others."""
    works = [_work(cell.cell) for cell in cells]
    for cell in material.run.plan.skipped:
        if _is_shared(cell.cell) and cell.cell.strategy != "single" and _work(cell.cell) in works:
            yield cell


def _work(cell: Cell) -> Cell:
    return msgspec.structs.replace(_place(cell), devices=1)


def _table(material: Material, cells: tuple[CellSummary, ...]) -> Table:
    unit = shared_unit({cell.unit for cell in cells if cell.rate})
    return Table(
        key="t-parallel",
        caption=said(
            "Strategies on the same devices beside one device: rates and speed-ups with pointwise intervals,"
            " and the memory of the fullest device."
        ),
        columns=(
            Column(key="model", title=said("Model"), numeric=False),
            Column(key="task", title=said("Task"), numeric=False),
            Column(key="strategy", title=said("Strategy"), numeric=False),
            Column(key="devices", title=said("Devices"), style="integer"),
            Column(key="batch", title=said("Batch"), style="integer"),
            Column(key="rate_per_s", title=said("Rate"), style="rate", unit=unit),
            unit_column(),
            Column(key="speedup", title=said("Speed-up"), style="times"),
            Column(key="peak_memory_bytes", title=said("Peak memory"), style="bytes", unit="bytes"),
        ),
        rows=(
            *(_row(material, cell) for cell in cells),
            *(_skipped_row(material, cell) for cell in _skipped(material, cells)),
        ),
    )


def _row(material: Material, cell: CellSummary) -> tuple[TableCell, ...]:
    rate = estimate(cell.rate, "rate", cell.unit)
    return (
        model(cell),
        TASKS[cell.cell.task],
        strategy(cell.cell, material.analysis.cells),
        count(cell.cell.devices),
        count(cell.cell.batch),
        Missing(reason=_fault(material, cell)) if rate is None else rate,
        a_second(cell.unit),
        _speedup(material, cell),
        _memory(material, cell),
    )


def _skipped_row(material: Material, skipped: SkippedCell) -> tuple[TableCell, ...]:
    cell, why = skipped.cell, Missing(reason=alone(Term(text=skipped.reason)))
    return (
        Name(text=f"{cell.workload} {cell.size}".strip()),
        TASKS[cell.task],
        strategy(cell, material.analysis.cells),
        count(cell.devices),
        count(cell.batch),
        *(why,) * 4,
    )


def _fault(material: Material, cell: CellSummary) -> Text:
    """Why a cell has no rate: what its first trial that failed says."""
    faults = (t.fault for t in material.analysis.trials if t.cell_id == cell.cell_id and t.fault)
    fault = next(faults, "")
    return alone(Name(text=fault)) if fault else NOT_MEASURED


def _speedup(material: Material, cell: CellSummary) -> TableCell:
    points: list[SeriesPoint] = [
        point for one in material.analysis.series for point in one.points if point.cell_id == cell.cell_id
    ]
    if not points:
        return Missing(reason=NO_SERIES)
    found: Est | None = estimate(points[0].speedup, "times")
    return entry(found, points[0].unknown.get("speedup", ""))


def _memory(material: Material, cell: CellSummary) -> TableCell:
    """The largest peak of all ranks and measured trials, or the first reason why one is not known."""
    readings = [
        reading
        for record in material.records
        if record.trial in cell.trials and record.role == "cell" and isinstance(record.outcome, Measured)
        for reading in record.outcome.readings
    ]
    peaks = [r.peak_memory_bytes for r in readings if r.peak_memory_bytes is not None]
    if len(peaks) < len(readings):
        reasons = (r.unknown.get("peak_memory_bytes", "") for r in readings if r.peak_memory_bytes is None)
        return entry(None, next(reasons))
    return entry(number(max(peaks), "bytes") if peaks else None, "")
