"""Operations and utilisation against published figures, and what a cell's readings give."""

import msgspec
import pytest
from fakes.records import Truth, cell, fake_run

from study.analysis import reasons
from study.analysis.desk import computed
from study.analysis.trials import counting
from study.analysis.utilisation import (
    cache_bytes,
    gpt_step_flops,
    hfu,
    mbu,
    prefill_flops_per_token,
    transformer_flops_per_token,
    utilisation,
    utilised,
)
from study.domain.fact import missing_reasons
from study.domain.record import Measured

replace = msgspec.structs.replace

A6000 = "NVIDIA RTX A6000"
PER_STEP = 3 * 10**12


@pytest.mark.parametrize("name", ["palm_mfu", "mtnlg_mfu"])
def test_published_mfu_is_reproduced(published, name):
    """PaLM 540B 46.2 % and 45.7 % without attention; MT-NLG 30.2 % and 29.7 %.

    The published inputs are rounded: of MT-NLG's 530 billion parameters, to two digits.
    """
    data = published[name]
    shape = {
        "layers": data["layers"],
        "heads": data["heads"],
        "head_width": data["head_dim"],
        "sequence": data["seq"],
    }

    full, none = (
        100
        * utilisation(
            data["tokens_per_s"] * transformer_flops_per_token(data["params"], **shape, attention=attention),
            devices=data["chips"],
            peak_flops_per_s=data["peak_per_chip"],
        )
        for attention in ("full", "none")
    )

    assert full == pytest.approx(data["published"]["mfu_pct"], abs=0.08)
    assert none == pytest.approx(data["published"]["mfu_without_attention_pct"], abs=0.08)


def test_causal_attention_counts_half_of_the_pairs():
    """The causal figure lies midway between full attention and none."""
    shape = {"layers": 12, "heads": 12, "head_width": 64, "sequence": 1024}
    full, causal, none = (
        transformer_flops_per_token(124e6, **shape, attention=a) for a in ("full", "causal", "none")
    )

    assert none == 6 * 124e6
    assert causal - none == (full - none) / 2 == 6 * 12 * 12 * 64 * 1024


def test_megatron_published_hfu_and_its_mfu(published):
    """SC'21, 1.7 billion to 1 trillion: 44 to 52 % are HFU; MFU is 32.6 to 39.2 %."""
    data = published["megatron_sc21_table1"]
    mfus = []
    for i, published_pct in enumerate(data["published"]["pct_of_peak"]):
        shape = {
            "batch": data["batch"][i],
            "sequence": data["seq"],
            "layers": data["layers"][i],
            "width": data["hidden"][i],
            "vocabulary": data["vocab"],
        }
        hardware, model = gpt_step_flops(**shape, recompute=True), gpt_step_flops(**shape)
        total = data["tflops_per_gpu"][i] * data["n"][i]
        all_done = utilisation(total, devices=data["n"][i], peak_flops_per_s=data["peak_tflops"])
        mfus.append(100 * all_done * model / hardware)

        assert 100 * all_done == pytest.approx(published_pct, abs=0.5)
        assert total / 1e3 == pytest.approx(data["published"]["aggregate_pflops"][i], rel=0.011)
        assert hfu(mfus[-1], model_flops=model, hardware_flops=hardware) == pytest.approx(100 * all_done)

    assert (min(mfus), max(mfus)) == pytest.approx((32.6, 39.2), abs=0.1)


def test_megatron_core_published_mfu(published):
    """H100, 41 to 49 % of the dense 989.4."""
    data = published["megatron_core_h100"]

    found = [
        100 * utilisation(t * n, devices=n, peak_flops_per_s=data["peak_tflops"])
        for t, n in zip(data["tflops_per_gpu"], data["n"], strict=True)
    ]

    assert found == pytest.approx(data["published"]["mfu_pct"], abs=0.6)


def test_both_ways_to_count_a_gpt_agree():
    """12 l h² and the head's V h parameters, 6 N + 12 L H Q T, against Megatron's formula."""
    layers, width, sequence, vocabulary = 24, 2048, 1024, 51200
    parameters = 12 * layers * width**2 + vocabulary * width

    per_token = transformer_flops_per_token(
        parameters, layers=layers, heads=16, head_width=width // 16, sequence=sequence
    )

    step = gpt_step_flops(batch=8, sequence=sequence, layers=layers, width=width, vocabulary=vocabulary)
    assert step == pytest.approx(per_token * 8 * sequence)


def test_recomputation_repeats_the_forward_pass_of_the_layers_only():
    """A third more without a vocabulary; what the head costs is the same either way."""
    shape = {"batch": 2, "sequence": 128, "layers": 4, "width": 64}
    head = [
        gpt_step_flops(**shape, vocabulary=1000, recompute=r)
        - gpt_step_flops(**shape, vocabulary=0, recompute=r)
        for r in (True, False)
    ]

    bare = [gpt_step_flops(**shape, vocabulary=0, recompute=r) for r in (True, False)]

    assert bare[0] / bare[1] == pytest.approx(4 / 3)
    assert head[0] == pytest.approx(head[1]) == pytest.approx(6 * 2 * 128 * 64 * 1000)


def test_a_prompt_takes_a_third_of_training_at_the_same_context():
    """2 N + 4 L H Q T against 6 N + 12 L H Q T."""
    shape = {"layers": 12, "heads": 12, "head_width": 64}

    prompt = prefill_flops_per_token(124e6, **shape, mean_context=512)

    assert prompt == pytest.approx(transformer_flops_per_token(124e6, **shape, sequence=512) / 3)


def test_decoding_is_held_against_the_bandwidth():
    """14 GB of weights and 1 GiB of cache read in 10 ms by an A100 of 2,039 GB/s: 74 %."""
    cache = cache_bytes(batch=4, context=1024, layers=32, key_heads=16, head_width=128, element_bytes=2)

    found = mbu(weight_bytes=14e9, cache_bytes=cache, step_s=0.01, bytes_per_s=2039e9)

    assert cache == 2**30
    assert found == pytest.approx((14e9 + 2**30) / 0.01 / 2039e9) == pytest.approx(0.739, abs=0.001)


def summaries(device=A6000, flops=lambda reading: PER_STEP, precision="bf16", second="", gemm=150.0):
    """The cells of a run on GPUs with their utilisation: gpt on one and two devices, and gemm on one.

    The truth: gpt does 20 steps a second on one device, 36 on two; gemm reaches `gemm` TFLOP/s or is not run.
    """
    on = {"accelerator": "cuda", "precision": precision}
    truths = [
        Truth(cell=cell(batch=8, **on), scaling="strong", rate=160.0, unit="rows"),
        Truth(cell=cell(batch=8, strategy="ddp", devices=2, **on), scaling="strong", rate=288.0, unit="rows"),
    ]
    if gemm:
        products = cell("gemm", size="large", task="infer", batch=1, **on)
        rate = gemm * 1e12 / PER_STEP
        truths.append(Truth(cell=products, scaling="strong", rate=rate, unit="products"))
    run, records = fake_run(truths=truths, accelerator="cuda")
    records = tuple(on_cards(record, device, second) for record in records)
    parts = computed(run, records)
    return utilised(parts.cells, parts.trials, counting(records), flops=flops)


def on_cards(record, device, second=""):
    """The same record, its ranks on cards of these names."""
    assert isinstance(record.outcome, Measured)
    readings = tuple(
        replace(r, device=second if second and r.rank == 1 else device) for r in record.outcome.readings
    )
    return replace(record, outcome=replace(record.outcome, readings=readings))


def test_tflops_per_device_and_mfu_of_a_cell():
    """3 TFLOP a step and rank: 20 steps a second are 60 TFLOP/s; two ranks at 36 are 108 each."""
    one, two, _ = summaries()

    assert one.tflops_per_device.value == pytest.approx(60, rel=0.01)
    assert two.tflops_per_device.value == pytest.approx(108, rel=0.01)
    assert one.tflops_per_device.unit == "TFLOP/s"
    assert one.mfu.value == pytest.approx(one.tflops_per_device.value / 154.8)
    assert two.mfu.value == pytest.approx(two.tflops_per_device.value / 154.8)


def test_the_desk_takes_the_operations_that_ranks_counted():
    """Two ranks of 3 TFLOP a step each at 36 steps a second: 108 TFLOP/s on each device."""
    on = cell(batch=8, strategy="ddp", devices=2, accelerator="cuda", precision="bf16")
    run, records = fake_run(
        truths=[Truth(cell=on, scaling="strong", rate=288.0, unit="rows")], accelerator="cuda"
    )

    parts = computed(run, [counted_by_ranks(on_cards(record, A6000)) for record in records])

    assert parts.cells[0].tflops_per_device.value == pytest.approx(108, rel=0.01)
    assert parts.cells[0].mfu.value == pytest.approx(108 / 154.8, rel=0.01)
    assert parts.cells[0].unknown.keys().isdisjoint({"tflops_per_device", "mfu"})


def counted_by_ranks(record):
    """The same record, its ranks having counted their operations."""
    readings = tuple(replace(r, model_flops_per_step=PER_STEP) for r in record.outcome.readings)
    return replace(record, outcome=replace(record.outcome, readings=readings))


def test_the_interval_of_a_utilisation_is_that_of_the_rate():
    """Operations and peak are exact, so both ends scale alike; n counts trials."""
    one, *_ = summaries()

    for found in (one.tflops_per_device, one.mfu, one.mfu_of_ceiling):
        assert found.low / found.value == pytest.approx(one.rate.low / one.rate.value)
        assert found.high / found.value == pytest.approx(one.rate.high / one.rate.value)
        assert (found.n, found.method) == (one.rate.n, "t_log")


def test_the_ceiling_is_the_best_trial_of_the_matrix_products():
    """About 150 TFLOP/s: its best of five trials, above their mean."""
    one, _, gemm = summaries()
    ceiling = one.tflops_per_device.value / one.mfu_of_ceiling.value

    assert gemm.tflops_per_device.value < ceiling < 1.02 * gemm.tflops_per_device.value
    assert gemm.mfu.value == pytest.approx(150 / 154.8, rel=0.01)
    assert gemm.mfu_of_ceiling is None
    assert gemm.unknown["mfu_of_ceiling"] == reasons.IS_THE_CEILING


def test_an_unknown_card_has_tflops_and_a_ceiling_and_no_mfu():
    """The peak is said to be unknown; what was measured stays."""
    one, *_ = summaries(device="NVIDIA RTX 9000")

    assert one.mfu is None
    assert one.unknown["mfu"] == reasons.PEAK_UNKNOWN
    assert one.tflops_per_device.value == pytest.approx(60, rel=0.01)
    assert one.mfu_of_ceiling.value == pytest.approx(0.4, rel=0.02)


def test_without_matrix_products_there_is_no_ceiling():
    """The study did not ask for them."""
    one, _ = summaries(gemm=None)

    assert one.mfu is not None
    assert (one.mfu_of_ceiling, one.unknown["mfu_of_ceiling"]) == (None, reasons.NO_CEILING)


def test_a_cell_on_two_kinds_of_cards_has_no_share_of_either():
    """An A6000 beside an A5000."""
    one, two, _ = summaries(second="NVIDIA RTX A5000")

    assert one.mfu is not None
    assert two.tflops_per_device is not None
    assert two.unknown["mfu"] == two.unknown["mfu_of_ceiling"] == reasons.DEVICES_DIFFER


def test_a_workload_that_states_no_operations_has_no_utilisation():
    """All three are null, with the sentence; one silent rank is enough."""
    for flops in (lambda reading: None, lambda reading: None if reading.rank == 1 else PER_STEP):
        _, two, _ = summaries(flops=flops)
        for name in ("tflops_per_device", "mfu", "mfu_of_ceiling"):
            assert getattr(two, name) is None
            assert two.unknown[name] == reasons.NO_FLOPS


def test_every_null_of_a_utilisation_has_its_reason(quick):
    """Also in cells that were not measured; and a reason that stood before does not outlive its null."""
    run, records = quick
    gone = run.plan.cells[0].id
    parts = computed(run, [r for r in records if r.cell_id != gone])
    before = [replace(c, unknown={**c.unknown, "tflops_per_device": "not yet"}) for c in parts.cells]

    found = utilised(before, parts.trials, counting(records), flops=lambda reading: PER_STEP)

    assert found[1].tflops_per_device is not None
    assert "tflops_per_device" not in found[1].unknown

    assert [missing_reasons(cell, cell.unknown) for cell in found] == [[]] * len(found)
    assert found[0].unknown["mfu"] == reasons.NOT_MEASURED
    assert found[1].unknown["mfu"] == reasons.PEAK_UNKNOWN
