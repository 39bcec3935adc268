"""Tests of telling which processes belong to a rank."""

import os
import signal
import subprocess
from collections.abc import Callable

from study.lab.processes import Family, read_process, send

SHELL = "sleep 300 & setsid sleep 300 & echo ready; wait"


def test_session_and_descendants_belong_to_the_rank(until: Callable[[Callable[[], bool]], bool]) -> None:
    """The rank, its child and its child in another session are found, and nobody else."""
    rank = subprocess.Popen(["sh", "-c", SHELL], stdout=subprocess.PIPE, start_new_session=True)
    assert rank.stdout is not None
    rank.stdout.readline()

    assert until(lambda: len(Family().present([rank.pid])) == 3)
    found = Family().present([rank.pid])
    send(found, signal.SIGKILL)
    rank.communicate()

    assert rank.pid in found
    assert os.getpid() not in found
    assert until(lambda: not Family().present(found))


def test_a_session_whose_leader_is_gone_is_found(until: Callable[[Callable[[], bool]], bool]) -> None:
    """What a rank left behind in its session belongs to it after its end."""
    rank = subprocess.Popen(["sh", "-c", "sleep 300 & exit 0"], start_new_session=True)
    rank.wait()
    left = Family().present([], gone=[rank.pid])
    send(left, signal.SIGKILL)

    assert len(left) == 1
    assert until(lambda: not Family().present([], gone=[rank.pid]))


def test_a_daemon_is_remembered_after_its_parent(until: Callable[[Callable[[], bool]], bool]) -> None:
    """A process in a session of its own still belongs to the family when its parent has ended first."""
    rank = subprocess.Popen(["sh", "-c", SHELL], stdout=subprocess.PIPE, start_new_session=True)
    assert rank.stdout is not None
    rank.stdout.readline()
    family = Family()
    assert until(lambda: len(family.present([rank.pid])) == 3)
    rank.kill()
    rank.wait()

    left = family.present([], gone=[rank.pid])
    forgotten = Family().present([], gone=[rank.pid])
    send(left, signal.SIGKILL)
    rank.stdout.close()

    assert len(left) == 2
    assert len(forgotten) == 1
    assert until(lambda: not family.present([]))


def test_a_number_given_to_a_stranger_is_left_alone() -> None:
    """If a rank known to be gone seems to live, its number belongs to somebody else."""
    stranger = subprocess.Popen(["sleep", "300"], start_new_session=True)
    found = Family().present([], gone=[stranger.pid])
    stranger.kill()
    stranger.wait()

    assert found == set()


def test_a_process_is_read_whatever_its_name(until: Callable[[Callable[[], bool]], bool]) -> None:
    """Session, parent and CPU time of this very process; nothing for a number that nobody has."""
    me = read_process(os.getpid())

    assert me is not None
    assert (me.parent, me.session, me.dead) == (os.getppid(), os.getsid(0), False)
    assert me.cpu_ticks > 0
    assert read_process(2**22 + 1) is None


def test_a_signal_to_nobody_is_no_fault() -> None:
    """A process may end before its signal comes."""
    send([2**22 + 1], signal.SIGKILL)
