"""The bank of faults: each with its name, what is injected, and what the record must then say.

`worker` is who runs: `fake` (tests/lab/faults/faulty_rank.py), `real` (the worker itself, with a workload
that goes wrong and needs no torch) or `torch` (the worker, training for real).
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault. `do` is what rank `at` of `devices` does, `words` stand in the sentence of the outcome.

    `attempts` is how many records the trial comes to, `kills` by how many the kernel's count of kills for
    memory rises meanwhile.
    """

    name: str
    do: str
    kind: Literal["measured", "failed", "out_of_memory", "timed_out"]
    cause: str = ""
    rank: int | None = 0
    words: str = ""
    others: str = "measure"
    devices: int = 1
    at: int = 0
    limit_s: float = 30.0
    silence_s: float = 10.0
    attempts: int = 1
    kills: int = 0
    worker: Literal["fake", "real", "torch"] = "fake"


def one(name: str, do: str, cause: str, words: str, **more: object) -> Fault:
    """A rank alone that fails."""
    return Fault(name=name, do=do, kind="failed", cause=cause, words=words, **more)  # type: ignore[arg-type]


def two(name: str, do: str, cause: str, words: str, **more: object) -> Fault:
    """Rank 1 of two fails while rank 0 hangs, as in a collective."""
    given = {"others": "hang", "devices": 2, "at": 1, "rank": 1, **more}
    return Fault(name=name, do=do, kind="failed", cause=cause, words=words, **given)  # type: ignore[arg-type]


def unread(name: str, do: str, words: str) -> Fault:
    """A rank that ends normally and leaves what is no reading."""
    return one(name, do, "invalid", words)


def good(name: str, do: str, **more: object) -> Fault:
    """What looks like a fault and is none: the trial is measured."""
    return Fault(name=name, do=do, kind="measured", rank=None, **more)  # type: ignore[arg-type]


def memory(name: str, do: str, words: str, **more: object) -> Fault:
    """A rank without memory."""
    return Fault(name=name, do=do, kind="out_of_memory", words=words, **more)  # type: ignore[arg-type]


def late(name: str, do: str, words: str, **more: object) -> Fault:
    """A trial that has to be ended."""
    given = {"others": "measure", "devices": 2, "at": 1, "rank": 1, "limit_s": 2.5, **more}
    return Fault(name=name, do=do, kind="timed_out", words=words, **given)  # type: ignore[arg-type]


HUNG = "silent"
"""In `words` of a trial that timed out: it was ended for its silence, not at its limit."""

BANK = (
    # raising
    two("raises", "raises", "raised", "ValueError: the width must be even"),
    two("raises and leaves a child", "raises_with_a_child", "raised", "and a child stays"),
    one("raises KeyboardInterrupt", "keyboard_interrupt", "raised", "KeyboardInterrupt"),
    one("recurses without end", "recursion", "raised", "RecursionError"),
    one("raises what is no Exception", "foreign", "raised", "Foreign: cancelled"),
    one("raises what cannot say itself", "mute", "raised", "Mute: (it cannot say why: RuntimeError)"),
    one("raises what cannot be pickled", "unpicklable", "raised", "it holds an open file"),
    one("raises half a character", "half_a_character", "raised", "\\udcff.bin is broken"),
    one("raises with five megabytes of words", "many_words", "raised", "ValueError: xxx"),
    one("names a home folder", "names_a_home", "raised", "~/secret/model.bin"),
    one("says it and then hangs", "says_and_hangs", "raised", "said before hanging", limit_s=3.0),
    # signals
    two("SIGSEGV", "segfault", "signal", "SIGSEGV"),
    two("SIGKILL", "killed", "signal", "SIGKILL"),
    one("SIGBUS", "sigbus", "signal", "SIGBUS"),
    one("SIGABRT", "sigabrt", "signal", "SIGABRT"),
    one("SIGILL", "sigill", "signal", "SIGILL"),
    one("SIGFPE", "sigfpe", "signal", "SIGFPE"),
    one("SIGTERM from elsewhere", "sigterm", "signal", "SIGTERM"),
    # ends
    two("sys.exit(3)", "sys_exit", "exit", "exit code 3"),
    two("os._exit(7)", "os_exit", "exit", "exit code 7"),
    one("os._exit(255)", "os_exit_255", "exit", "exit code 255"),
    one("sys.exit with words", "sys_exit_with_words", "exit", "exit code 1"),
    unread("sys.exit without a code", "sys_exit_without_a_code", "left no reading"),
    unread("os._exit(0) without a reading", "ends_at_once", "left no reading"),
    unread("ends normally without a reading", "nothing", "left no reading"),
    # readings
    unread("torn reading", "garbage", "reading-0.json cannot be read"),
    unread("empty reading", "empty_reading", "reading-0.json cannot be read"),
    unread("reading of another rank", "another_rank", "says that it is of rank 1"),
    unread("reading of wrong types", "wrong_type", "Expected `int`, got `str`"),
    unread("reading with NaN", "not_a_number", "reading-0.json cannot be read"),
    unread("oversized reading", "oversized", "larger than 64 MiB"),
    unread("reading nested without end", "too_deep", "reading-0.json cannot be read"),
    unread("a pipe for a reading", "pipe", "no plain file"),
    unread("a folder for a reading", "folder_for_a_reading", "no plain file"),
    unread("a link for a reading", "link_to_nowhere_near", "reading-0.json cannot be read"),
    # errors
    one("torn error", "torn_error", "exit", "error-0.json cannot be read"),
    one("error of no kind", "error_of_no_kind", "exit", "error-0.json cannot be read"),
    one("error of another rank", "error_of_another", "exit", "says that it is of rank 1"),
    one("the report of the error fails", "reporting_fails", "exit", "exit code 1; no error file"),
    # what is counted
    two("steps differ", "few_steps", "invalid", "same number of steps", others="measure", rank=None),
    two("work differs", "wrong_work", "invalid", "no whole number", others="measure", rank=None),
    two("units differ", "other_units", "invalid", "different units", others="measure", rank=None),
    one("no steps", "no_steps", "invalid", "0 steps in the window", rank=None),
    one("negative clock", "negative_clock", "invalid", "went backwards", rank=None),
    one("negative step", "negative_step", "invalid", "went backwards", rank=None),
    one("negative work", "negative_work", "invalid", "no whole number", rank=None),
    two("invalid by its own word", "invalid", "invalid", "The loss is not a number."),
    # logs and folders
    one("floods its log", "floods_its_log", "raised", "after much talk"),
    one("prints what is no text", "prints_no_text", "raised", "after bytes that are no text"),
    one("closes its output", "closes_its_mouth", "raised", "said without a mouth"),
    one("has no output streams", "replaces_its_mouth", "raised", "said with no stream"),
    one("deletes its folder", "deletes_its_folder", "exit", "exit code 1; no error file"),
    one("changes its folder", "leaves_its_folder", "raised", "said from elsewhere"),
    good("a pipe for a heartbeat", "pipe_for_a_heart"),
    # what is left behind
    good("leaves a grandchild", "leaves_grandchild"),
    good("leaves a grandchild in a session of its own", "leaves_daemon"),
    good("leaves a daemon that forked twice", "daemon"),
    one("dies and leaves a child in its own session", "child_in_its_own_session", "exit", "exit code 9"),
    one("dies and leaves a child with a port", "child_with_a_port", "signal", "SIGKILL"),
    one("dies and leaves shared memory", "child_with_shared_memory", "signal", "SIGKILL"),
    late("hangs with grandchildren", "hangs_with_grandchildren", ""),
    late("hangs with a child that ignores SIGTERM", "child_that_ignores", ""),
    # standing still
    late("hangs before its first step", "hang", ""),
    late("ignores SIGTERM", "stubborn", ""),
    late("is stopped", "stopped", ""),
    late("makes no step", "silent", HUNG, limit_s=60.0, silence_s=1.0),
    late("makes no step and ignores SIGTERM", "silent_and_stubborn", HUNG, limit_s=60.0, silence_s=1.0),
    late(
        "makes no step while another waits for it", "silent", HUNG,
        limit_s=60.0, silence_s=1.0, others="waits_at_the_barrier",
    ),
    good("runs ahead of its device", "runs_ahead", silence_s=0.5),
    good("is slow at its exit", "slow_to_end", devices=2, at=1),
    # meeting
    two("dies before it joins", "dies_before_joining", "exit", "exit code 11", others="meets_twice"),
    two("dies at the barrier", "dies_at_the_barrier", "signal", "SIGKILL", others="meets_twice"),
    two("fails in the reduction", "raises_in_the_reduction", "raised", "no sum today", others="meets_twice"),
    two("is heard by its echo first", "raises_late", "raised", "the true cause", others="echo"),
    two("is an echo alone", "echo", "raised", "Connection closed by peer"),
    two("two faults at once", "raises_first", "raised", "the first of two", others="crashes_a_moment_later"),
    two("the port is taken", "port_is_taken", "launch", "EADDRINUSE", attempts=2),
    good("the port is taken once", "port_is_taken_once", attempts=2),
    one("the server is killed", "kills_its_server", "launch", "forks the ranks ended", rank=None, attempts=2),
    good("the server is killed once", "kills_its_server_once", attempts=2),
    # memory
    memory("raises MemoryError", "memory_error", "MemoryError: no room for 3 GB"),
    memory("says that it is out of memory", "out_of_memory", "can't allocate memory: 8 GB"),
    memory("meets RLIMIT_AS", "address_space", "MemoryError"),
    memory("is killed for memory", "killed", "count of kills for memory rose by 1", kills=1),
    # surroundings
    good("the environment is poisoned", "is_poisoned"),
    good("the machine's counters are dead", "measure"),
    # the worker itself
    two("the worker's step raises", "raise", "raised", "a fault on purpose", worker="real"),
    two("the worker's result is wrong", "invalid", "invalid", "The answer is wrong", worker="real"),
    two("the worker's step is killed", "kill", "signal", "SIGKILL", worker="real"),
    one("the worker's step cannot say why", "mute", "raised", "cannot say why", worker="real"),
    one("a port is taken within a step", "address", "raised", "Address already in use", worker="real"),
    memory("the worker's step lacks memory", "memory", "no room on purpose", worker="real"),
    memory("oneDNN lacks memory", "primitive", "could not create a primitive", worker="real"),
    late("the worker's step hangs", "hang", HUNG, limit_s=60.0, silence_s=1.0, worker="real", rank=None),
    # training
    two("training raises", "raise", "raised", "a fault on purpose", worker="torch"),
    two("training is killed in its step", "kill", "signal", "SIGKILL", worker="torch"),
    one("the loss is no number", "nan", "invalid", " is nan, so this is not training", worker="torch"),
    one("the loss does not fall", "wrong sign", "invalid", "The loss did not fall", worker="torch"),
    memory("a tensor is too large", "memory", "allocate memory", worker="torch"),
    late("training hangs", "hang", HUNG, limit_s=60.0, silence_s=2.0, worker="torch", rank=None),
)  # fmt: skip
