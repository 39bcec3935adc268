"""From records to trial summaries: the rate, the attempt that counts, and what is excluded unseen."""

import math

import msgspec
import pytest
from fakes.records import (
    Truth,
    cell,
    failed,
    fake_run,
    hung,
    interrupted,
    measured,
    out_of_memory,
    skipped,
    timed_out,
)

from study.analysis import analyse
from study.analysis.trials import are_replicas, awaited, counting, imbalance, slowest, summarise, wall_ns
from study.domain.fact import require_reasons
from study.domain.record import CountedEvent, Measured
from study.domain.trial import PlannedTrial


def two_ranks(**on_readings):
    """A hundred steps of a tenth of a second, batch 2 over two ranks; fields of both readings changed."""
    import random

    of = cell("resnet", batch=2, devices=2, strategy="ddp")
    truth = Truth(cell=of, scaling="strong", rate=20.0, unit="images")
    trial = PlannedTrial(id="0001-x", order=1, block=1, cell_id="x", seed=1)
    record = measured(trial, truth, rate=20.0, chance=random.Random(1), steps=100)
    readings = tuple(
        msgspec.structs.replace(
            reading,
            **{
                "window_start_ns": 0,
                "window_end_ns": 10_000_000_000,
                "step_ns": (100_000_000,) * 100,
                **on_readings,
            },
        )
        for reading in record.outcome.readings
    )
    return msgspec.structs.replace(record, outcome=Measured(readings=readings))


def with_readings(record, *changes):
    """The record with one dict of changes for each rank."""
    readings = tuple(
        msgspec.structs.replace(reading, **change)
        for reading, change in zip(record.outcome.readings, changes, strict=True)
    )
    return msgspec.structs.replace(record, outcome=Measured(readings=readings))


def test_rate_is_work_of_all_ranks_over_wall_time():
    """Two ranks that do 200 items each in 100 steps of 0.1 s make 40 items a second."""
    record = two_ranks(work=200, work_unit="rows")

    (summary,) = summarise([record])

    assert summary.rate == pytest.approx(40.0, rel=1e-12)
    assert summary.work == 400
    assert summary.wall_s == pytest.approx(10.0)


def test_wall_time_spans_all_ranks():
    """The wall time is from the first rank's start to the last rank's end, not a rank's own duration."""
    record = with_readings(
        two_ranks(),
        {"window_start_ns": 0, "window_end_ns": 9_000_000_000},
        {"window_start_ns": 1_000_000_000, "window_end_ns": 10_000_000_000},
    )

    (summary,) = summarise([record])

    assert summary.wall_s == 10.0


def test_clocks_of_several_hosts_are_not_subtracted():
    """On two nodes the wall time is the longest of the ranks' own durations."""
    record = with_readings(
        two_ranks(),
        {"window_start_ns": 0, "window_end_ns": 9_000_000_000},
        {"window_start_ns": 500_000_000_000, "window_end_ns": 508_000_000_000},
    )

    assert wall_ns(record.outcome.readings, nodes=2) == 9_000_000_000
    assert wall_ns(record.outcome.readings, nodes=1) == 508_000_000_000


def test_a_step_lasts_as_long_as_its_slowest_rank():
    """Per step the largest value over the ranks counts."""
    assert slowest([(1, 5, 3), (2, 4, 3)]) == (2, 5, 3)


def test_imbalance_is_the_mean_share_that_the_slowest_rank_is_behind():
    """(max - median) / max, by hand: (4-3)/4 and (10-10)/10 over three ranks."""
    assert imbalance([(4, 10), (3, 10), (1, 10)]) == pytest.approx(0.125)


def test_one_rank_has_no_imbalance():
    """Imbalance of one rank is unknown with a reason, and not zero."""
    _, records = fake_run(blocks=1)
    (alone,) = (r for r in records if r.cell.workload == "resnet" and r.cell.batch == 16)

    (summary,) = summarise([alone])

    assert summary.imbalance is None
    assert summary.unknown["imbalance"] == "One rank alone has no imbalance."


@pytest.mark.parametrize(
    ("changes", "apart"),
    [
        ({"task": "infer", "strategy": "ddp", "devices": 2}, True),
        ({"task": "infer", "strategy": "ddp", "devices": 1}, False),
        ({"task": "infer", "strategy": "tp", "devices": 2}, False),
        ({"task": "train", "strategy": "ddp", "devices": 2}, False),
    ],
)
def test_replicas_answer_apart(changes, apart):
    """Copies of a model that answer requests wait for no other; training and one group do."""
    of = cell(**changes)

    assert are_replicas(of) == apart
    assert awaited(of, [(1, 5), (2, 4)]) == ((1, 5, 2, 4) if apart else (2, 5))


def test_steps_of_replicas_are_those_of_the_first_rank(quick):
    """No step of a replica waits for another's: the series is rank 0's, and there is no imbalance."""
    _, records = quick
    record = next(r for r in records if r.cell.task == "infer" and r.cell.devices == 2)
    first, second = record.outcome.readings
    turned = msgspec.structs.replace(record, outcome=Measured(readings=(second, first)))

    (summary,) = summarise([turned])

    assert summary.step_ns == first.step_ns
    assert summary.warmup_step_ns == first.warmup_step_ns
    assert summary.imbalance is None
    assert summary.unknown["imbalance"] == "The replicas answer independently, so no step waits for another."


def test_the_latest_attempt_counts(quick):
    """A failed first attempt is replaced by the measured second."""
    _, records = quick
    first, second = failed(records[0]), msgspec.structs.replace(records[0], attempt=2)

    (summary,) = summarise([second, first])

    assert (summary.outcome, summary.attempt) == ("measured", 2)


def test_an_interrupted_attempt_is_no_result(quick):
    """A result is not replaced by a later interrupted attempt; interrupted ones alone give no rate."""
    _, records = quick
    later = interrupted(msgspec.structs.replace(records[0], attempt=2))

    assert counting([records[0], later]) == (records[0],)
    (alone,) = summarise([later])
    assert (alone.outcome, alone.rate, alone.fault) == ("interrupted", None, "Interrupted by SIGINT.")


def test_an_earlier_attempt_is_kept_beside_the_one_that_counts(quick):
    """A failed launch and what followed it: one counts, the other is not lost."""
    run, records = quick
    first = failed(records[0], "The process that forks the ranks ended during the trial.")
    again = msgspec.structs.replace(records[0], attempt=2)

    analysis = analyse(run, [first, again, *records[1:]])

    assert [(t.attempt, t.outcome) for t in analysis.trials if t.trial == first.trial] == [(2, "measured")]
    assert [(t.trial, t.attempt, t.outcome) for t in analysis.earlier] == [(first.trial, 1, "failed")]
    assert "forks the ranks" in analysis.earlier[0].fault


@pytest.mark.parametrize(
    ("spoil", "outcome", "words"),
    [
        (failed, "failed", "RuntimeError: the loss is not finite"),
        (out_of_memory, "out_of_memory", "CUDA out of memory"),
        (timed_out, "timed_out", "It had not ended after 60 s."),
        (hung, "timed_out", "It hung: in its timed window it made no step for 10.1 s."),
        (skipped, "skipped", "A larger batch ran out of memory."),
    ],
)
def test_trials_without_a_result_have_no_numbers_and_a_sentence(quick, spoil, outcome, words):
    """Rate, work and wall time of a failed trial are null, never zero, and its fault is a sentence."""
    _, records = quick

    (summary,) = summarise([spoil(records[0])])

    assert (summary.outcome, summary.fault) == (outcome, words)
    assert (summary.rate, summary.work, summary.wall_s, summary.step_ns) == (None, None, None, ())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (({"rank": 0}, {"rank": 0}), "Readings came from 2 ranks of 2."),
        (({}, {"step_ns": (1, 2)}), "The ranks did not run the same number of steps."),
        (({}, {"loss": (math.inf,)}), "The loss is not finite."),
        (({}, {"loss_first": math.nan}), "The loss is not finite."),
        (({"work": 0}, {"work": 0}), "No work was counted."),
        (({"work": 99}, {}), "The work counted is not the number of steps times the batch."),
        (({}, {"work_unit": "rows"}), "The ranks counted their work in different units."),
        (
            ({"window_end_ns": 0, "window_start_ns": 0}, {"window_end_ns": 0, "window_start_ns": 0}),
            "The window has no length.",
        ),
    ],
)
def test_a_trial_is_excluded_by_what_it_did(changes, words):
    """Each rule fires on the readings, says why, and leaves no rate."""
    record = with_readings(two_ranks(), *changes)

    (summary,) = summarise([record])

    assert (summary.outcome, summary.rate, summary.fault) == ("excluded", None, words)


def test_a_missing_rank_excludes_the_trial():
    """One reading of a trial on two devices is not half a result."""
    record = two_ranks()
    lame = msgspec.structs.replace(record, outcome=Measured(readings=record.outcome.readings[:1]))

    (summary,) = summarise([lame])

    assert summary.fault == "Readings came from 1 ranks of 2."


def test_work_per_step_that_differs_from_the_other_trials_is_excluded(quick):
    """A trial that counted other work per step than the majority of its cell is excluded."""
    _, records = quick
    mine = [r for r in records if r.cell.task == "train" and r.cell.workload == "gpt" and r.cell.devices == 1]
    same = [r for r in mine if r.cell_id == mine[0].cell_id]
    odd = with_readings(same[2], {"work": same[2].outcome.readings[0].work * 2})

    found = {s.trial: s for s in summarise([*same[:2], odd, *same[3:]])}

    assert found[odd.trial].fault == "The work per step differs from that of the cell's other trials."
    assert [s.outcome for s in found.values()].count("excluded") == 1


def test_no_side_is_taken_when_work_per_step_is_split_evenly(quick):
    """Of two trials that disagree neither is believed."""
    _, records = quick
    of = next(r.cell_id for r in records if r.cell.task == "train" and r.cell.workload == "gpt")
    first, second = [r for r in records if r.cell_id == of][:2]
    odd = with_readings(second, *({"work": reading.work * 2} for reading in second.outcome.readings))

    assert {s.outcome for s in summarise([first, odd])} == {"excluded"}


def test_rates_are_not_looked_at(quick):
    """A trial a thousand times slower than the others of its cell is kept."""
    run, _ = quick
    slow = run.plan.cells[0].id
    _, records = fake_run(rates={slow: [4000, 4000, 4, 4000, 4000]})

    assert all(s.outcome == "measured" for s in summarise(records))


def test_every_null_has_a_reason(quick):
    """Whatever a summary does not know, it says why."""
    _, records = quick

    for summary in summarise([failed(records[0]), *records[1:]]):
        require_reasons(summary, summary.unknown)


def test_the_share_of_others_stays_unknown_if_it_was_not_read():
    """A processor share that was not recorded is null with the lab's reason."""
    _, records = fake_run(blocks=1, foreign_cpu_share=None)

    assert summarise(records)[0].foreign_cpu_share is None
    assert summarise(records)[0].unknown["foreign_cpu_share"] == "psutil could not read it"


@pytest.mark.parametrize(
    ("surroundings", "fault"),
    [
        ({"foreign_processes": 0}, ""),
        ({"foreign_processes": 1}, "Another program was on a device of the trial."),
        ({"foreign_processes_elsewhere": 3}, ""),
        (
            {"device_memory_used_bytes": (0, 2**30), "device_memory_base_bytes": (0, 0)},
            "Memory of a device of the trial was in use when it began.",
        ),
        ({"device_memory_used_bytes": (2**30,), "device_memory_base_bytes": (2**30,)}, ""),
        ({"device_memory_used_bytes": (2**30,)}, ""),
    ],
)
def test_a_trial_that_was_not_alone_on_its_devices_is_excluded(surroundings, fault):
    """Whatever its rate: by processes seen, or where they are hidden by the memory that they hold."""
    record = two_ranks()
    around = msgspec.structs.replace(record.surroundings, **surroundings)

    (found,) = summarise([msgspec.structs.replace(record, surroundings=around)])

    assert found.fault == fault
    assert found.outcome == ("excluded" if fault else "measured")
    assert (found.rate is None) == bool(fault)


def test_what_happened_in_any_ranks_window_is_named():
    """Once each, in order; what was over by then is not."""
    events = (
        CountedEvent(name="memory growth", warmup=5, window=1),
        CountedEvent(name="compilation", warmup=0, window=2),
        CountedEvent(name="bucket rebuild", warmup=1, window=0),
    )

    (found,) = summarise([two_ranks(events=events)])

    assert found.window_events == ("compilation", "memory growth")
