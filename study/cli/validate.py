"""`study validate`: reads every file of the archive and names what is damaged."""

from pathlib import Path

import click

from study.domain.errors import BadArchive, StudyError


@click.command("validate", short_help="Check every file of the archive: schema, hashes, names.")
@click.argument("path", type=click.Path(path_type=Path), default=Path("runs"))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(path: Path, as_json: bool) -> int:
    """Check the archive at PATH (by default runs): an archive, or the folder of one run."""
    from study.archive import find_runs

    folders = [path] if (path / "run.json").is_file() else find_runs(path)
    if not folders:
        raise BadArchive(
            str(path), "there is no run there", "Give the archive's folder; `study run` makes one."
        )
    problems = [problem for folder in folders for problem in _problems(folder)]
    if as_json:
        import json

        click.echo(json.dumps({"runs": len(folders), "problems": problems}, ensure_ascii=False))
    else:
        for problem in problems:
            click.echo(problem)
        click.echo(f"{len(folders)} runs read, {len(problems)} problems.")
    return 2 if problems else 0


def _problems(folder: Path) -> list[str]:
    """One sentence for each damaged file, and for each record that the plan does not know."""
    from study.archive import load_run
    from study.archive.encoding import decode_record
    from study.archive.reading import trial_file

    try:
        planned = {trial.id: trial for trial in load_run(folder).plan.trials}
    except StudyError as error:
        return [error.problem]
    found = []
    for path in sorted((folder / "trials").glob("*")):
        try:
            record = decode_record(path)
        except StudyError as error:
            found.append(error.problem)
            continue
        if path.name != trial_file(record):
            found.append(f"{path}: the record in it belongs to {trial_file(record)}")
        elif record.trial not in planned:
            found.append(f"{path}: the plan of this run has no such trial")
        elif planned[record.trial].cell_id != record.cell_id:
            found.append(f"{path}: its cell is not the one that was planned for this trial")
    return found
