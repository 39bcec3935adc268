"""The peak rates of devices: what a perfect program could reach, from sheets that are named.

The table is `peaks.json`: dense figures with FP32 accumulation at the boost clock of the sheet, each with
its source and how certain it is. A device is found by its exact name or not at all: "NVIDIA L4" begins
"NVIDIA L40S", and a share of another card's peak is a wrong number that looks right.
"""

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from study.analysis import reasons
from study.analysis.verdicts import Refused
from study.domain.errors import OurFault
from study.domain.fact import Fact, missing_reasons
from study.domain.record import Numerics

FORMULA_TOLERANCE = 0.012
"""Sheets round the clock: the formula reproduces every known figure within this share."""

SPARSE_TOLERANCE = 0.015
"""The sheet of the L40S prints 733 sparse beside 362.05 dense; all others are closer to the ratio 2."""


class Card(Fact, frozen=True, kw_only=True):
    """One row of the table. `names` are what driver and torch call the card, exactly.

    Rates are in TFLOP/s, dense. fp16 and bf16 accumulate in FP32; `fp16_accumulate_tflops` is with
    accumulation in FP16. `fp32_tflops` is without tensor cores. `sparse_fp16_tflops` is what the sheet
    prints for 2:4 sparse matrices, kept to catch it where it poses as dense. Bandwidths are of memory and,
    per direction, of the links between cards. Boards that boost above the sheet have an `mfu_limit` above 1.
    """

    names: tuple[str, ...]
    fp32_tflops: float | None
    tf32_tflops: float | None
    bf16_tflops: float | None
    fp16_tflops: float | None
    fp16_accumulate_tflops: float | None
    sparse_fp16_tflops: float | None
    bandwidth_gb_s: float
    link_gb_s: float | None
    multiprocessors: int | None
    clock_ghz: float | None
    fma_per_clock: int | None
    mfu_limit: float
    source: str
    checked_against: tuple[str, ...]
    certainty: Literal["high", "medium", "low"]
    note: str
    unknown: dict[str, str]


class Peak(Fact, frozen=True, kw_only=True):
    """What one device could do at most at one precision; a utilisation above `limit` is impossible."""

    flops_per_s: float
    bytes_per_s: float
    limit: float
    source: str


def peak(device: str, precision: str, numerics: Numerics) -> Peak | Refused:
    """The peak of the device of exactly this name at this precision, under these numerical settings."""
    card = cards().get(device)
    if card is None:
        return Refused(reason=reasons.PEAK_UNKNOWN)
    if card.certainty == "low":
        return Refused(reason=reasons.PEAK_NOT_SETTLED)
    tf32 = (numerics.matmul_tf32, numerics.convolution_tf32)
    if (precision == "fp32" and any(tf32)) or (precision == "tf32" and not all(tf32)):
        return Refused(reason=reasons.PEAK_DIFFERS_BY_LAYER)
    accumulates = bool(numerics.reduced_precision_accumulation)
    tflops = {
        "fp32": card.fp32_tflops,
        "tf32": card.tf32_tflops,
        "bf16": card.bf16_tflops,
        "fp16": card.fp16_accumulate_tflops if accumulates else card.fp16_tflops,
    }
    if precision not in tflops:
        return Refused(reason=reasons.PEAK_NOT_DEFINED)
    found = tflops[precision]
    if found is None:
        return Refused(reason=reasons.NO_TENSOR_PATH)
    return Peak(
        flops_per_s=found * 1e12,
        bytes_per_s=card.bandwidth_gb_s * 1e9,
        limit=card.mfu_limit,
        source=card.source,
    )


@cache
def cards() -> dict[str, Card]:
    """Every card of the packaged table by each of its names.

    Raises:
        OurFault: a row contradicts itself, or two rows share a name.
    """
    return read(Path(__file__).with_suffix(".json").read_bytes())


def read(table: bytes) -> dict[str, Card]:
    """A table of peaks as JSON, every row checked, by name.

    Raises:
        OurFault: a row contradicts itself, or two rows share a name.
    """
    found: dict[str, Card] = {}
    for card in msgspec.json.decode(table, type=tuple[Card, ...]):
        for fault in faults(card):
            raise OurFault(f"peaks.json, {card.names[0]}: {fault}", "Correct the row from its sheet.")
        for name in card.names:
            if name in found:
                raise OurFault(f"peaks.json has {name} twice.", "Remove one of the rows.")
            found[name] = card
    return found


def formula_tflops(card: Card) -> float | None:
    """Multiprocessors x fused multiply-adds a clock x 2 operations x clock; null where one is not known."""
    if card.multiprocessors is None or card.fma_per_clock is None or card.clock_ghz is None:
        return None
    return card.multiprocessors * card.fma_per_clock * 2 * card.clock_ghz / 1e3


def faults(card: Card) -> list[str]:
    """What contradicts itself in a row: above all a sparse figure in the place of a dense one."""
    wrong = [f"{name} is null without a reason." for name in missing_reasons(card, card.unknown)]
    dense, formula = card.fp16_tflops, formula_tflops(card)
    if dense is None:
        return wrong
    if formula is not None and abs(dense / formula - 1) > FORMULA_TOLERANCE:
        wrong.append(f"fp16 is {dense:.5g} TFLOP/s, and multiprocessors and clock give {formula:.5g}.")
    sparse = card.sparse_fp16_tflops
    if sparse is not None and abs(sparse / (2 * dense) - 1) > SPARSE_TOLERANCE:
        wrong.append(f"fp16 is {dense:.5g} TFLOP/s, and half of the sparse figure is {sparse / 2:.5g}.")
    if card.bf16_tflops not in (None, dense):
        wrong.append("bf16 and fp16 differ, and tensor cores run both at one rate.")
    if card.tf32_tflops is not None and card.tf32_tflops > dense / 2 * (1 + SPARSE_TOLERANCE):
        wrong.append("tf32 is more than half of fp16.")
    if card.fp16_accumulate_tflops not in (dense, 2 * dense):
        wrong.append("accumulation in FP16 is neither as fast as in FP32 nor twice as fast.")
    return wrong
