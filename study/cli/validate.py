"""`study validate`: reads every file of the archive and names what is damaged or missing."""

from collections import defaultdict
from pathlib import Path

import click

from study.domain.errors import BadUsage, StudyError
from study.domain.record import Record
from study.domain.run import Run
from study.domain.trial import planned_cell


@click.command("validate", short_help="Check every file of the archive: schema, hashes, plan.")
@click.argument("path", type=click.Path(path_type=Path), default=Path("runs"))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(path: Path, as_json: bool) -> int:
    """Check the archive at PATH (by default runs): an archive, or the folder of one run.

    Exit code 2 if anything is wrong. Half-written files of a killed run are no fault; they are listed.
    """
    from study.archive import find_runs

    folders = [path] if (path / "run.json").is_file() else find_runs(path)
    if not folders:
        raise BadUsage(f"{path}: there is no run there.", "Give the archive's folder; `study run` makes one.")
    problems = [problem for folder in folders for problem in _problems(folder)]
    leftovers = [str(left) for folder in folders for left in sorted(folder.rglob(".*.tmp"))]
    if as_json:
        import json

        document = {"runs": len(folders), "problems": problems, "leftovers": leftovers}
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        for problem in problems:
            click.echo(problem)
        for left in leftovers:
            click.echo(f"{left}: left half-written by a killed run; the next `study run` clears it away")
        runs = "1 run" if len(folders) == 1 else f"{len(folders)} runs"
        click.echo(f"{runs} read; {len(problems) or 'no'} problem{'' if len(problems) == 1 else 's'}.")
    return 2 if problems else 0


def _problems(folder: Path) -> list[str]:
    """One sentence for each fault of one run."""
    from study.archive import load_run
    from study.archive.encoding import decode_record
    from study.archive.reading import trial_file

    try:
        run = load_run(folder)
    except StudyError as error:
        return [f"{error.problem}. {error.remedy}"]
    found, records = [], []
    for path in sorted((folder / "trials").glob("*.json")):
        try:
            record = decode_record(path)
        except StudyError as error:
            found.append(f"{error.problem}. {error.remedy}")
            continue
        if path.name != trial_file(record):
            found.append(f"{path}: the record in it belongs to {trial_file(record)}")
        else:
            records.append(record)
    return [*found, *_against_the_plan(folder, run, records)]


def _against_the_plan(folder: Path, run: Run, records: list[Record]) -> list[str]:
    """What the records say against what was planned."""
    trials = {trial.id: trial for trial in run.plan.trials}
    attempts: dict[str, list[int]] = defaultdict(list)
    found = []
    for record in records:
        attempts[record.trial].append(record.attempt)
        place = f"{folder}: {record.trial}"
        trial = trials.get(record.trial)
        if trial is None:
            if not _was_taken_out(run, record):
                found.append(f"{place}: the plan of this run has no such trial")
        elif (record.order, record.block, record.cell_id, record.seed, record.role) != (
            trial.order,
            trial.block,
            trial.cell_id,
            trial.seed,
            trial.role,
        ) or record.cell != planned_cell(run.plan, trial).cell:
            found.append(f"{place}: it is not the trial that was planned under this name")
    for name, numbers in sorted(attempts.items()):
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            found.append(f"{folder}: {name}: an attempt before the last one has no record")
    if run.states and run.states[-1].plan_digest != run.plan.digest:
        found.append(f"{folder}: the plan is not that of the newest state of the study file")
    if run.status == "complete":
        found += [
            f"{folder}: {name}: the run is complete, and this trial has no record"
            for name in sorted(trials.keys() - attempts.keys())
        ]
    return found


def _was_taken_out(run: Run, record: Record) -> bool:
    """Whether a record is of a cell that was measured before the study file was edited to leave it out."""
    from study.planning.plan import trial_seed

    gone = {skipped.id: skipped.cell for skipped in run.plan.skipped} if run.states else {}
    return (
        gone.get(record.cell_id) == record.cell
        and record.trial == f"{record.order:04d}-{record.cell_id}"
        and record.seed == trial_seed(run.plan.seed, record.block, record.cell_id)
    )
