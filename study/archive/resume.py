"""Which unfinished run may go on: the same plan on the same machine with the same software."""

from pathlib import Path

import msgspec

from study.archive.reading import find_runs, load_records, load_run
from study.domain.machine import Machine, Software
from study.domain.run import Run
from study.domain.trial import Plan


def resumable(runs: Path, study: str, plan: Plan, machine: Machine, software: Software) -> Path | None:
    """The newest unfinished run of `study` that measures exactly this, or nothing.

    Raises:
        BadArchive: the `run.json` of a run of this study cannot be read.
    """
    for folder in reversed(find_runs(runs)):
        if folder.parent.name != study:
            continue
        run = load_run(folder)
        if _same(run, plan, machine, software) and not _done(folder, run):
            return folder
    return None


def _done(folder: Path, run: Run) -> bool:
    """Whether the run says that it is complete and every trial has a record; one may have been moved away."""
    if run.status != "complete":
        return False
    recorded = {record.trial for record in load_records(folder)}
    return all(trial.id in recorded for trial in run.plan.trials)


def _same(run: Run, plan: Plan, machine: Machine, software: Software) -> bool:
    """The seed is the run's own unless the study states one.

    The code that measures is compared by its hash; whether the rest of the tree is committed is not.
    """
    stated = run.study.protocol.seed
    return (
        run.plan.digest == plan.digest
        and (stated is None or stated == plan.seed)
        and run.machine == machine
        and _without_tree_state(run.software) == _without_tree_state(software)
    )


def _without_tree_state(software: Software) -> Software:
    """Without the commit: a commit that leaves the measuring code as it is changes no measurement."""
    unknown = {key: why for key, why in software.unknown.items() if not key.startswith("study_")}
    return msgspec.structs.replace(software, study_commit=None, study_dirty=None, unknown=unknown)
