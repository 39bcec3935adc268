"""The bubble of a pipeline, by formula and as measured."""

import pytest

from study.analysis import reasons
from study.analysis.pipelines import bubble_share, imbalance, measured_bubble, relative_bubble
from study.analysis.verdicts import Refused


def simulated_step(stages, micro_batches, forward=1.0, backward=2.0):
    """The length of a GPipe step of equal stages, event by event."""
    done = {}
    for m in range(micro_batches):
        for s in range(stages):
            done[s, m] = max(done.get((s - 1, m), 0.0), done.get((s, m - 1), 0.0)) + forward
    free = {s: done[s, micro_batches - 1] for s in range(stages)}
    back = {}
    for m in range(micro_batches):
        for s in reversed(range(stages)):
            back[s, m] = free[s] = max(back.get((s + 1, m), 0.0), free[s]) + backward
    return max(back.values())


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b"])
@pytest.mark.parametrize(
    ("stages", "micro_batches", "share"), [(4, 4, 3 / 7), (4, 32, 3 / 35), (2, 1, 1 / 2)]
)
def test_bubble_of_one_chunk_a_stage(schedule, stages, micro_batches, share):
    """(p - 1)/(m + p - 1), and that of a step that is played through."""
    found = bubble_share(schedule, stages=stages, micro_batches=micro_batches)

    assert found == pytest.approx(share)
    step_s = simulated_step(stages, micro_batches)
    assert measured_bubble([3.0] * stages, micro_batches=micro_batches, step_s=step_s) == pytest.approx(found)


def test_chunks_divide_the_bubble():
    """(p - 1)/(v m + p - 1): 3/35 with one chunk, 3/67 with two."""
    shape = {"stages": 4, "micro_batches": 32}

    assert bubble_share("interleaved", **shape, chunks=2) == pytest.approx(3 / 67)
    assert bubble_share("looped_bfs", **shape, chunks=4) == pytest.approx(3 / 131)
    assert bubble_share("1f1b", **shape) == pytest.approx(3 / 35)


def test_megatron_quotes_the_bubble_relative_to_the_ideal():
    """(p - 1)/m and (p - 1)/(v m): larger than the share of the whole."""
    shape = {"stages": 8, "micro_batches": 16}

    assert relative_bubble("1f1b", **shape) == pytest.approx(7 / 16)
    assert relative_bubble("interleaved", **shape, chunks=2) == pytest.approx(7 / 32)
    assert bubble_share("1f1b", **shape) == pytest.approx(7 / 23)


def test_one_stage_has_no_bubble():
    """Nothing waits."""
    assert bubble_share("gpipe", stages=1, micro_batches=4) == 0


@pytest.mark.parametrize("schedule", ["zbv_zero_bubble", "interleaved_zero_bubble", "dualpipev"])
def test_zero_bubble_schedules_are_refused(schedule):
    """Their bubble depends on times; the shape alone does not give it."""
    assert bubble_share(schedule, stages=4, micro_batches=8) == Refused(reason=reasons.NO_BUBBLE_FORMULA)
    assert relative_bubble(schedule, stages=4, micro_batches=8) == Refused(reason=reasons.NO_BUBBLE_FORMULA)


def test_an_unknown_schedule_is_refused():
    """No formula is guessed."""
    assert bubble_share("newest", stages=4, micro_batches=8) == Refused(reason=reasons.NO_SUCH_SCHEDULE)


def test_the_slowest_stage_sets_the_measured_bubble():
    """Stages of 3, 3 and 4 s, 8 micro-batches in 40 s: the slowest is busy 32 of 40."""
    assert measured_bubble([3.0, 4.0, 3.0], micro_batches=8, step_s=40.0) == pytest.approx(0.2)
    assert imbalance([3.0, 4.0, 3.0]) == pytest.approx(1.2)
    assert imbalance([3.0, 3.0]) == 1


def test_stages_longer_than_their_step_are_no_measurement():
    """A negative bubble is not printed."""
    found = measured_bubble([3.0, 4.0], micro_batches=8, step_s=31.0)

    assert found == Refused(reason=reasons.STAGES_LONGER_THAN_STEP)
