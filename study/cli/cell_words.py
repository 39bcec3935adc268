"""A cell in words, for the person waiting: "gpt tiny, training, 2 devices under ddp, fp32, batch 8"."""

from collections.abc import Sequence

from study.cli.plan import many
from study.domain.strategy_words import strategy_words
from study.domain.study import Task
from study.domain.trial import Cell, Plan

TASKS: dict[Task, str] = {"train": "training", "infer": "inference", "check": "check"}


def trial_words(plan: Plan) -> dict[tuple[str, str], str]:
    """What each trial of a plan measures, by its role and its cell's id; no two cells have the same words."""
    cells = [planned.cell for planned in plan.cells]
    found = {("cell", planned.id): _words(planned.cell, cells) for planned in plan.cells}
    if plan.sentinel is not None:
        cell = plan.sentinel.cell
        found["sentinel", plan.sentinel.id] = f"the sentinel: {_words(cell, [cell])}"
    return found


def _words(cell: Cell, among: Sequence[Cell]) -> str:
    """The factors that a reader looks for, and of the rest what tells this cell from the others."""
    devices = many(cell.devices, "device")
    return ", ".join(
        [
            f"{cell.workload} {cell.size}".strip(),
            TASKS[cell.task],
            devices if cell.strategy == "single" else f"{devices} under {strategy_words(cell, among)}",
            cell.precision,
            f"batch {cell.batch}",
            *([f"variant {cell.variant}"] if cell.variant else []),
            *_varying(cell, among),
        ]
    )


def _varying(cell: Cell, among: Sequence[Cell]) -> list[str]:
    """Threads and options of which cells of the same workload and task have several levels."""
    alike = [other for other in among if (other.workload, other.task) == (cell.workload, cell.task)]
    found = []
    if len({other.threads_per_device for other in alike}) > 1:
        found.append(f"{many(cell.threads_per_device, 'thread')} a device")
    for key, value in sorted(cell.options.items()):
        if len({other.options.get(key) for other in alike}) > 1:
            found.append(f"{key} {value}")
    return found
