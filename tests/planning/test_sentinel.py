"""The sentinel in a plan: where it stands, that it is the same everywhere, and when there is none."""

import msgspec
import pytest

from study.domain.study import Matrix, Protocol, Study
from study.domain.trial import Plan, planned_cell
from study.planning import make_plan
from study.planning.cells import Shelves
from study.planning.sentinel import SWITCHED_OFF, TOO_DEAR, WITHOUT_TORCH, sentinel_protocol


def plan(shelves: Shelves, *, protocol: Protocol | None = None, gpus: int = 0, **changes: object) -> Plan:
    """Four cells of gpt training, the sentinel's own among them, in five blocks."""
    base: dict[str, object] = {
        "workload": "gpt",
        "task": "train",
        "size": "tiny",
        "strategy": "single",
        "devices": 1,
        "batch": [8, 16, 32, 64],
    }
    study = Study(
        name="s",
        title="S",
        matrix=[msgspec.convert({**base, **changes}, Matrix)],
        protocol=protocol or Protocol(),
    )
    return make_plan(study, place="s.toml", gpus=gpus, cores=2, shelves=shelves)


def test_the_sentinel_is_first_and_last_in_each_block(shelves: Shelves) -> None:
    """Around the cells, each of which stands there once; no two trials share an id."""
    made = plan(shelves)

    for block in range(1, 6):
        roles = [t.role for t in made.trials if t.block == block]
        assert roles == ["sentinel", "cell", "cell", "cell", "cell", "sentinel"]
    assert [t.order for t in made.trials] == list(range(1, 31))
    assert len({t.id for t in made.trials}) == 30


def test_the_same_cell_is_planned_as_a_cell_too(shelves: Shelves) -> None:
    """The two share an id; what a trial measures follows from its role."""
    made = plan(shelves)
    assert made.sentinel is not None
    twins = [t for t in made.trials if t.cell_id == made.sentinel.id]

    assert [t.role for t in twins].count("cell") == 5
    assert {planned_cell(made, t).protocol is None for t in twins if t.role == "cell"} == {True}
    assert all(planned_cell(made, t) == made.sentinel for t in twins if t.role == "sentinel")


def test_the_sentinel_is_the_same_in_every_study(shelves: Shelves) -> None:
    """Its cell, warm-up and window do not depend on the study's; rest and pinning do."""
    slow = Protocol(
        window_s=20.0, warmup_s=9.0, warmup_steps=50, settle_s=30.0, time_limit_s=300.0, pin=False
    )
    one, other = plan(shelves).sentinel, plan(shelves, protocol=slow, size="small", batch=[2, 4, 6]).sentinel

    assert one is not None
    assert other is not None
    assert one.cell == other.cell
    assert one.protocol is not None
    assert other.protocol == msgspec.structs.replace(one.protocol, settle_s=30.0, pin=False)
    assert (one.protocol.window_s, one.protocol.window_steps) == (1.6, None)


def test_the_order_of_the_cells_is_the_same_without_it(shelves: Shelves) -> None:
    """Switching the sentinel off changes no cell's place among the cells."""
    seen = plan(shelves, protocol=Protocol(seed=7))
    alone = plan(shelves, protocol=Protocol(seed=7, sentinel=False))

    assert [(t.cell_id, t.block, t.seed) for t in seen.trials if t.role == "cell"] == [
        (t.cell_id, t.block, t.seed) for t in alone.trials
    ]


def test_predicted_time_and_digest_know_it(shelves: Shelves) -> None:
    """Two trials a block more; and another sentinel makes it another plan."""
    made, alone = plan(shelves), plan(shelves, protocol=Protocol(sentinel=False))
    changed = msgspec.structs.replace(shelves.workloads["gpt"], tasks={**shelves.workloads["gpt"].tasks})
    train = msgspec.structs.replace(changed.tasks["train"], options={"sequence": 32, "rate": 0.5})
    changed.tasks["train"] = train
    other = msgspec.structs.replace(shelves, workloads={**shelves.workloads, "gpt": changed})
    pinned = {"sequence": 64, "rate": 0.5}

    assert made.predicted_s == pytest.approx((alone.predicted_s or 0.0) + 10 * (0.2 + 0.4 + 1.6))
    assert plan(shelves, options=pinned).cells == plan(other, options=pinned).cells
    assert plan(shelves, options=pinned).digest != plan(other, options=pinned).digest


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"protocol": Protocol(sentinel=False)}, SWITCHED_OFF),
        ({"workload": "nap", "task": "check", "size": "one"}, WITHOUT_TORCH),
        ({"batch": [8, 16, 32]}, TOO_DEAR),
        ({"batch": [8, 16, 32], "protocol": Protocol(window_steps=50)}, TOO_DEAR),
    ],
)
def test_where_there_is_none_the_reason_is_given(
    shelves: Shelves, changes: dict[str, object], why: str
) -> None:
    """Switched off, without torch, or too dear for a study of three such cells."""
    made = plan(shelves, **changes)  # type: ignore[arg-type]

    assert made.sentinel is None
    assert made.unknown["sentinel"] == why
    assert {t.role for t in made.trials} == {"cell"}


@pytest.mark.parametrize(
    "changes",
    [{"batch": 8, "protocol": Protocol(window_s=20.0)}, {"protocol": Protocol(window_steps=50)}],
)
def test_time_decides_and_not_the_number_of_cells(shelves: Shelves, changes: dict[str, object]) -> None:
    """One cell of twenty seconds holds a sentinel; cells without a predicted time count as long as it."""
    made = plan(shelves, **changes)  # type: ignore[arg-type]

    assert made.sentinel is not None
    assert "sentinel" not in made.unknown


def test_an_accelerator_that_cannot_run_it_has_none(shelves: Shelves) -> None:
    """The reason is the one that a cell of a study would have."""
    half = msgspec.structs.replace(shelves.accelerators["cuda"], precisions=("fp16",))
    lame = msgspec.structs.replace(shelves, accelerators={**shelves.accelerators, "cuda": half})

    made = plan(lame, gpus=1, precision="fp16")

    assert made.unknown["sentinel"] == "The accelerator cuda has no precision fp32."


def test_the_sentinel_is_preheated_like_the_rest_and_has_the_time_for_it() -> None:
    """What a study adds before the window comes on top of the sentinel's own limit."""
    own = sentinel_protocol(Protocol(preheat_s=300.0, time_limit_s=900.0))

    assert (own.preheat_s, own.time_limit_s) == (300.0, 360.0)
