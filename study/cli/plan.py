"""`study plan`: every cell, why cells are skipped, and the predicted time, without running anything."""

from collections import defaultdict

import click

from study.domain.errors import BadUsage
from study.domain.study import Study
from study.domain.trial import Plan


@click.command("plan", short_help="Show every cell, why cells are skipped, and the predicted time.")
@click.argument("study", default="quick")
@click.option("--blocks", type=click.IntRange(1, 1000), help="Repeats, in place of the study's own number.")
@click.option(
    "--precision",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    metavar="SHARE",
    help="Add blocks until every interval is within ± this share of its rate, such as 0.01.",
)
@click.option("--only", metavar="GLOB", help="Show only the cells whose id matches, such as 'gpt*.train.*'.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole plan as one JSON document.")
def command(study: str, blocks: int | None, precision: float | None, only: str | None, as_json: bool) -> None:
    """Show what `study run STUDY` would do here. STUDY is a preset's name or a TOML file.

    Without STUDY it is the preset quick.
    """
    decoded, _, plan = plan_here(study, blocks, precision=precision)
    if as_json:
        import msgspec

        click.echo(msgspec.json.encode(plan).decode())
        return
    require_match(plan, only)
    for line in lines(decoded, plan, only):
        click.echo(line)


def require_match(plan: Plan, only: str | None) -> None:
    """Refuse a glob that fits no cell.

    Raises:
        BadUsage: no cell or trial of the plan matches `only`.
    """
    from study.lab.loop import matches

    if only is not None and not any(matches(trial, only) for trial in plan.trials if trial.role == "cell"):
        raise BadUsage(f"No cell of this study matches {only!r}.", "`study plan` shows the ids of all cells.")


def plan_here(
    wanted: str, blocks: int | None, gpus: int | None = None, *, precision: float | None = None
) -> tuple[Study, str, Plan]:
    """The study called `wanted`, its text, and its plan on this machine.

    `blocks` and `precision` stand in for the protocol's own.
    `gpus` is the number of GPUs that torch can use, if the worker has told it already.

    Raises:
        BadInput: there is no such study, or it says what it cannot.
    """
    from study.lab.machine import describe_machine
    from study.lab.visible import usable_gpus
    from study.planning import load_study, make_plan

    decoded, text = load_study(wanted)
    machine = describe_machine(None, ())
    # two ranks on the two threads of one core would say little about two devices
    cores = min(machine.cores, machine.usable_cpus)
    found = usable_gpus() if gpus is None else gpus
    plan = make_plan(decoded, place=wanted, gpus=found, cores=cores, blocks=blocks, precision=precision)
    return decoded, text, plan


def lines(study: Study, plan: Plan, only: str | None = None) -> list[str]:
    """The plan in words, for a terminal of any kind; of its cells those that match `only`."""
    from study.lab.loop import matches

    trials = [trial for trial in plan.trials if matches(trial, only)]
    chosen = {trial.cell_id for trial in trials if trial.role == "cell"}
    cells = [cell for cell in plan.cells if cell.id in chosen]
    out = [
        study.title,
        *([f"  {study.question}"] if study.question else []),
        "",
        f"Here: accelerator {plan.accelerator}, {plan.devices_present} devices, {plan.cores_present} cores.",
        f"{many(len(cells), 'cell')}, {_blocks(plan)}, {many(len(trials), 'trial')}: "
        + _time(plan, len(trials)),
        "",
        "Cells:",
    ]
    for cell in cells:
        notes = [_seconds(cell.predicted_s)]
        if cell.oversubscribed:
            notes.append("more threads than cores")
        out.append(f"  {cell.id}  {', '.join(notes)}")
    if cells and all(cell.predicted_memory_bytes is None for cell in cells):
        out += ["", "Memory is not predicted; a cell that does not fit is recorded as out of memory."]
    out += _sentinel(plan, sum(trial.role == "sentinel" for trial in trials))
    if plan.series:
        out += ["", "Series over device counts:"]
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


def _blocks(plan: Plan) -> str:
    """How many blocks, and until when blocks are added where a precision is asked for."""
    protocol = plan.protocol
    blocks = many(protocol.blocks, "block")
    if protocol.precision is None:
        return blocks
    which = "the cells named by precision_cells are" if protocol.precision_cells else "every cell is"
    budget = f" or {duration(protocol.time_budget_s)} are spent" if protocol.time_budget_s else ""
    return (
        f"{blocks} or more, until {which} within ±{protocol.precision * 100:.4g} % "
        f"(at most {protocol.most_blocks}{budget})"
    )


def _sentinel(plan: Plan, trials: int) -> list[str]:
    """What watches the machine, or why nothing does; nothing of a plan made before there were sentinels."""
    if plan.sentinel is None:
        why = plan.unknown.get("sentinel")
        return ["", f"No sentinel: {why}."] if why else []
    return [
        "",
        f"Sentinel, first and last in each block ({many(trials, 'trial')} of the above, in no result):",
        f"  {plan.sentinel.id}  {_seconds(plan.sentinel.predicted_s)}",
    ]


def _time(plan: Plan, trials: int) -> str:
    """A lower bound: how long a step takes is known only once one has run."""
    if plan.predicted_s is None:
        return f"time not predicted ({plan.unknown['predicted_s']})."
    seconds = plan.predicted_s * trials / len(plan.trials)
    return (
        f"{duration(seconds)} or more (a window lasts at least {plan.protocol.window_s:g} s and "
        f"{plan.protocol.min_steps} steps)."
    )


def _seconds(seconds: float | None) -> str:
    return "time not predicted" if seconds is None else f"{seconds:.1f} s a trial or more"


def many(count: int, noun: str) -> str:
    """A count with its noun, in the right number."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def duration(seconds: float) -> str:
    """Seconds in the unit that a person would use."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
