"""How much of a device a model uses: its own floating-point operations over what the device could do.

MFU, the model's utilisation, counts the operations that the model needs; those that recomputation repeats are
not counted. HFU counts them too, so it may stand only beside MFU. Decoding is bound by memory, so its
measure is MBU: the bytes that a step must read over what the memory could deliver.

Sources: Chowdhery et al. 2022 (PaLM), arXiv 2204.02311, appendix B (MFU); Narayanan et al., SC 2021, arXiv
2104.04473 (operations of a GPT step with recomputation); MLPerf training rules, appendix Utilization.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec

from study.analysis import reasons
from study.analysis.intervals import mapped
from study.analysis.peaks import Peak, peak
from study.analysis.verdicts import Refused
from study.domain.estimate import Estimate
from study.domain.fact import Fact
from study.domain.record import Measured, Reading, Record
from study.domain.summary import CellSummary, TrialSummary
from study.domain.trial import Cell

Attention = Literal["full", "causal", "none"]

PAIRS = {"full": 12, "causal": 6, "none": 0}
"""Operations per layer, head, width and position seen, forward and backward; full attention by convention."""

CEILING = "gemm"
"""The micro-workload whose best trial is the measured ceiling: large matrix products and nothing else."""

FIELDS = ("tflops_per_device", "mfu", "mfu_of_ceiling")

Flops = Callable[[Reading], int | None]
"""The model's operations in one step of one rank's share, or null where the workload states none."""


def transformer_flops_per_token(
    parameters: float,
    *,
    layers: int,
    heads: int,
    head_width: int,
    sequence: int,
    attention: Attention = "full",
) -> float:
    """Operations per trained token: 6 N + 12 L H Q T. Source: PaLM, appendix B.

    `parameters` are those in matrix products: without the input embedding, with the head; where the two
    are tied they count once. Of a mixture of experts they are the active ones.
    """
    return 6 * parameters + PAIRS[attention] * layers * heads * head_width * sequence


def prefill_flops_per_token(
    parameters: float, *, layers: int, heads: int, head_width: int, mean_context: float
) -> float:
    """Operations per token of a prompt, forward alone: 2 N + 4 L H Q T, with the mean context as T."""
    return 2 * parameters + 4 * layers * heads * head_width * mean_context


def gpt_step_flops(
    *, batch: int, sequence: int, layers: int, width: int, vocabulary: int, recompute: bool = False
) -> float:
    """Operations of one training step of a GPT: 72 B s l h² (1 + s/6h + V/12lh); recomputed 96 (… V/16lh).

    With `recompute` every layer's forward pass is done twice, so the result is for HFU.
    Source: Narayanan et al., SC 2021, section 3.
    """
    factor, head = (96, 16) if recompute else (72, 12)
    shape = 1 + sequence / (6 * width) + vocabulary / (head * layers * width)
    return factor * batch * sequence * layers * width**2 * shape


def utilisation(flops_per_s: float, *, devices: int, peak_flops_per_s: float) -> float:
    """MFU of the model's operations, HFU of all that were done: a share of what all devices could do."""
    return flops_per_s / (devices * peak_flops_per_s)


def hfu(mfu: float, *, model_flops: float, hardware_flops: float) -> float:
    """HFU from MFU and both counts of the same step."""
    return mfu * hardware_flops / model_flops


def cache_bytes(
    *, batch: int, context: int, layers: int, key_heads: int, head_width: int, element_bytes: int
) -> int:
    """Bytes of a key-value cache: a key and a value for each layer, key head and token."""
    return 2 * batch * context * layers * key_heads * head_width * element_bytes


def mbu(*, weight_bytes: float, cache_bytes: float, step_s: float, bytes_per_s: float) -> float:
    """The share of the memory's bandwidth that one decoding step must use: weights and cache, read once."""
    return (weight_bytes + cache_bytes) / step_s / bytes_per_s


class Used(Fact, frozen=True, kw_only=True):
    """What the utilisation of one cell is made of; `device` is the one name of all its devices."""

    flops_per_unit: float
    device: str | Refused
    peak: Peak | Refused


def device_of(readings: Sequence[Reading]) -> str | Refused:
    """The name that all ranks' devices share."""
    names = sorted({reading.device for reading in readings})
    return names[0] if len(names) == 1 else Refused(reason=reasons.DEVICES_DIFFER)


def peak_of(cell: Cell, readings: Sequence[Reading]) -> Peak | Refused:
    """The peak of each device of a cell, by the name and the settings that its ranks reported."""
    device = device_of(readings)
    return device if isinstance(device, Refused) else peak(device, cell.precision, readings[0].numerics)


def utilised(
    cells: Sequence[CellSummary], trials: Sequence[TrialSummary], records: Sequence[Record], *, flops: Flops
) -> tuple[CellSummary, ...]:
    """The same summaries with TFLOP/s per device, MFU, and MFU of the measured ceiling, or why not.

    The intervals are those of the rate, since operations and peaks are exact. The ceiling is the best trial
    of the run's matrix products on one device of the same name at the same precision, without an interval.
    """
    usable = {trial.trial for trial in trials if trial.rate is not None}
    readings: dict[str, list[Reading]] = defaultdict(list)
    for record in records:
        if record.trial in usable and isinstance(record.outcome, Measured):
            readings[record.cell_id] += record.outcome.readings
    used = {cell.cell_id: _used(cell.cell, readings[cell.cell_id], flops) for cell in cells}
    ceilings = _ceilings(cells, trials, used)
    return tuple(_utilised(cell, used[cell.cell_id], ceilings) for cell in cells)


def _used(cell: Cell, readings: Sequence[Reading], flops: Flops) -> Used | Refused:
    """Operations per unit of work over all readings of a cell."""
    if not readings:
        return Refused(reason=reasons.NOT_MEASURED)
    total = 0
    for reading in readings:
        per_step = flops(reading)
        if per_step is None:
            return Refused(reason=reasons.NO_FLOPS)
        total += per_step * len(reading.step_ns)
    work = sum(reading.work for reading in readings)
    return Used(flops_per_unit=total / work, device=device_of(readings), peak=peak_of(cell, readings))


def _ceilings(
    cells: Sequence[CellSummary], trials: Sequence[TrialSummary], used: Mapping[str, Used | Refused]
) -> dict[tuple[str, str], float]:
    """Operations a second of the best trial of matrix products, by device name and precision."""
    best: dict[tuple[str, str], float] = {}
    for cell in cells:
        of = used[cell.cell_id]
        alone = cell.cell.workload == CEILING and cell.cell.devices == 1
        if not alone or isinstance(of, Refused) or isinstance(of.device, Refused):
            continue
        rates = [t.rate for t in trials if t.cell_id == cell.cell_id and t.rate is not None]
        place = (of.device, cell.cell.precision)
        best[place] = max(best.get(place, 0.0), max(rates) * of.flops_per_unit)
    return best


def _utilised(
    cell: CellSummary, used: Used | Refused, ceilings: Mapping[tuple[str, str], float]
) -> CellSummary:
    """One summary with what is known of its utilisation."""
    found: dict[str, Estimate | Refused]
    if cell.rate is None or isinstance(used, Refused):
        found = dict.fromkeys(
            FIELDS, used if isinstance(used, Refused) else Refused(reason=reasons.NOT_MEASURED)
        )
    else:
        per_device = mapped(cell.rate, lambda rate: rate * used.flops_per_unit / cell.cell.devices)
        ceiling = _ceiling(cell, used, ceilings)
        found = {
            "tflops_per_device": mapped(per_device, lambda flops: flops / 1e12, "TFLOP/s"),
            "mfu": _share(per_device, used.peak.flops_per_s if isinstance(used.peak, Peak) else used.peak),
            "mfu_of_ceiling": _share(per_device, ceiling),
        }
    values = {name: value if isinstance(value, Estimate) else None for name, value in found.items()}
    why = {name: value.reason for name, value in found.items() if isinstance(value, Refused)}
    others = {name: reason for name, reason in cell.unknown.items() if name not in FIELDS}
    return msgspec.structs.replace(cell, **values, unknown={**others, **why})


def _share(flops_per_s: Estimate, limit: float | Refused) -> Estimate | Refused:
    """Of a limit that is known without doubt, or its refusal."""
    return limit if isinstance(limit, Refused) else mapped(flops_per_s, lambda flops: flops / limit)


def _ceiling(cell: CellSummary, used: Used, ceilings: Mapping[tuple[str, str], float]) -> float | Refused:
    """The measured ceiling that a cell is held against, in operations a second, or why there is none."""
    if cell.cell.workload == CEILING:
        return Refused(reason=reasons.IS_THE_CEILING)
    if isinstance(used.device, Refused):
        return used.device
    found = ceilings.get((used.device, cell.cell.precision))
    return Refused(reason=reasons.NO_CEILING) if found is None else found
