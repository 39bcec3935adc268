"""Which unfinished run may go on: the same plan on the same machine with the same software."""

from pathlib import Path

import msgspec

from study.archive.reading import find_runs, load_run
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
        if run.status != "complete" and _same(run, plan, machine, software):
            return folder
    return None


def _same(run: Run, plan: Plan, machine: Machine, software: Software) -> bool:
    """The seed is the run's own unless the study states one; the commit's cleanliness does not matter."""
    stated = run.study.protocol.seed
    return (
        run.plan.digest == plan.digest
        and (stated is None or stated == plan.seed)
        and run.machine == machine
        and _without_tree_state(run.software) == _without_tree_state(software)
    )


def _without_tree_state(software: Software) -> Software:
    unknown = {key: why for key, why in software.unknown.items() if key != "study_dirty"}
    return msgspec.structs.replace(software, study_dirty=None, unknown=unknown)
