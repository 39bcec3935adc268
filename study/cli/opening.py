"""Which run `study run` works on: an unfinished one, one whose study file was edited since, or a new one."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from study.cli.plan import many
from study.domain.errors import NotReady
from study.domain.run import Run, State
from study.domain.trial import planned_cell

if TYPE_CHECKING:
    from study.archive import RunFolder
    from study.domain.study import Protocol
    from study.domain.trial import PlannedTrial
    from study.planning import Revision

DIFFERENCES_SHOWN = 3
"""So many fields of another machine or other software are named; the rest is counted."""


class Opening:
    """The run that is going to be opened. Until it is entered nothing is written.

    `wanted` is the run as it would be if it were new. `told` are the lines that the user is told before
    anything runs: what is kept of an earlier run, or why nothing of one can be.
    """

    def __init__(self, wanted: Run, runs: Path, *, fresh: bool) -> None:
        """Raises BadArchive: a run of this study cannot be read."""
        self._runs = runs
        self._wanted = wanted
        self._path: Path | None = None
        self._seen: Run | None = None
        self._recorded: tuple[PlannedTrial, ...] = ()
        self._revision: Revision | None = None
        self.told: tuple[str, ...] = ()
        if not fresh:
            self._look_for_an_earlier_one()

    def _look_for_an_earlier_one(self) -> None:
        from study.archive import load_run, newest, resumable

        wanted = self._wanted
        name, machine, software = wanted.study.name, wanted.machine, wanted.software
        going_on = resumable(self._runs, name, wanted.plan, machine, software)
        alike = going_on or newest(self._runs, name, machine, software)
        if alike is not None:
            if self._edited(run := load_run(alike)):
                self._revise(alike, run)
            else:
                self._path = going_on
                if going_on is None:
                    self.told = (f"{alike} is complete; this is another run of the same study.",)
        elif (other := newest(self._runs, name)) is not None:
            self._say_what_differs(other)

    def _edited(self, run: Run) -> bool:
        """A comment in the file is no edit: the study that it says is compared, not its text."""
        return run.study != self._wanted.study or run.plan.digest != self._wanted.plan.digest

    def _revise(self, path: Path, run: Run) -> None:
        from study.archive import recorded_trials
        from study.planning import revise

        recorded = recorded_trials(path)
        found = revise(run.plan, self._wanted.plan, recorded)
        if isinstance(found, str):
            self.told = (
                f"This is a new run, not {path} going on: {found}. To go on with that one, put it back.",
            )
            return
        self._path, self._seen, self._recorded, self._revision = path, run, recorded, found
        self.told = (_kept(path, found),)

    def _say_what_differs(self, path: Path) -> None:
        """Only where that run would have gone on here: it is unfinished, or its file was edited."""
        from study.archive import differences, is_done, load_run

        run = load_run(path)
        if is_done(path, run) and not self._edited(run):
            return
        found = differences(run, self._wanted.machine, self._wanted.software)
        more = f", and {len(found) - DIFFERENCES_SHOWN} more" if len(found) > DIFFERENCES_SHOWN else ""
        shown = "; ".join(found[:DIFFERENCES_SHOWN])
        self.told = (
            f"This is a new run, not {path} going on: not the same machine and software ({shown}{more}).",
        )

    @property
    def path(self) -> Path | None:
        """The folder of the run that goes on; null for a new one."""
        return self._path

    @property
    def protocol(self) -> "Protocol":
        """How the study that was asked for is measured."""
        return self._wanted.plan.protocol

    def to_come(self, only: str | None) -> tuple[int, float | None]:
        """How many trials are still to come, and their predicted seconds, null if one has no prediction."""
        from study.archive import open_run
        from study.lab.loop import matches

        found = open_run(self._path) if self._path else None
        done = found.done() if found else frozenset[str]()
        plan = self._revision.plan if self._revision else found.run.plan if found else self._wanted.plan
        left = [t for t in plan.trials if t.id not in done and matches(t, only)]
        coming = [planned_cell(plan, trial).predicted_s for trial in left]
        known = [each for each in coming if each is not None]
        return len(coming), sum(known) if len(known) == len(coming) else None

    @contextmanager
    def folder(self) -> "Iterator[RunFolder]":
        """Its folder, locked; a new one is made now, and an edited study file is stored now.

        Raises:
            NotReady: another `study run` writes to it, or has done so since the earlier run was looked at.
            BadInput: no folder can be made.
        """
        from study.archive import create_run, open_run, recorded_trials

        if self._path is None:
            with create_run(self._runs, self._wanted, now=datetime.now(UTC)) as folder:
                yield folder
            return
        with open_run(self._path) as folder:
            if self._revision is not None:
                if folder.run != self._seen or recorded_trials(folder.path) != self._recorded:
                    raise NotReady(
                        f"Another `study run` has written to {folder.path} in the meantime.",
                        "Give the same command again.",
                    )
                folder.update(self._revised(folder.run, self._revision, datetime.now(UTC)))
            yield folder

    def _revised(self, run: Run, revision: "Revision", now: datetime) -> Run:
        """The run as the edited file wants it, with the states of its file.

        That it has measured enough is decided anew.

        Where nothing was recorded before, no trial is of an earlier state, so there is none to keep.
        """
        wanted = self._wanted
        stamp = f"{now:%Y-%m-%dT%H:%M:%SZ}"
        began = run.sessions[0].started_utc if run.sessions else stamp
        first = State(since_utc=began, first_order=1, plan_digest=run.plan.digest, study_text=run.study_text)
        newest = State(
            since_utc=stamp,
            first_order=revision.first_order,
            plan_digest=wanted.plan.digest,
            study_text=wanted.study_text,
        )
        return msgspec.structs.replace(
            run,
            study=wanted.study,
            study_text=wanted.study_text,
            source=wanted.source,
            plan=revision.plan,
            decisions=run.decisions if _goes_on(run) else run.decisions[:-1],
            # torch may have been asked for the first time, or not be needed any more
            software=wanted.software if wanted.software.torch else run.software,
            states=(*(run.states or (first,)), newest) if self._recorded else (),
        )


def _goes_on(run: Run) -> bool:
    """Whether the last decision was to measure on, if there was one."""
    return not run.decisions or run.decisions[-1].verdict == "more"


def _kept(path: Path, revision: "Revision") -> str:
    """What an edited file keeps of a run, in one line."""
    total, kept, fresh = len(revision.plan.cells), len(revision.kept), len(revision.fresh)
    if not kept:
        return f"Nothing of {path} was recorded yet; it follows the study file as it is now."
    words = [f"All {total} cells are" if kept == total else f"{kept} of {total} cells are"]
    words[0] += f" as in {path} and are kept; "
    if fresh:
        words[0] += f"{fresh} {'is' if fresh == 1 else 'are'} new or changed and measured now."
    elif revision.added:
        words[0] += f"{many(revision.added, 'trial')} {'is' if revision.added == 1 else 'are'} added."
    else:
        words[0] += "the edit adds nothing to measure."
    if gone := len(revision.taken_out):
        words.append(
            f"{many(gone, 'cell')} {'was' if gone == 1 else 'were'} taken out of the study file; "
            "what was recorded stays."
        )
    return " ".join([*words, "--fresh measures everything anew."])
