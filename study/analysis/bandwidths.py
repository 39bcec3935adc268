"""The bandwidth of cells that measure one: of memory by copies, of links by sums over all devices.

A copy's work is the bytes that it reads and writes. A sum's work is messages, one of every device, so a
cell of n devices makes rate / n sums a second; its bus bandwidth compares with what a link carries in one
direction (nccl-tests, PERFORMANCE.md).
"""

from collections.abc import Sequence

import msgspec

from study.analysis import reasons
from study.analysis.intervals import mapped
from study.analysis.traffic import bus_bandwidth
from study.domain.estimate import Estimate
from study.domain.shelf import WorkloadFacts, facts
from study.domain.summary import CellSummary

COPIES = "memcpy"
"""The micro-workload that copies within each device's memory."""

SUMS = "allreduce"
"""The micro-workload that sums messages over all devices."""


GIGA = 1e9
"""Bytes in a GB, as bandwidths are told."""


def with_bandwidth(cells: Sequence[CellSummary]) -> tuple[CellSummary, ...]:
    """The same summaries with their bandwidth, or the reason why there is none."""
    return tuple(_measured(cell) for cell in cells)


def _measured(cell: CellSummary) -> CellSummary:
    if cell.cell.workload not in (COPIES, SUMS):
        return msgspec.structs.replace(cell, unknown={**cell.unknown, "bandwidth_gb_s": reasons.NO_BANDWIDTH})
    if cell.rate is None:
        return msgspec.structs.replace(cell, unknown={**cell.unknown, "bandwidth_gb_s": reasons.NOT_MEASURED})
    found = _memory(cell, cell.rate) if cell.cell.workload == COPIES else _bus(cell, cell.rate)
    return msgspec.structs.replace(cell, bandwidth_gb_s=found)


def _memory(cell: CellSummary, rate: Estimate) -> Estimate:
    """Gigabytes read and written a second, of each device."""
    return mapped(rate, lambda bytes_per_s: bytes_per_s / cell.cell.devices / GIGA, "GB/s")


def _bus(cell: CellSummary, rate: Estimate) -> Estimate:
    """Gigabytes a second that each link must have carried in one direction."""
    n, size = cell.cell.devices, message_bytes(cell.cell.size)
    return mapped(rate, lambda messages: bus_bandwidth(size, n / messages, "all_reduce", n) / GIGA, "GB/s")


def message_bytes(size: str) -> int:
    """The bytes of one message, as the shelf file states them."""
    return int(facts("workloads", SUMS, WorkloadFacts).sizes[size]["bytes"])
