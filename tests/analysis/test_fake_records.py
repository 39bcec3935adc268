"""The fake records are tested as well: other tests are worth what they are."""

import math

import msgspec
import pytest
from fakes.records import cell, fake_run, quick_truths

from study.domain.fact import require_reasons
from study.domain.record import Measured, Record
from study.domain.run import Run


def test_every_planned_trial_has_one_record():
    """A fake run is complete: one measured record for each trial of the plan, in its order."""
    run, records = fake_run(blocks=3)

    assert [record.trial for record in records] == [trial.id for trial in run.plan.trials]
    assert len(records) == 3 * len(run.plan.cells)
    assert all(isinstance(record.outcome, Measured) for record in records)


def test_blocks_hold_every_cell_once_in_changing_order():
    """Each block is complete, and the blocks differ in their order."""
    run, _ = fake_run(blocks=4)

    blocks = [[t.cell_id for t in run.plan.trials if t.block == number] for number in range(1, 5)]

    assert all(sorted(block) == sorted(blocks[0]) for block in blocks)
    assert len({tuple(block) for block in blocks}) > 1


def test_a_trial_runs_at_its_stated_rate():
    """Work over wall time is the stated rate to a nanosecond of the window, and steps fill the window."""
    run, _ = fake_run(blocks=1)
    first = run.plan.cells[2].id

    _, records = fake_run(blocks=1, rates={first: [1234.5]})
    (record,) = (r for r in records if r.cell_id == first)
    readings = record.outcome.readings

    wall_ns = max(r.window_end_ns for r in readings) - min(r.window_start_ns for r in readings)
    assert math.isclose(sum(r.work for r in readings) / wall_ns * 1e9, 1234.5, rel_tol=1e-7)
    assert all(sum(r.step_ns) == r.window_end_ns - r.window_start_ns for r in readings)


def test_the_seed_decides_everything():
    """The same seed gives the same bytes, another seed others."""
    encode = msgspec.json.encode

    assert encode(fake_run(seed=3)) == encode(fake_run(seed=3))
    assert encode(fake_run(seed=3)) != encode(fake_run(seed=4))


def test_run_and_records_survive_the_archive_format(quick):
    """Run and records decode strictly from their own JSON."""
    run, records = quick

    assert msgspec.json.decode(msgspec.json.encode(run), type=Run) == run
    assert msgspec.json.decode(msgspec.json.encode(records[0]), type=Record) == records[0]


def test_what_is_null_has_a_reason(quick):
    """Every null of readings, machine, software and plan is explained."""
    run, records = quick

    require_reasons(run.software, run.software.unknown)
    require_reasons(run.machine, run.machine.unknown)
    for record in records:
        require_reasons(record.surroundings, record.surroundings.unknown)
        for reading in record.outcome.readings:
            require_reasons(reading, reading.unknown)


def test_the_quick_study_has_its_series():
    """Strong and weak series of training and inference and the check, with base and own base."""
    run, _ = fake_run()

    found = {(s.key.split(".")[0], s.key.split(".")[1], s.scaling): s for s in run.plan.series}

    assert set(found) == {
        ("gpt-tiny", "train", "strong"),
        ("resnet-tiny", "train", "weak"),
        ("gpt-tiny", "infer", "weak"),
        ("resnet-tiny", "infer", "strong"),
        ("sleep-amdahl", "check", "strong"),
    }
    own = found["gpt-tiny", "train", "strong"]
    assert own.base == own.members[0] != own.own_base is not None


def test_cells_can_be_changed():
    """A cell is gpt tiny on one rank, but for what is asked."""
    assert cell(devices=2, strategy="ddp").batch == quick_truths()[0].cell.batch


def test_more_threads_than_cores_is_oversubscribed():
    """The plan marks the cells whose threads outnumber the cores."""
    run, _ = fake_run(cores=1)

    assert {c.cell.devices for c in run.plan.cells if c.oversubscribed} == {2}


@pytest.mark.parametrize("blocks", [1, 7])
def test_drift_multiplies_all_rates_of_a_block(blocks):
    """Doubling by drift halves the window of every trial of the block."""
    _, plain = fake_run(blocks=blocks)
    _, moved = fake_run(blocks=blocks, drift=lambda block: 2.0)

    for before, after in zip(plain, moved, strict=True):
        assert math.isclose(_length(before), 2 * _length(after), rel_tol=1e-6)


def _length(record: Record) -> int:
    return record.outcome.readings[0].window_end_ns - record.outcome.readings[0].window_start_ns
