"""When trials began, in seconds from the first, by the monotonic clock."""

import msgspec
import pytest

from study.article.begun import begun_s


@pytest.fixture
def four(make, scene):
    """Four trials of two sessions, and their records: ten and 110 seconds into the first, an hour later."""
    of = make.cell("gpt", "train", "single", 1)
    trials = [make.trial(of, block, 1.0, order=block) for block in (1, 2, 3, 4)]
    places = [(1, 10), (1, 110), (2, 5), (2, 25)]
    dates = ["10:00:00", "10:01:40", "11:00:00", "11:00:20"]
    records = [
        msgspec.structs.replace(
            scene.records[0],
            trial=trial.trial,
            attempt=1,
            order=trial.order,
            session=session,
            started_ns=at * 10**9,
            started_utc=f"2026-11-28T{date}Z",
        )
        for trial, (session, at), date in zip(trials, places, dates, strict=True)
    ]
    return trials, records


def test_within_a_session_the_monotonic_clock_counts(four):
    """The second session begins an hour after the first, as the dates say, on a clock of its own."""
    trials, records = four

    assert list(begun_s(trials, records).values()) == [0.0, 100.0, 3600.0, 3620.0]


def test_a_date_that_was_set_back_puts_no_trial_before_another_session(four):
    """By its date the second session is a day before the first; it is drawn behind it."""
    trials, records = four
    back = [
        msgspec.structs.replace(r, started_utc=r.started_utc.replace("28T11", "27T11"))
        if r.session == 2
        else r
        for r in records
    ]

    assert list(begun_s(trials, back).values()) == [0.0, 100.0, 100.0, 120.0]


def test_old_records_are_placed_by_their_dates(four):
    """Records without a session have nothing better."""
    trials, records = four
    dated = [
        msgspec.structs.replace(t, started_utc=r.started_utc) for t, r in zip(trials, records, strict=True)
    ]
    old = [msgspec.structs.replace(r, session=None) for r in records]

    assert list(begun_s(dated, old).values()) == [0.0, 100.0, 3600.0, 3620.0]
