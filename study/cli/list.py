"""`study list`: runs, presets, and what is on each shelf."""

from pathlib import Path
from typing import Any

import click

SHELVES = ("workloads", "strategies", "accelerators", "launchers", "findings", "figures")
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


def _empty(name: str, runs: Path) -> str:
    return f"none in {runs}; `study run` makes one." if name == "runs" else "none."


def _entries(name: str, runs: Path) -> list[dict[str, Any]]:
    if name == "runs":
        return _runs(runs)
    if name == "presets":
        from study.planning import load_study, preset_names

        return [{"name": preset, "summary": load_study(preset)[0].title} for preset in preset_names()]
    from study.domain import shelf

    kinds: dict[str, Any] = {
        "workloads": shelf.WorkloadFacts,
        "strategies": shelf.StrategyFacts,
        "accelerators": shelf.AcceleratorFacts,
        "launchers": shelf.LauncherFacts,
        "findings": shelf.PageFacts,
        "figures": shelf.PageFacts,
    }
    return [
        {"name": entry, "summary": facts.summary}
        for entry, facts in shelf.all_facts(name, kinds[name]).items()
    ]


def _runs(runs: Path) -> list[dict[str, Any]]:
    from study.archive import find_runs, load_run

    rows = []
    for folder in find_runs(runs):
        run = load_run(folder)
        stored = sum(1 for _ in (folder / "trials").glob("*.json"))
        rows.append(
            {
                "name": f"{run.study.name}/{run.id}",
                "summary": f"{run.status}, {stored} attempts of {len(run.plan.trials)} trials",
                "status": run.status,
                "attempts": stored,
                "trials": len(run.plan.trials),
                "folder": str(folder),
            }
        )
    return rows
