"""Tests of the share of CPU time that others used."""

import time

import pytest

from study.lab.surroundings import Usage, surroundings, usage


class FakeLauncher:
    """A launcher whose ranks have used so much."""

    name = "fake"

    def __init__(self, cpu_ns: int | None) -> None:
        self._cpu_ns = cpu_ns

    def cpu_ns(self) -> int | None:
        return self._cpu_ns


@pytest.mark.parametrize(
    ("busy_s", "own_s", "share"),
    [
        (10.0, 10.0, 0.0),  # all that was busy was ours
        (15.0, 10.0, 0.25),  # 5 of 20 CPU seconds were others'
        (20.0, 0.0, 1.0),
        (9.99, 10.0, 0.0),  # ticks: never below zero
    ],
)
def test_the_share_is_busy_time_that_was_not_ours(busy_s: float, own_s: float, share: float) -> None:
    """Over 10 s on two CPUs, what was busy and not ours is the others' share of 20 CPU seconds."""
    before = Usage(total_s=100.0, busy_s=50.0, own_s=7.0)
    after = Usage(total_s=120.0, busy_s=50.0 + busy_s, own_s=7.0 + own_s)

    found = surroundings(before, after, 0.5)

    assert found.foreign_cpu_share == pytest.approx(share)
    assert found.load_before == 0.5
    assert set(found.unknown.values()) == {"nobody looked"}


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (Usage(100.0, 50.0, 7.0), "did not move"),
        (Usage(120.0, 60.0, None), "cannot tell"),
        (Usage(120.0, 60.0, 1.0), "restarted"),
    ],
)
def test_what_cannot_be_known_is_null_with_the_reason(after: Usage, reason: str) -> None:
    """A missing share is never zero."""
    found = surroundings(Usage(100.0, 50.0, 7.0), after, None)

    assert found.foreign_cpu_share is None
    assert reason in found.unknown["foreign_cpu_share"]
    assert "load_before" in found.unknown


def test_our_own_work_counts_as_ours() -> None:
    """While this process computes, its own time and the machine's busy time both rise by it."""
    before = usage(FakeLauncher(2_000_000_000))
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    after = usage(FakeLauncher(2_500_000_000))

    assert before.own_s is not None
    assert after.own_s is not None
    assert after.own_s - before.own_s >= 0.8
    assert after.busy_s - before.busy_s >= 0.25
    assert after.total_s > before.total_s


def test_a_launcher_that_cannot_tell_makes_ours_unknown() -> None:
    """No half of a sum is taken for the whole."""
    assert usage(FakeLauncher(None)).own_s is None
