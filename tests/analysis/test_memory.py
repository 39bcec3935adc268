"""Predicted memory against the published figures of ZeRO and the table of Korthikanti et al."""

import pytest

from study.analysis.memory import (
    STATES,
    Prediction,
    activation_bytes,
    fsdp_bytes,
    logit_bytes,
    state_bytes,
)

LAYER = {"sequence": 2048, "batch": 4, "width": 6144, "heads": 64}
SBH = 2048 * 4 * 6144
SCORES = 5 * 64 * 2048 / 6144


def test_zero_figures_are_reproduced(published):
    """7.5 billion parameters on 64 ranks: 120, 31.4, 16.6 and 1.9 GB."""
    data = published["zero_memory_7p5b"]

    found = [
        state_bytes(data["params"], "mixed", stage=stage, ranks=data["nd"]) / 1e9 for stage in (0, 1, 2, 3)
    ]

    assert found == pytest.approx(list(data["published"]["gb"].values()), abs=data["tolerance"])
    assert STATES["mixed"].optimizer == data["K"]


def test_bytes_per_parameter_of_each_recipe():
    """16 in FP32 and 2 more for autocast's copies, 16 mixed with a master copy, 8 in pure bf16."""
    assert {recipe: states.all for recipe, states in STATES.items()} == {
        "fp32": 16,
        "autocast": 18,
        "mixed": 16,
        "bf16": 8,
    }


def test_each_stage_shards_one_more_kind_of_state():
    """FP32 on 4 ranks, a parameter: 16, 8 + 8/4, 4 + 12/4, 16/4 bytes; copies go with the parameters."""
    assert [state_bytes(1, "fp32", stage=stage, ranks=4) for stage in (0, 1, 2, 3)] == [16, 10, 7, 4]
    assert state_bytes(1, "autocast", stage=2, ranks=4) == 9
    assert state_bytes(1, "autocast", stage=3, ranks=4) == 4.5


def test_fsdp_holds_whole_blocks_beside_its_shard():
    """A block of 0.2 billion parameters in bf16: 0.4 GB, twice while the next is fetched ahead."""
    given = {"ranks": 8, "largest_block": 0.2e9, "element_bytes": 2}

    assert fsdp_bytes(7e9, "mixed", **given, gathered=1) == pytest.approx(14e9 + 0.4e9)
    assert fsdp_bytes(7e9, "mixed", **given) == pytest.approx(14e9 + 0.8e9)


@pytest.mark.parametrize(
    ("options", "per_element"),
    [
        ({}, 34 + SCORES),
        ({"flash": True}, 34),
        ({"tensor_parallel": 8}, 10 + 24 / 8 + SCORES / 8),
        ({"tensor_parallel": 8, "flash": True}, 10 + 24 / 8),
        ({"tensor_parallel": 8, "sequence_parallel": True}, (34 + SCORES) / 8),
        ({"recompute": True}, 2),
        ({"recompute": True, "tensor_parallel": 8}, 2),
        ({"flash": True, "element_bytes": 4}, 66),
        ({"element_bytes": 4}, 66 + 9 / 5 * SCORES),
    ],
    ids=str,
)
def test_activations_of_a_layer(options, per_element):
    """In units of s b h; at four bytes an element the two dropout masks stay at one."""
    assert activation_bytes(**LAYER, **options) == pytest.approx(per_element * SBH)


def test_logits_take_four_to_eight_bytes_each():
    """GPT-2's vocabulary, 8 x 1,024 tokens: 3.3 GB with the gradient, half without."""
    shape = {"sequence": 1024, "batch": 8, "vocabulary": 50257}

    assert logit_bytes(**shape) == 8 * 1024 * 8 * 50257
    assert logit_bytes(**shape, bytes_each=4) == logit_bytes(**shape) / 2


def test_what_fits_leaves_eight_percent_and_a_fixed_rest():
    """20 + 10 + 5 + 1.5 GB need 39.7 GB of memory."""
    prediction = Prediction(states=20e9, activations=10e9, logits=5e9)

    assert prediction.total == pytest.approx(36.5e9)
    assert prediction.fits(36.5e9 / 0.92 * 1.0001)
    assert not prediction.fits(36.5e9 / 0.92 * 0.9999)
