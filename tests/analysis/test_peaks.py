"""The table of peaks: exact names, dense figures, one precision at a time, and never another card's peak."""

from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

from study.analysis import reasons
from study.analysis.peaks import FORMULA_TOLERANCE, Card, cards, faults, formula_tflops, peak, read
from study.analysis.verdicts import Refused
from study.domain.errors import OurFault
from study.domain.record import Numerics

replace = msgspec.structs.replace

PLAIN = Numerics(
    matmul_tf32=False, convolution_tf32=False, reduced_precision_accumulation=False, deterministic=False
)
TF32 = replace(PLAIN, matmul_tf32=True, convolution_tf32=True)


def tflops(device, precision, numerics=PLAIN):
    """The peak in TFLOP/s, or the reason why there is none."""
    found = peak(device, precision, numerics)
    return found.reason if isinstance(found, Refused) else found.flops_per_s / 1e12


def table(*rows: Card) -> bytes:
    """A table of these rows as JSON."""
    return msgspec.json.encode(rows)


@pytest.mark.parametrize("card", {card.names: card for card in cards().values()}.values(), ids=str)
def test_multiprocessors_and_clock_give_the_figure_of_the_sheet(card):
    """Within 1.2 % wherever the clock is known; every row names its source and its certainty."""
    formula = formula_tflops(card)

    if formula is not None and card.fp16_tflops is not None:
        assert card.fp16_tflops == pytest.approx(formula, rel=FORMULA_TOLERANCE)
    assert card.source
    assert faults(card) == []


def test_most_rows_can_be_checked_by_formula():
    """The check is not empty: 25 of 30 cards have a clock and a figure."""
    rows = {card.names: card for card in cards().values()}.values()

    assert len(rows) == 30
    assert sum(formula_tflops(c) is not None and c.fp16_tflops is not None for c in rows) == 25


@pytest.mark.parametrize(
    ("device", "precision", "expected"),
    [
        ("NVIDIA H100 80GB HBM3", "bf16", 989.4),
        ("NVIDIA A100-SXM4-80GB", "fp16", 312),
        ("NVIDIA A100-SXM4-80GB", "fp32", 19.5),
        ("NVIDIA RTX A6000", "bf16", 154.8),
        ("NVIDIA GeForce RTX 4090", "bf16", 165.2),
        ("NVIDIA L40", "fp16", 181),
        ("AMD Instinct MI250X", "bf16", 191.5),
    ],
)
def test_peaks_of_known_cards(device, precision, expected):
    """Dense and accumulating in FP32: not 1,979, not 309.7, not the non-tensor 82.6; one die of two."""
    assert tflops(device, precision) == pytest.approx(expected)


def test_a_name_that_begins_another_is_another_card():
    """L4, L40 and L40S have three peaks."""
    found = [tflops(f"NVIDIA {name}", "bf16") for name in ("L4", "L40", "L40S")]

    assert found == pytest.approx([121, 181, 362])


@pytest.mark.parametrize(
    "device", ["NVIDIA L", "L4", "NVIDIA L4 ", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "NVIDIA B300", "Fake CPU"]
)
def test_an_unknown_device_has_no_peak(device):
    """No prefix, no slice of a card, no newer card, no processor: and never an A100's 312 instead."""
    assert tflops(device, "bf16") == reasons.PEAK_UNKNOWN


@pytest.mark.parametrize("device", ["Tesla V100-SXM2-16GB", "Tesla V100-PCIE-32GB", "Tesla T4"])
@pytest.mark.parametrize("precision", ["bf16", "tf32"])
def test_old_cards_have_no_tensor_path_for_bf16_and_tf32(device, precision):
    """The sentence says so; fp16 has a peak."""
    assert tflops(device, precision, TF32 if precision == "tf32" else PLAIN) == reasons.NO_TENSOR_PATH
    assert tflops(device, "fp16") >= 65


def test_accumulation_in_fp16_doubles_the_peak_of_a_geforce_only():
    """3090: 71 and 142; A6000: the same either way; bf16 always accumulates in FP32."""
    fast = replace(PLAIN, reduced_precision_accumulation=True)

    assert tflops("NVIDIA GeForce RTX 3090", "fp16") == pytest.approx(71.2)
    assert tflops("NVIDIA GeForce RTX 3090", "fp16", fast) == pytest.approx(142.4)
    assert tflops("NVIDIA GeForce RTX 3090", "bf16", fast) == pytest.approx(71.2)
    assert tflops("NVIDIA RTX A6000", "fp16", fast) == tflops("NVIDIA RTX A6000", "fp16")


def test_geforce_boards_may_pass_their_sheet():
    """They boost above it: 115 %; all others 100 %."""
    assert {card.mfu_limit for name, card in cards().items() if "GeForce" in name} == {1.15}
    assert {card.mfu_limit for name, card in cards().items() if "GeForce" not in name} == {1.0}
    assert peak("NVIDIA GeForce RTX 5090", "bf16", PLAIN).limit == 1.15


def test_tf32_in_some_layers_only_has_no_one_peak():
    """cuDNN's default: convolutions in TF32, matrix products not; neither fp32's peak nor tf32's fits."""
    half = replace(PLAIN, convolution_tf32=True)

    assert tflops("NVIDIA RTX A6000", "fp32", half) == reasons.PEAK_DIFFERS_BY_LAYER
    assert tflops("NVIDIA RTX A6000", "tf32", half) == reasons.PEAK_DIFFERS_BY_LAYER
    assert tflops("NVIDIA RTX A6000", "tf32", TF32) == pytest.approx(77.4)
    assert tflops("NVIDIA RTX A6000", "fp32") == pytest.approx(38.7)


def test_a_precision_without_a_peak_is_refused():
    """FP8 mixed with BF16 has no one peak."""
    assert tflops("NVIDIA H100 PCIe", "fp8") == reasons.PEAK_NOT_DEFINED


@pytest.mark.parametrize("edition", ["Workstation", "Max-Q Workstation", "Server"])
def test_a_peak_on_which_sources_disagree_is_not_used(edition):
    """RTX PRO 6000: 504 by formula, 960 and 1,021 in public programs."""
    device = f"NVIDIA RTX PRO 6000 Blackwell {edition} Edition"

    assert tflops(device, "bf16") == reasons.PEAK_NOT_SETTLED


def test_the_peak_carries_bandwidth_and_source():
    """Both are those of the card."""
    found = peak("NVIDIA H200", "bf16", PLAIN)

    assert (found.bytes_per_s, found.source) == (4800e9, "H200 data sheet")


@pytest.mark.parametrize("name", ["NVIDIA RTX 6000 Ada Generation", "NVIDIA H100 NVL", "NVIDIA B200"])
def test_a_sparse_figure_in_the_place_of_a_dense_one_is_refused(name):
    """By the formula where the clock is known (public programs carry 728 for the Ada), else by the sheet."""
    card = cards()[name]
    doubled = 2 * card.fp16_tflops
    posing = replace(card, fp16_tflops=doubled, bf16_tflops=doubled, fp16_accumulate_tflops=doubled)

    with pytest.raises(OurFault, match=r"peaks\.json, .*: fp16 is"):
        read(table(posing))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"bf16_tflops": 38.7}, "bf16 and fp16 differ"),
        ({"tf32_tflops": 154.8}, "tf32 is more than half"),
        ({"fp16_accumulate_tflops": 200.0}, "neither as fast"),
        ({"tf32_tflops": None}, "tf32_tflops is null without a reason"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(changes, sentence):
    """An A6000 with the non-tensor 38.7 as bf16 was once published; utilisations were off by four."""
    with pytest.raises(OurFault, match=sentence):
        read(table(replace(cards()["NVIDIA RTX A6000"], **changes)))


def test_a_name_stands_once():
    """Two rows with one name are a mistake of ours."""
    card = cards()["NVIDIA A10"]

    with pytest.raises(OurFault, match=r"peaks\.json has NVIDIA A10 twice"):
        read(table(card, card))


def test_the_table_travels_with_the_package():
    """It lies beside the code, inside the folder that the wheel packs whole."""
    assert files("study.analysis").joinpath("peaks.json").is_file()
    ignored = (Path(__file__).parents[2] / ".gitignore").read_text()
    assert "json" not in ignored
