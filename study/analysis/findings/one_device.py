"""What one device does: the absolute rate of every cell on one device, the base of all that follows."""

from study.analysis import caveats, claims, evidence
from study.analysis.parts import Parts
from study.domain.estimate import Estimate
from study.domain.finding import Finding
from study.domain.summary import CellSummary
from study.domain.text import Slot

FACTS = {
    "summary": "The absolute throughput of each workload on one device.",
    "section": "one_device",
    "rank": 10,
}

FRAMES = {
    "train": (
        "Training throughput of {workload} on one device is {rate} at batch {batch} ({strategy}, "
        "{precision})."
    ),
    "infer": (
        "Inference throughput of {workload} on one device is {rate} at batch {batch} ({strategy}, "
        "{precision})."
    ),
    "train_too_few": (
        "Training throughput of {workload} on one device was {value} at batch {batch} ({strategy}, "
        "{precision}); fewer than three trials do not allow an interval."
    ),
    "infer_too_few": (
        "Inference throughput of {workload} on one device was {value} at batch {batch} ({strategy}, "
        "{precision}); fewer than three trials do not allow an interval."
    ),
    "short_train": "Training throughput of {workload} on one device is {value}.",
    "short_infer": "Inference throughput of {workload} on one device is {value}.",
}


def find(parts: Parts) -> list[Finding]:
    """One finding for each training or inference cell on one device that is a base or stands alone.

    The cell of a strategy that has a version made for one device beside it is told by its cost.
    """
    wrapped = {
        s.series.own_base
        for s in parts.series
        if s.series.base is not None and s.series.base != s.series.own_base
    }
    return [
        _claim(parts, cell, cell.rate)
        for cell in parts.cells
        if cell.cell.devices == 1
        and cell.cell.task in ("train", "infer")
        and cell.rate is not None
        and cell.cell_id not in wrapped
    ]


def _claim(parts: Parts, cell: CellSummary, rate: Estimate) -> Finding:
    disturbed = (*caveats.disturbances(parts, cell.cell_id), *caveats.of_drift(parts))
    slots: dict[str, Slot] = {
        "workload": claims.workload(cell.cell),
        "rate": claims.rate(cell, rate),
        "value": claims.bare_rate(cell, rate),
        "batch": claims.whole(cell.cell.batch),
        "strategy": claims.strategy(parts, cell.cell),
        "precision": claims.code(cell.cell.precision),
    }
    frame = cell.cell.task if rate.low is not None else f"{cell.cell.task}_too_few"
    return claims.claim(
        key=f"one-device.{cell.cell_id}",
        shelf="one-device",
        section="one_device",
        sentence=claims.worded(FRAMES[frame], slots),
        short=claims.worded(FRAMES[f"short_{cell.cell.task}"], slots),
        evidence=evidence.of_value(rate, parts.margin, flagged=bool(disturbed)),
        note=evidence.trials(rate.n),
        estimate=rate,
        style="rate",
        unit=cell.unit,
        table="t-throughput",
        figure="fig-throughput",
        weight=claims.fewer_first(cell.cell.devices),
        trials=cell.trials,
        caveats=disturbed,
    )
