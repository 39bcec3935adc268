"""Blocks, seeds, series and predictions."""

from collections import Counter

import msgspec
import pytest

from study.domain.errors import BadStudyFile, NotReady
from study.domain.study import Matrix, Protocol, Study
from study.domain.trial import Plan
from study.planning import load_study, make_plan, preset_names
from study.planning.cells import Shelves


def study(*, protocol: Protocol | None = None, **changes: object) -> Study:
    """One matrix: gpt training, single and ddp, at one and two devices."""
    base = {
        "workload": "gpt",
        "task": "train",
        "size": "tiny",
        "strategy": ["single", "ddp"],
        "devices": [1, 2],
    }
    matrix = msgspec.convert({**base, **changes}, Matrix)
    return Study(name="s", title="S", matrix=[matrix], protocol=protocol or Protocol())


def plan(shelves: Shelves, wanted: Study, **changes: object) -> Plan:
    """The plan of a study on a machine with two cores and no GPU."""
    return make_plan(wanted, **{"place": "s.toml", "gpus": 0, "cores": 2, "shelves": shelves, **changes})


def test_every_block_runs_every_cell_once(shelves: Shelves) -> None:
    """Randomised complete blocks."""
    made = plan(shelves, study(protocol=Protocol(blocks=7)))

    cells = sorted(cell.id for cell in made.cells)
    for block in range(1, 8):
        assert sorted(t.cell_id for t in made.trials if t.block == block) == cells
    assert [t.order for t in made.trials] == list(range(1, 22))


def test_a_stated_seed_gives_the_same_order_again_and_another_seed_another(shelves: Shelves) -> None:
    """The order can be repeated, and is not the order of the file."""
    orders = [
        [t.cell_id for t in plan(shelves, study(protocol=Protocol(seed=seed, blocks=20))).trials]
        for seed in (1, 1, 2)
    ]

    assert orders[0] == orders[1]
    assert orders[0] != orders[2]


def test_every_order_of_a_block_is_equally_likely(shelves: Shelves) -> None:
    """Chi-square over the six orders of three cells in 1,000 blocks stays below the 99.9 % point."""
    made = plan(shelves, study(protocol=Protocol(seed=5, blocks=1000)))
    orders = Counter()
    for block in range(1, 1001):
        orders[tuple(t.cell_id for t in made.trials if t.block == block)] += 1

    expected = 1000 / 6
    chi_square = sum((count - expected) ** 2 / expected for count in orders.values())
    assert len(orders) == 6
    assert chi_square < 20.5  # chi-square, 5 degrees of freedom, p = 0.001


def test_a_seed_that_is_not_stated_is_drawn_and_kept(shelves: Shelves) -> None:
    """Two plans differ in seed and order, and agree in what is measured."""
    one, other = plan(shelves, study()), plan(shelves, study())

    assert one.seed != other.seed
    assert one.digest == other.digest


def test_the_digest_changes_with_whatever_is_measured(shelves: Shelves) -> None:
    """Blocks, window, batch and accelerator each make it another plan."""
    digests = {
        plan(shelves, study()).digest,
        plan(shelves, study(), blocks=6).digest,
        plan(shelves, study(protocol=Protocol(window_s=2.0))).digest,
        plan(shelves, study(batch=16)).digest,
        plan(shelves, study(), gpus=2).digest,
    }

    assert len(digests) == 5


def test_trials_of_different_cells_and_blocks_have_different_seeds(shelves: Shelves) -> None:
    """So that a known jitter is drawn anew for every trial."""
    made = plan(shelves, study(protocol=Protocol(seed=1, blocks=50)))

    assert len({t.seed for t in made.trials}) == len(made.trials)


def test_a_series_is_compared_with_the_single_cell_of_the_same_batch(shelves: Shelves) -> None:
    """The base is the plain version; the wrapped one at one device stands beside it."""
    (series,) = plan(shelves, study(scaling="weak", batch=4)).series
    names = [member.rpartition("-")[0] for member in series.members]

    assert names == ["gpt-tiny.train.single.x1.fp32.b4", "gpt-tiny.train.ddp.x2.fp32.b8"]
    assert series.base == series.members[0]
    assert series.own_base is not None
    assert series.own_base.startswith("gpt-tiny.train.ddp.x1.fp32.b4")
    assert series.scaling == "weak"


def test_without_a_single_cell_the_wrapped_one_is_the_base(shelves: Shelves) -> None:
    """The same code at one device: a base that Hoefler and Belli's first rule allows if it is named."""
    (series,) = plan(shelves, study(strategy="ddp")).series

    assert series.base == series.own_base
    assert series.base is not None
    assert ".ddp.x1." in series.base


def test_without_any_one_device_cell_there_is_no_base_and_the_reason_is_given(shelves: Shelves) -> None:
    """Nothing is divided by what was not measured."""
    (series,) = plan(shelves, study(strategy="ddp", devices=[2, 4])).series

    assert series.base is None
    assert "no cell of the strategy `single`" in series.unknown["base"]


def test_a_series_grows_along_the_first_axis_only(shelves: Shelves) -> None:
    """Copies of splits form one series for each degree of splitting, each against the plain version."""
    found = plan(
        shelves,
        study(strategy=["single", "grid"], devices=[1, 2, 4], strategy_options={"tensor": [2, 4]}),
    ).series

    assert [[name.rpartition("-")[0] for name in series.members] for series in found] == [
        [
            "gpt-tiny.train.single.x1.fp32.b8",
            "gpt-tiny.train.grid.x2.fp32.b8",
            "gpt-tiny.train.grid.x4.fp32.b8",
        ],
        ["gpt-tiny.train.single.x1.fp32.b8", "gpt-tiny.train.grid-t4.x4.fp32.b8"],
    ]
    assert all(series.own_base is None for series in found)


def test_one_device_makes_no_series(shelves: Shelves) -> None:
    """A machine with one device has points and no scaling."""
    assert plan(shelves, study(devices=1)).series == ()


def test_a_cell_with_more_threads_than_cores_is_flagged(shelves: Shelves) -> None:
    """Four ranks on two cores."""
    made = plan(shelves, study(devices=[1, 2, 4]))

    assert {c.cell.devices: c.oversubscribed for c in made.cells} == {1: False, 2: False, 4: True}


def test_the_predicted_time_is_the_sum_over_trials(shelves: Shelves) -> None:
    """Start-up of accelerator and strategy, warm-up and window, times blocks."""
    protocol = Protocol(blocks=2, warmup_s=0.5, window_s=1.0, settle_s=0.25)

    made = plan(shelves, study(protocol=protocol))

    single, ddp = 0.25 + 0.2 + 0.0 + 1.5, 0.25 + 0.2 + 0.1 + 1.5
    assert made.predicted_s == pytest.approx(2 * (single + ddp + ddp))


def test_a_window_in_steps_has_no_predicted_time_and_says_why(shelves: Shelves) -> None:
    """Missing is null with a reason."""
    made = plan(shelves, study(protocol=Protocol(window_steps=50)))

    assert made.predicted_s is None
    assert "steps" in made.unknown["predicted_s"]


def test_a_study_of_which_nothing_can_run_is_refused_with_the_reasons(shelves: Shelves) -> None:
    """Two devices of a strategy that uses one."""
    with pytest.raises(BadStudyFile) as refused:
        plan(shelves, study(strategy="single", devices=2))

    assert "no cell of this study can run" in refused.value.problem
    assert "The strategy single uses one device." in refused.value.remedy


def test_a_trial_that_could_not_end_before_it_is_ended_is_refused(shelves: Shelves) -> None:
    """A window of two minutes under a limit of one."""
    with pytest.raises(BadStudyFile) as refused:
        plan(shelves, study(protocol=Protocol(window_s=120.0, time_limit_s=60.0)))

    assert refused.value.problem.startswith("s.toml: protocol.time_limit_s: a trial takes about 120.")
    assert "would be ended after 60 s" in refused.value.problem


def test_an_accelerator_without_a_device_is_refused_in_one_sentence(shelves: Shelves) -> None:
    """Asked for by name, with no GPU here: the machine is not ready, the study is not wrong."""
    wanted = msgspec.structs.replace(study(devices="auto"), accelerator="cuda")

    with pytest.raises(NotReady) as refused:
        plan(shelves, wanted)

    assert "asks for the accelerator cuda, and there is no such device here" in refused.value.problem
    assert "study check" in refused.value.remedy


def test_a_study_that_needs_no_torch_stays_on_the_cpu(shelves: Shelves) -> None:
    """Also where there are GPUs: nothing of it would touch them."""
    made = plan(
        shelves, study(workload="nap", task="check", size="one", strategy="single", devices=1), gpus=4
    )

    assert made.accelerator == "cpu"


def test_an_accelerator_on_no_shelf_is_refused(shelves: Shelves) -> None:
    """With the nearest right name."""
    wanted = msgspec.structs.replace(study(), accelerator="cudda")

    with pytest.raises(BadStudyFile) as refused:
        plan(shelves, wanted)

    assert refused.value.problem == 's.toml: accelerator: there is no accelerator "cudda"'


def test_two_matrices_that_meet_in_a_cell_plan_it_once(shelves: Shelves) -> None:
    """One device at batch eight is the base of a strong and of a weak series."""
    strong = study(batch=8).matrix[0]
    weak = study(batch=8, scaling="weak").matrix[0]

    made = plan(shelves, Study(name="s", title="S", matrix=[strong, weak]))

    assert len({c.id for c in made.cells}) == len(made.cells) == 4
    assert len(made.series) == 2


@pytest.mark.parametrize("preset", preset_names())
@pytest.mark.parametrize(("gpus", "cores"), [(0, 1), (0, 2), (0, 64), (1, 8), (2, 8), (4, 64), (8, 128)])
def test_every_preset_can_be_planned_on_any_machine(preset: str, gpus: int, cores: int) -> None:
    """From one core to eight GPUs, with the real shelves."""
    wanted, _ = load_study(preset)

    made = make_plan(wanted, place=preset, gpus=gpus, cores=cores)

    assert made.cells
    assert made.predicted_s is not None


def test_quick_is_planned_to_take_at_most_three_minutes_on_two_cores() -> None:
    """Of which at least half is the timed window."""
    wanted, _ = load_study("quick")

    made = make_plan(wanted, place="quick", gpus=0, cores=2)

    assert made.predicted_s is not None
    assert made.predicted_s < 180
    assert len(made.trials) * made.protocol.window_s > made.predicted_s / 2


def test_model_parallel_takes_minutes_on_two_cores_and_needs_no_more_than_its_reasons() -> None:
    """Five strategies and a second schedule on two ranks; what is skipped is skipped on purpose."""
    wanted, _ = load_study("model-parallel")

    made = make_plan(wanted, place="model-parallel", gpus=0, cores=2)

    trained = [c.cell.strategy for c in made.cells if c.cell.task == "train" and c.cell.devices == 2]
    assert trained == ["ddp", "layer-split", "pipeline", "pipeline", "tensor", "fsdp"]
    assert made.predicted_s is not None
    assert made.predicted_s < 300
    because = {rule.because for rule in wanted.exclude}
    assert {cell.reason for cell in made.skipped} == because | {"The strategy single uses one device."}


def test_model_parallel_has_strategies_for_four_devices() -> None:
    """Layers and heads of the size make four parts; no cell is skipped for what it cannot be cut into."""
    wanted, _ = load_study("model-parallel")

    made = make_plan(wanted, place="model-parallel", gpus=4, cores=64)

    assert sum(cell.cell.devices == 4 for cell in made.cells) == 9


def test_preheating_takes_time_that_the_limit_must_leave(shelves: Shelves) -> None:
    """It is part of the predicted time, and refused where it alone would exceed the limit."""
    plain, heated = (
        plan(shelves, study(protocol=Protocol(preheat_s=seconds, time_limit_s=400.0))) for seconds in (0, 300)
    )

    assert heated.cells[0].predicted_s - plain.cells[0].predicted_s == pytest.approx(300.0)
    for window_steps in (None, 10):
        with pytest.raises(BadStudyFile, match="time_limit_s"):
            plan(shelves, study(protocol=Protocol(preheat_s=300.0, window_steps=window_steps)))
