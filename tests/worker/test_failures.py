"""Failures told apart, with the messages that torch, gloo, NCCL and oneDNN really write."""

import msgspec
import pytest

from study.domain.record import RankError
from study.worker.contracts import Invalid, Unmet
from study.worker.failures import EXIT_CODES, TRACE_LINES, rank_error

MEMORY = [
    MemoryError(),
    RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried "
        "to allocate 4398046511104 bytes. Error code 12 (Cannot allocate memory)"
    ),
    RuntimeError("could not create a primitive"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
]

ECHOES = [
    RuntimeError(
        "[../third_party/gloo/gloo/transport/tcp/pair.cc:553] Connection closed by peer [127.0.0.1]:8"
    ),
    RuntimeError("[.../pair.cc:534] Read error [127.0.0.1]:29500: Connection reset by peer"),
    RuntimeError("[.../unbound_buffer.cc:78] Timed out waiting 5000ms for recv operation to complete"),
    RuntimeError("NCCL error: remote process exited or there was a network error, NCCL version 2.21.5"),
    TimeoutError("Timed out waiting for rank 1 for 5 s"),
]


@pytest.mark.parametrize("error", MEMORY, ids=lambda e: str(e)[:20] or type(e).__name__)
def test_every_word_for_no_memory_is_out_of_memory(error):
    """Allocators say it in several ways; all are one kind, and none is an echo."""
    fact = rank_error(error, 1, 7)

    assert (fact.kind, fact.secondary, EXIT_CODES[fact.kind]) == ("out_of_memory", False, 2)


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("mute")


def test_ranks_that_cannot_meet_are_no_fact_about_the_cell():
    """A port that is taken at the rendezvous is a failed launch; within a step it is the cell's own."""
    unmet = rank_error(Unmet("The ranks could not meet: EADDRINUSE"), 0, 7)
    within = rank_error(OSError(98, "Address already in use"), 0, 7)

    assert (unmet.kind, unmet.secondary, EXIT_CODES[unmet.kind]) == ("launch", False, 4)
    assert unmet.message == "The ranks could not meet: EADDRINUSE"
    assert within.kind == "raised"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Mute(), "Mute: (it cannot say why: RuntimeError)"),
        (ValueError("half \udcff"), "ValueError: half \\udcff"),
    ],
)
def test_an_odd_error_can_still_be_written_down(error, message):
    """One that cannot say why, and one whose words JSON cannot hold."""
    fact = rank_error(error, 0, 7)

    assert fact.message == message
    assert msgspec.json.decode(msgspec.json.encode(fact), type=RankError) == fact


@pytest.mark.parametrize("error", ECHOES, ids=lambda e: str(e)[-20:])
def test_broken_connections_are_echoes(error):
    """What a rank says when another has gone is raised, and secondary."""
    fact = rank_error(error, 0, 7)

    assert (fact.kind, fact.secondary, EXIT_CODES[fact.kind]) == ("raised", True, 1)


def test_any_other_error_is_a_cause():
    """A plain exception is not an echo."""
    fact = rank_error(ValueError("no such option"), 3, 11)

    assert (fact.rank, fact.time_ns, fact.kind, fact.secondary) == (3, 11, "raised", False)
    assert fact.message == "ValueError: no such option"


def test_an_invalid_result_speaks_for_itself():
    """An invalid result is told in its own sentence, even if that mentions waiting or memory."""
    fact = rank_error(Invalid("Timed out waiting for sense; can't allocate memory for it."), 0, 7)

    assert (fact.kind, fact.secondary, EXIT_CODES[fact.kind]) == ("invalid", False, 3)
    assert fact.message.startswith("Timed out")


def test_the_cause_behind_a_wrapper_decides():
    """An error raised from a lack of memory is a lack of memory."""
    wrapped = RuntimeError("step failed")
    wrapped.__cause__ = MemoryError("no room")

    assert rank_error(wrapped, 0, 7).kind == "out_of_memory"


def test_message_is_one_line_and_trace_the_last_thirty():
    """A long traceback is cut to its end, a long message to its first line."""

    # Two functions in turn: Python shortens the traceback of one that calls itself.
    def ping(n):
        if n == 0:
            raise ValueError("first\nsecond")
        pong(n)

    def pong(n):
        ping(n - 1)

    with pytest.raises(ValueError, match="first") as caught:
        ping(60)

    fact = rank_error(caught.value, 0, 7)

    assert fact.message == "ValueError: first"
    assert len(fact.trace) == TRACE_LINES == 30
    assert fact.trace[-1] == "second"
