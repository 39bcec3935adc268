"""`study plan`: every cell, why cells are skipped, and the predicted time, without running anything."""

from collections import defaultdict

import click

from study.domain.study import Study
from study.domain.trial import Plan


@click.command("plan", short_help="Show every cell, why cells are skipped, and the predicted time.")
@click.argument("study", default="quick")
@click.option("--blocks", type=click.IntRange(1, 1000), help="Repeats, in place of the study's own number.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole plan as one JSON document.")
def command(study: str, blocks: int | None, as_json: bool) -> None:
    """Show what `study run STUDY` would do here. STUDY is a preset's name or a TOML file.

    Without STUDY it is the preset quick.
    """
    decoded, _, plan = plan_here(study, blocks)
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode(plan).decode())
        return
    for line in lines(decoded, plan):
        click.echo(line)


def plan_here(wanted: str, blocks: int | None) -> tuple[Study, str, Plan]:
    """The study called `wanted`, its text, and its plan on this machine.

    Raises:
        BadInput: there is no such study, or it says what it cannot.
    """
    from study.lab.machine import describe_machine
    from study.lab.nvml import gpus
    from study.planning import load_study, make_plan

    decoded, text = load_study(wanted)
    cards = gpus()
    cores = describe_machine(None, cards).usable_cpus
    plan = make_plan(decoded, place=wanted, gpus=len(cards), cores=cores, blocks=blocks)
    return decoded, text, plan


def lines(study: Study, plan: Plan) -> list[str]:
    """The plan in words, for a terminal of any kind."""
    out = [
        study.title,
        f"  {study.question}" if study.question else "",
        "",
        f"Here: accelerator {plan.accelerator}, {plan.devices_present} devices, {plan.cores_present} cores.",
        f"{len(plan.cells)} cells, {plan.protocol.blocks} blocks, {len(plan.trials)} trials: {_time(plan)}.",
        "",
        "Cells:",
    ]
    for cell in plan.cells:
        notes = [_seconds(cell.predicted_s)]
        if cell.oversubscribed:
            notes.append("more threads than cores")
        out.append(f"  {cell.id}  {', '.join(notes)}")
    if plan.cells and all(cell.predicted_memory_bytes is None for cell in plan.cells):
        reasons = sorted({cell.unknown["predicted_memory_bytes"] for cell in plan.cells})
        out += ["", f"Memory: {'; '.join(reasons)}."]
    if plan.series:
        out += ["", "Series, each compared with its first cell:"]
        out += [
            f"  {series.key}: {len(series.members)} device counts, {series.scaling} scaling"
            for series in plan.series
        ]
    if plan.skipped:
        grouped: dict[str, list[str]] = defaultdict(list)
        for skipped in plan.skipped:
            grouped[skipped.reason].append(skipped.id)
        out += ["", "Skipped:"]
        for reason, ids in grouped.items():
            out.append(f"  {reason}")
            out += [f"    {cell_id}" for cell_id in ids]
    return out


def _time(plan: Plan) -> str:
    if plan.predicted_s is None:
        return f"time not predicted ({plan.unknown['predicted_s']})"
    return f"about {duration(plan.predicted_s)}"


def _seconds(seconds: float | None) -> str:
    return "time not predicted" if seconds is None else f"about {seconds:.1f} s a trial"


def duration(seconds: float) -> str:
    """Seconds in the unit that a person would use."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
