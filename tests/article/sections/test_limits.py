"""What we cannot say."""

import msgspec
import pytest

from study.article.sections.limits import section
from study.domain.telemetry import Sample
from study.domain.text import said


def limits(scene, say, *left_out):
    """The limits of a scene, spoken."""
    return [say(item) for item in section(scene.material(), left_out).blocks[-1].items]


def test_what_no_run_can_say(scene, say):
    """One machine, price and noise are named in every article."""
    found = limits(scene, say)

    assert any(item.startswith("One machine was measured") for item in found)
    assert any("nothing is said about energy, heat, noise or cost" in item for item in found)


@pytest.mark.parametrize(
    ("sensors", "silent_about"),
    [
        ((), "energy, heat, noise or cost"),
        (("power",), "heat, noise or cost"),
        (("temperature",), "energy, noise or cost"),
        (("power", "temperature"), "noise or cost"),
    ],
)
def test_what_no_sensor_read_is_named_in_one_sentence(scene, say, sensors, silent_about):
    """Power and temperature are named unless some record holds a value of theirs."""
    telemetry = tuple(
        Sample(
            time_ns=1,
            target="gpu0",
            sensor=f"gpu_{sensor}",
            unit="",
            value=1.0 if sensor in sensors else None,
            reason="" if sensor in sensors else "no answer",
        )
        for sensor in ("power", "temperature")
    )
    record = msgspec.structs.replace(scene.records[0], telemetry=telemetry)

    found = [item for item in limits(scene.but(records=(record,)), say) if "were not recorded" in item]

    assert len(found) == 1
    assert found[0].endswith(f"so nothing is said about {silent_about}.")


def test_steadiness_is_no_limit_where_a_finding_speaks_of_it(scene, make, say):
    """What the section on steadiness says is not said again."""
    finding = make.finding("steadiness", section="limits", figure="fig-steps")

    assert not any("steady" in item for item in limits(scene.with_analysis(findings=(finding,)), say))


def test_cpu_only(scene, say):
    """A run on the CPU says that it is silent about GPUs; one on cards does not."""
    plan = msgspec.structs.replace(scene.run.plan, accelerator="cuda")

    assert "Only the CPU was used; nothing here says how GPUs scale." in limits(scene, say)
    assert not any("Only the CPU" in item for item in limits(scene.with_run(plan=plan), say))


def test_unknown_facts_are_grouped_by_reason(scene, say):
    """What machine and software leave open is named once for each reason."""
    found = limits(scene, say)

    assert "Not recorded: frequency governor – the kernel shows no frequency governor" in found
    cards = "CUDA's version, cuDNN's version, NCCL's version, driver"
    assert f"Not recorded: {cards} – there is no NVIDIA driver here" in found


def test_trials_that_were_not_run(scene, say):
    """Planned trials without a record are counted."""
    assert "2 planned trials were not run." in limits(scene, say)


def test_few_trials(scene, make, say):
    """Cells with one or two measured trials are counted, for they have no interval."""
    few = make.cell_summary(make.cell("gpt", "train", "fsdp", 2), 10.0, measured=2)

    found = limits(scene.with_analysis(cells=(*scene.analysis.cells, few)), say)

    assert "1 cell has under 3 measured trials and so no interval." in found
    assert not any("under 3" in item for item in limits(scene, say))


def test_oversubscription(scene, make, say):
    """Cells with more threads than cores are counted."""
    crowded = make.cell_summary(make.cell("gpt", "train", "ddp", 8), 1.0, oversubscribed=True)

    found = limits(scene.with_analysis(cells=(*scene.analysis.cells, crowded)), say)

    assert any(item.startswith("In 1 cell more threads ran") for item in found)


def test_what_is_left_out_is_named_once(scene, say):
    """Sections and figures that are left out stand in the list, and no sentence stands twice."""
    gone = said("There is no section on heat: nothing was recorded.")

    found = limits(scene, say, gone, gone)

    assert found.count("There is no section on heat: nothing was recorded.") == 1
    assert len(found) == len(set(found))


def test_training_is_not_learning(scene, make, say):
    """A study that trains says that quality was not measured; one that only decodes does not."""
    cells = [make.cell_summary(make.cell("gpt", "infer", "single", 1, 1), 10.0)]
    decoding = make.Scene(make.run(cells, []), (), make.analysis_of(cells, []))

    assert any("reach a quality" in item for item in limits(scene, say))
    assert not any("reach a quality" in item for item in limits(decoding, say))


def test_several_machines(scene, say):
    """A run over several nodes does not call itself one machine."""
    first, *rest = scene.run.plan.cells
    wide = msgspec.structs.replace(first, cell=msgspec.structs.replace(first.cell, nodes=2))
    plan = msgspec.structs.replace(scene.run.plan, cells=(wide, *rest))

    found = limits(scene.with_run(plan=plan), say)

    assert any(item.startswith("One cluster was measured") for item in found)
    assert not any(item.startswith("One machine") for item in found)


def test_utilisation_is_missing_only_where_no_cell_has_any(scene, make, say):
    """A share of the measured product is a share of something."""
    told = make.cell_summary(scene.run.plan.cells[0].cell, 9.0)
    of_product = msgspec.structs.replace(told, mfu_of_ceiling=make.estimate(0.4))

    without = limits(scene.with_analysis(cells=(told,)), say)
    with_it = limits(scene.with_analysis(cells=(of_product,)), say)

    assert any("no utilisation is given" in item for item in without)
    assert not any("no utilisation is given" in item for item in with_it)
