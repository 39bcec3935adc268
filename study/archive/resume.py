"""Which run may go on: an unfinished one of the same plan, or one whose study file was edited since.

Always on the same machine with the same measuring software: what differs is named, never mixed in silence.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from study.archive.reading import find_runs, load_records, load_run
from study.domain.fact import Fact
from study.domain.machine import Machine, Software
from study.domain.run import Run
from study.domain.trial import Plan, PlannedTrial


def resumable(runs: Path, study: str, plan: Plan, machine: Machine, software: Software) -> Path | None:
    """The newest unfinished run of `study` that measures exactly this, or nothing.

    Raises:
        BadArchive: the `run.json` of a run of this study cannot be read.
    """
    for folder in _newest_first(runs, study):
        run = load_run(folder)
        if _same(run, plan, machine, software) and not is_done(folder, run):
            return folder
    return None


def newest(
    runs: Path, study: str, machine: Machine | None = None, software: Software | None = None
) -> Path | None:
    """The newest run of `study`, or the newest that was made on this machine with this software.

    Raises:
        BadArchive: the `run.json` of a run of this study cannot be read.
    """
    for folder in _newest_first(runs, study):
        if machine is None or software is None or not differences(load_run(folder), machine, software):
            return folder
    return None


def differences(run: Run, machine: Machine, software: Software) -> tuple[str, ...]:
    """What is another machine or other software than the run's, one entry a field: "torch: 2.9, now 2.10".

    The code that measures is compared by its hash; whether the rest of the tree is committed is not. Where
    torch was not asked, since nothing planned needed it, its version is compared among the packages.
    """
    unasked = TORCH if None in (run.software.torch, software.torch) else ()
    return (
        *_differing(run.machine, machine),
        *_differing(run.software, software, aside=("study_commit", "study_dirty", *unasked)),
    )


TORCH = ("torch", "torch_git", "cuda", "cudnn", "nccl")
"""What only torch itself can tell."""


def recorded_trials(folder: Path) -> tuple[PlannedTrial, ...]:
    """The trials that have a record in `folder`, as they were planned, in order.

    Raises:
        BadArchive: a file of the run cannot be read.
    """
    planned = {trial.id: trial for trial in load_run(folder).plan.trials}
    found = {
        record.trial: planned.get(record.trial)
        or PlannedTrial(
            id=record.trial,
            order=record.order,
            block=record.block,
            cell_id=record.cell_id,
            seed=record.seed,
            role=record.role,
        )
        for record in load_records(folder)
    }
    return tuple(found.values())


def is_done(folder: Path, run: Run) -> bool:
    """Whether the run says that it is complete and every trial has a record; one may have been moved away."""
    if run.status != "complete":
        return False
    recorded = {record.trial for record in load_records(folder)}
    return all(trial.id in recorded for trial in run.plan.trials)


def _newest_first(runs: Path, study: str) -> list[Path]:
    return [folder for folder in reversed(find_runs(runs)) if folder.parent.name == study]


def _same(run: Run, plan: Plan, machine: Machine, software: Software) -> bool:
    """The seed is the run's own unless the study states one."""
    stated = run.study.protocol.seed
    return (
        run.plan.digest == plan.digest
        and (stated is None or stated == plan.seed)
        and not differences(run, machine, software)
    )


def _differing(before: Fact, now: Fact, aside: Collection[str] = ()) -> list[str]:
    """The fields that differ, and of packages those that differ; why a field is null is no difference."""
    found = []
    for name in before.__struct_fields__:
        old, new = getattr(before, name), getattr(now, name)
        if old == new or name in ("unknown", *aside):
            continue
        if isinstance(old, Mapping):
            found += [
                f"{key}: {_word(old.get(key))}, now {_word(new.get(key))}" for key in _changed(old, new)
            ]
        elif name == "measuring_sha256":
            found.append("the code that measures")
        elif isinstance(old, tuple):
            found.append(name)
        else:
            found.append(f"{name}: {_word(old)}, now {_word(new)}")
    return found


def _changed(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    return [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]


def _word(value: object) -> str:
    return "not known" if value is None else str(value)
