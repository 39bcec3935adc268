"""`study list`: runs, presets, and what is on each shelf."""

from pathlib import Path
from typing import Any

import click

from study.domain.shelf import SHELVES

WHAT = ("runs", "presets", *SHELVES)


@click.command("list", short_help="Show the runs, the presets, and what is on each shelf.")
@click.argument("what", type=click.Choice(WHAT), required=False)
@click.option(
    "--runs",
    "runs",
    type=click.Path(path_type=Path),
    default=Path("runs"),
    show_default=True,
    help="The archive.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(what: str | None, runs: Path, as_json: bool) -> None:
    """Show what there is. WHAT is runs, presets, or the name of a shelf; without it, everything."""
    wanted = [what] if what else list(WHAT)
    found = {name: _entries(name, runs) for name in wanted}
    if as_json:
        import json

        click.echo(json.dumps(found, ensure_ascii=False))
        return
    for number, name in enumerate(wanted):
        if number:
            click.echo()
        if not what:
            click.echo(f"{name}:")
        rows = found[name]
        if not rows:
            click.echo(f"  {_empty(name, runs)}")
        width = max((len(row["name"]) for row in rows), default=0)
        for row in rows:
            click.echo(f"  {row['name']:<{width}}  {row['summary']}".rstrip())
            if what == "workloads":
                for line in _details(row):
                    click.echo(f"  {'':<{width}}    {line}")


def _details(row: dict[str, Any]) -> list[str]:
    """The sizes of a workload, and each task's options with their defaults as a study file writes them."""
    lines = [f"sizes: {', '.join(row['sizes'])}"]
    for task, of in row["tasks"].items():
        options = ", ".join(f"{key} = {value}" for key, value in of.items() if key != "unit")
        lines.append(f"{task}: {of['unit']}" + (f"; options = {{ {options} }}" if options else ""))
    return lines


def _empty(name: str, runs: Path) -> str:
    return f"none in {runs}; `study run` makes one." if name == "runs" else "none."


def _entries(name: str, runs: Path) -> list[dict[str, Any]]:
    if name == "runs":
        return _runs(runs)
    if name == "presets":
        from study.planning import load_study, preset_names

        return [{"name": preset, "summary": load_study(preset)[0].title} for preset in preset_names()]
    from study.domain.shelf import KINDS, all_facts

    facts: dict[str, Any] = all_facts(name, KINDS[name])
    rows = [{"name": entry, "summary": fact.summary} for entry, fact in facts.items()]
    if name == "workloads":
        for row, fact in zip(rows, facts.values(), strict=True):
            row["sizes"] = list(fact.sizes)
            row["tasks"] = {task: {"unit": of.unit, **of.options} for task, of in fact.tasks.items()}
    return rows


def _trial_of(stem: str) -> str:
    """The trial that a record's file belongs to: from the second attempt on a number follows the id."""
    head, _, tail = stem.rpartition(".")
    return head if tail.isdigit() and len(tail) < 4 else stem


def _runs(runs: Path) -> list[dict[str, Any]]:
    from study.archive import find_runs, load_run
    from study.domain.errors import BadArchive

    rows: list[dict[str, Any]] = []
    for folder in find_runs(runs):
        try:
            run = load_run(folder)
        except BadArchive as error:
            rows.append({"name": str(folder), "summary": f"damaged: {error.problem}", "status": "damaged"})
            continue
        trials = {trial.id for trial in run.plan.trials}
        stored = len(trials & {_trial_of(path.stem) for path in (folder / "trials").glob("*.json")})
        status = run.status if run.status == "complete" else "unfinished"
        rows.append(
            {
                "name": f"{run.study.name}/{run.id}",
                "summary": f"{status}, {stored} of {len(trials)} trials recorded",
                "status": status,
                "recorded": stored,
                "trials": len(trials),
                "folder": str(folder),
            }
        )
    return rows
