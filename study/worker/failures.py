"""Telling how a rank failed: out of memory, invalid, unmet, or raised; and whether it echoes another's.

When a rank dies, the others' next collective fails a moment later. Those echoes are marked, so that
the lab names the first cause and not the loudest victim.
"""

import traceback
from typing import Literal

from study.domain.record import RankError
from study.worker.contracts import Invalid, Unmet

Kind = Literal["out_of_memory", "raised", "invalid", "launch"]

EXIT_CODES: dict[Kind, int] = {"raised": 1, "out_of_memory": 2, "invalid": 3, "launch": 4}

TRACE_LINES = 30
MESSAGE_LENGTH = 600

OUT_OF_MEMORY = (
    "can't allocate memory",  # torch's DefaultCPUAllocator
    "could not create a primitive",  # what oneDNN says when its allocation fails
    "CUDA out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUDNN_STATUS_ALLOC_FAILED",
    "HIP out of memory",
)

ECHOES = (
    "Connection closed by peer",  # gloo, and FileGroup
    "Connection reset by peer",
    "Timed out waiting",  # gloo, and FileGroup
    "Broken pipe",
    "wait timeout after",  # the rendezvous store
    "ncclRemoteError",
    "remote process exited or there was a network error",  # ncclRemoteError in words
    "NCCL communicator was aborted",
)


def rank_error(error: BaseException, rank: int, time_ns: int) -> RankError:
    """The failure of one rank as a fact; `time_ns` is when it was caught, on the clock of the steps."""
    words = " ".join(_words(part) for part in _chain(error))
    kind = _kind(error, words)
    trace = _plain("".join(traceback.format_exception(error))).splitlines()
    return RankError(
        rank=rank,
        time_ns=time_ns,
        kind=kind,
        secondary=kind == "raised" and any(echo in words for echo in ECHOES),
        message=_one_line(error),
        trace=tuple(trace[-TRACE_LINES:]),
    )


def _words(error: BaseException) -> str:
    """The error's own words; an error may be unable to say them."""
    try:
        words = str(error)
    except Exception as again:
        return f"(it cannot say why: {type(again).__name__})"
    return _plain(words)


def _plain(text: str) -> str:
    """Text that JSON can hold: half a character, as a name on disk may have, is written out."""
    return text.encode("utf-8", errors="backslashreplace").decode()


def _kind(error: BaseException, words: str) -> Kind:
    if isinstance(error, Invalid):
        return "invalid"
    if isinstance(error, Unmet):
        return "launch"
    for part in _chain(error):
        # By name, so that a rank without torch can be asked; torch.cuda's is the same class.
        names = {kind.__name__ for kind in type(part).__mro__}
        if names & {"MemoryError", "OutOfMemoryError"}:
            return "out_of_memory"
    return "out_of_memory" if any(sign in words for sign in OUT_OF_MEMORY) else "raised"


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what it was raised from, outermost first."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__
    return chain


def _one_line(error: BaseException) -> str:
    lines = _words(error).strip().splitlines()
    text = lines[0].strip() if lines else ""
    message = text if isinstance(error, Invalid | Unmet) else f"{type(error).__name__}: {text}".rstrip(": ")
    return message[:MESSAGE_LENGTH]
