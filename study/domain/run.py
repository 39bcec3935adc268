"""One execution of a study on one machine: what `run.json` holds."""

from typing import Literal

from study.domain.fact import Fact
from study.domain.machine import Machine, Software
from study.domain.study import Study
from study.domain.trial import Plan

RUN_SCHEMA = 1


class Session(Fact, frozen=True, kw_only=True):
    """One time that `study run` worked on this run; a resumed run has several."""

    argv: tuple[str, ...]
    launcher: str
    started_utc: str
    ended_utc: str | None
    end: Literal["running", "complete", "partial", "interrupted", "failed"]
    unknown: dict[str, str] = {}


class Run(Fact, frozen=True, kw_only=True):
    """A run: its study as decoded and as text, the plan, the machine, the software, its sessions.

    `source` says whether the study came with the package or from a file of the user's. Sessions and
    status change as the run goes on; `content_sha256` covers everything else, as JSON with sorted keys.
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
    content_sha256: str = ""
