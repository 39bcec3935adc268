"""The section on how it was tested."""

import msgspec
import pytest

from study.article.sections.method import section
from study.domain.study import Protocol


def words(scene, say):
    """The whole section, spoken."""
    return " ".join(say(text) for block in section(scene.material()).blocks for text in block.sentences)


def with_protocol(scene, **changes):
    """The scene under another protocol."""
    return scene.with_run(plan=msgspec.structs.replace(scene.run.plan, protocol=Protocol(**changes)))


def test_what_has_to_be_said(scene, say):
    """Processes, warm-up, window, blocks, seed, clock, reduction, interval and margin are all said."""
    text = words(scene, say)

    for fact in (
        "fresh processes",
        "warms up for at least 5 steps",
        "as many steps as fill 1.6",
        "each of 3 blocks",
        "from the seed 1234",
        "monotonic clock",
        "two barriers",
        "a ratio then stands as a bare number",
        "95% confidence intervals",
        "Student's t",
        "Welch's form",
        "pointwise",
        "2% as the margin",
        "base of a speed-up",
    ):
        assert fact in text


def test_fixed_window(scene, say):
    """A window of a given number of steps is said as that."""
    assert "fixed work of 50 steps" in words(with_protocol(scene, window_steps=50), say)


def test_one_block(scene, say):
    """One block is not called several."""
    assert "once in 1 block, in a random order" in words(with_protocol(scene, blocks=1), say)


def test_settling(scene, say):
    """A pause between trials is said with its length, and its absence too."""
    assert "rested for 3" in words(with_protocol(scene, settle_s=3.0), say)
    assert "without a pause" in words(scene, say)


def test_only_scalings_that_were_used(scene, make, say):
    """Which batch is held is said for the scalings of this study and no other."""
    weak = make.series("gpt", "train", "ddp", {1: 1.0, 2: 2.0}, scaling="weak").series
    plan = msgspec.structs.replace(scene.run.plan, series=(weak,))

    assert "Strong scaling holds the global batch" in words(scene, say)
    assert "Weak scaling" not in words(scene, say)
    assert "Weak scaling holds the batch of each device" in words(scene.with_run(plan=plan), say)


def test_no_base_without_series(scene, say):
    """A study without series says nothing of bases."""
    plan = msgspec.structs.replace(scene.run.plan, series=())

    assert "base of a speed-up" not in words(scene.with_run(plan=plan), say)


def test_the_check_of_the_instrument_is_introduced(scene, say):
    """A workload whose truth is known is introduced by name."""
    assert "The workload sleep checks the instrument" in words(scene, say)


def test_a_ceiling_is_introduced_as_one(scene, say):
    """Nobody knows the true speed-up of matrix products, so none is claimed."""
    cells = tuple(
        msgspec.structs.replace(p, cell=msgspec.structs.replace(p.cell, workload="gemm", task="check"))
        for p in scene.run.plan.cells
    )
    plan = msgspec.structs.replace(scene.run.plan, cells=cells)

    found = words(scene.with_run(plan=plan), say)

    assert "The workload gemm measures what a device or a link can do at most" in found
    assert "true speed-up is known" not in found


@pytest.mark.parametrize(("jitter", "said"), [(0.01, True), (0.0, False)])
def test_a_check_s_own_noise_is_disclosed(scene, say, jitter, said):
    """Step, serial share and the noise that the check makes itself come from its cells' options."""
    options = {"step_ms": 20.0, "serial_share": 0.1, "jitter": jitter}
    cells = tuple(
        msgspec.structs.replace(p, cell=msgspec.structs.replace(p.cell, options=options))
        if p.cell.task == "check"
        else p
        for p in scene.run.plan.cells
    )

    text = words(scene.with_run(plan=msgspec.structs.replace(scene.run.plan, cells=cells)), say)

    assert "0.02 a step on one device, of which 10% is serial" in text
    assert ("noise of its own" in text) is said
    assert ("a standard deviation of 1%" in text) is said
