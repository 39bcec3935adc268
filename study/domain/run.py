"""One execution of a study on one machine: what `run.json` holds."""

from typing import Literal

from study.domain.fact import Fact
from study.domain.machine import Machine, Software
from study.domain.study import Study
from study.domain.trial import Plan

RUN_SCHEMA = 1

PRECISE_TRIALS = 7
"""An interval that blocks are added for counts as narrow from so many trials on,"""
PRECISE_IN_A_ROW = 3
"""and if it was narrow after each of so many last trials;"""
PRECISE_COVERAGE = 0.93
"""then 95 % intervals hold the true rate in this share of simulated studies or more."""


class Session(Fact, frozen=True, kw_only=True):
    """One time that `study run` worked on this run; a resumed run has several."""

    argv: tuple[str, ...]
    launcher: str
    started_utc: str
    ended_utc: str | None
    end: Literal["running", "complete", "partial", "interrupted", "failed"]
    unknown: dict[str, str] = {}


class Decision(Fact, frozen=True, kw_only=True):
    """What was decided after a block about measuring on, where the protocol asks for a precision.

    `cells` are the ids whose interval was still too wide, or not surely narrow enough: those that the next
    block is for, or those that were left. `more`: another block of them and of all that is compared with
    them. `reached`: none is too wide. `budget`, `most_blocks`: the time, or the blocks, that the protocol
    allows are spent. `out_of_reach`: what is still needed would exceed them. `blocks_needed` says how many
    blocks in all would be needed at least; null where none is too wide, or beyond counting. `given_up` are
    cells whose last trials gave no result, so that they were not waited for.
    """

    after_block: int
    verdict: Literal["more", "reached", "budget", "most_blocks", "out_of_reach"]
    cells: tuple[str, ...]
    blocks_needed: int | None = None
    given_up: tuple[str, ...] = ()


class State(Fact, frozen=True, kw_only=True):
    """The study file at one time of a run whose file was edited: from which trials on it holds.

    `first_order` is the order of the first trial that was planned by it; `study_text` the file.
    """

    since_utc: str
    first_order: int
    plan_digest: str
    study_text: str


class Run(Fact, frozen=True, kw_only=True):
    """A run: its study as decoded and as text, the plan, the machine, the software, its sessions.

    `source` says whether the study came with the package or from a file of the user's. `study`,
    `study_text` and `plan` are the newest of `states`, which is empty unless the file was edited between
    two sessions. Sessions and status change as the run goes on; `content_sha256` covers everything else
    as it is now, as JSON with sorted keys.
    """

    schema: int
    id: str
    study: Study
    study_text: str
    source: Literal["preset", "file"]
    plan: Plan
    machine: Machine
    software: Software
    sessions: tuple[Session, ...]
    status: Literal["running", "complete", "partial"]
    decisions: tuple[Decision, ...] = ()
    states: tuple[State, ...] = ()
    content_sha256: str = ""
