"""How much of the devices was used: operations against peak and ceiling, and what memory and links carry.

Only the model's own operations are counted (MFU), so recomputation does not look like work.
"""

from study.article.material import Material, cells_in_order
from study.article.words import TASKS, count, entry, estimate, model, strategy
from study.domain.article import Block, Paragraph, SectionOfArticle, TableBlock
from study.domain.figure import Column, Table, TableCell
from study.domain.summary import CellSummary
from study.domain.text import Est, Name, Num, said

LATENCY_BYTES = 16 * 2**20
"""Below it a bandwidth is a latency (ml-engineering, all-reduce tables)."""


def section(material: Material) -> SectionOfArticle | None:
    """None where the run counted no operations and measured no bandwidth."""
    cells = cells_in_order(material.analysis)
    computing = tuple(cell for cell in cells if cell.tflops_per_device is not None)
    moving = tuple(cell for cell in cells if cell.bandwidth_gb_s is not None)
    blocks = (*_operations(computing), *_bandwidths(moving))
    if not blocks:
        return None
    return SectionOfArticle(key="utilisation", title=said("How much of the devices was used"), blocks=blocks)


def _operations(cells: tuple[CellSummary, ...]) -> tuple[Block, ...]:
    if not cells:
        return ()
    words = Paragraph(
        sentences=(
            said(
                "Operations are those that the model needs, forward and backward in training; what is"
                " computed again to save memory is not counted."
            ),
            said(
                "The share of the peak (MFU) is of what the device's sheet promises, the share of the"
                " measured product of what large matrix products reached in this run."
            ),
        )
    )
    columns = (
        *_columns(),
        Column(key="tflops_per_device", title=said("Operations of each device"), unit="TFLOP/s"),
        Column(key="mfu_of_ceiling", title=said("Share of the measured product"), style="percent"),
        Column(key="mfu", title=said("Share of the peak (MFU)"), style="percent"),
    )
    table = Table(
        key="t-utilisation",
        caption=said("The model's operations a second, and the share of what the device can do."),
        columns=columns,
        rows=tuple(_used(cell, cells) for cell in cells),
    )
    return (words, TableBlock(table=table))


def _bandwidths(cells: tuple[CellSummary, ...]) -> tuple[Block, ...]:
    if not cells:
        return ()
    table = Table(
        key="t-bandwidth",
        caption=said("Bytes a second of each device's memory, and of the links between devices."),
        columns=(*_columns(), Column(key="bandwidth_gb_s", title=said("Bandwidth"), unit="GB/s")),
        rows=tuple((*_entries(cell, cells), entry(_shown(cell), "")) for cell in cells),
    )
    return (*_words(cells), TableBlock(table=table))


def _words(cells: tuple[CellSummary, ...]) -> tuple[Paragraph, ...]:
    """What the fastest exchange carried, in words."""
    exchanges = [cell for cell in cells if cell.cell.devices > 1 and cell.unit == "messages"]
    best = max(exchanges, key=_carried, default=None)
    shown = _shown(best) if best else None
    if best is None or shown is None:
        return ()
    return (
        Paragraph(
            sentences=(
                said(
                    "In the fastest sum over devices, {model} on {devices} devices, a link carried"
                    " {bandwidth} in each direction (bus bandwidth).",
                    model=model(best),
                    devices=count(best.cell.devices),
                    bandwidth=shown,
                ),
                said(
                    "Messages of less than {least} tell the latency of a link, not its bandwidth.",
                    least=Num(value=float(LATENCY_BYTES), style="bytes"),
                ),
            )
        ),
    )


def _columns() -> tuple[Column, ...]:
    return (
        Column(key="model", title=said("Model"), numeric=False),
        Column(key="task", title=said("Task"), numeric=False),
        Column(key="strategy", title=said("Strategy"), numeric=False),
        Column(key="precision", title=said("Precision"), numeric=False),
        Column(key="devices", title=said("Devices"), style="integer"),
        Column(key="batch", title=said("Batch"), style="integer"),
    )


def _entries(cell: CellSummary, among: tuple[CellSummary, ...]) -> tuple[TableCell, ...]:
    return (
        model(cell),
        TASKS[cell.cell.task],
        strategy(cell.cell, among),
        Name(text=cell.cell.precision, code=True),
        count(cell.cell.devices),
        count(cell.cell.batch),
    )


def _used(cell: CellSummary, among: tuple[CellSummary, ...]) -> tuple[TableCell, ...]:
    unknown = cell.unknown
    return (
        *_entries(cell, among),
        entry(estimate(cell.tflops_per_device, unit="TFLOP/s"), unknown.get("tflops_per_device", "")),
        entry(estimate(cell.mfu_of_ceiling, "percent"), unknown.get("mfu_of_ceiling", "")),
        entry(estimate(cell.mfu, "percent"), unknown.get("mfu", "")),
    )


def _carried(cell: CellSummary) -> float:
    return cell.bandwidth_gb_s.value if cell.bandwidth_gb_s else 0.0


def _shown(cell: CellSummary) -> Est | None:
    return estimate(cell.bandwidth_gb_s, unit="GB/s")
