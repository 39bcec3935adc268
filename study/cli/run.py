"""`study run`: measures a study on this machine, or goes on with an unfinished run of it."""

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from study.domain.errors import BadUsage

if TYPE_CHECKING:
    from study.archive import RunFolder
    from study.domain.machine import Machine, Software
    from study.domain.study import Study
    from study.domain.trial import Plan

ASK_ABOVE_S = 1800
"""A run that is predicted to take longer is confirmed on a terminal, unless --yes is given."""


@click.command("run", short_help="Measure a study on this machine, or resume an unfinished run of it.")
@click.argument("study", default="quick")
@click.option(
    "--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="The archive."
)
@click.option("--only", metavar="GLOB", help="Only the cells whose id matches, such as 'gpt*.train.*'.")
@click.option("--blocks", type=click.IntRange(1, 1000), help="Repeats, in place of the study's own number.")
@click.option("--dry-run", is_flag=True, help="Show the plan and check the machine; measure nothing.")
@click.option("--fresh", is_flag=True, help="Start a new run, even if there is an unfinished one.")
@click.option(
    "--launcher",
    default="local",
    show_default=True,
    help="What starts the ranks; see `study list launchers`.",
)
@click.option("--yes", is_flag=True, help="Do not ask before a long run.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document as the last line.")
def command(  # noqa: PLR0917  click hands over one argument an option
    study: str,
    runs: Path,
    only: str | None,
    blocks: int | None,
    dry_run: bool,
    fresh: bool,
    launcher: str,
    yes: bool,
    as_json: bool,
) -> int:
    """Measure STUDY on this machine: a preset's name or a TOML file; without it, the preset quick.

    Every attempt is stored under --runs when it ends. A run that was interrupted, or killed, goes on
    where it was when the same command is given again. Ctrl-C stops after storing what there is.
    """
    from study.cli.plan import lines, plan_here

    decoded, text, plan = plan_here(study, blocks)
    _check_launcher(launcher)
    _check_only(plan, only)
    machine, software = _surroundings(plan, runs)
    if dry_run:
        for line in lines(decoded, plan):
            click.echo(line)
        return 0
    folder = _folder(
        runs,
        name=study,
        study=decoded,
        text=text,
        plan=plan,
        machine=machine,
        software=software,
        fresh=fresh,
        launcher=launcher,
    )
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        _confirm(folder)
    with folder:
        how = _conduct(folder, only=only, launcher=launcher)
        return _report(folder, how, as_json=as_json)


def _check_launcher(launcher: str) -> None:
    from study.domain.shelf import module_names
    from study.planning.study_file import nearest

    names = module_names("launchers")
    if launcher not in names:
        raise BadUsage(f'There is no launcher "{launcher}".', nearest(launcher, names, "launchers"))


def _check_only(plan: "Plan", only: str | None) -> None:
    from study.lab.loop import matches

    if only is not None and not any(matches(trial, only) for trial in plan.trials):
        raise BadUsage(f"No cell of this study matches {only!r}.", "`study plan` shows the ids of all cells.")


def _surroundings(plan: "Plan", runs: Path) -> tuple["Machine", "Software"]:
    """The machine and its software, described; the plan is refused if it cannot run here."""
    from study.lab.machine import describe_machine
    from study.lab.nvml import survey
    from study.lab.preflight import needs_torch, ready
    from study.lab.probe import worker_facts
    from study.lab.software import describe_software

    seen = survey()
    worker = worker_facts() if needs_torch(plan) else None
    ready(plan, worker, runs=runs)
    machine = describe_machine(worker, seen.devices)
    return machine, describe_software(worker, seen.driver, why_no_driver=seen.reason)


def _folder(
    runs: Path,
    *,
    name: str,
    study: "Study",
    text: str,
    plan: "Plan",
    machine: "Machine",
    software: "Software",
    fresh: bool,
    launcher: str,
) -> "RunFolder":
    """The folder of the unfinished run of this plan, or of a new run; with a new session in it."""
    from study.archive import create_run, open_run, resumable
    from study.domain.run import RUN_SCHEMA, Run
    from study.planning import preset_names

    now = datetime.now(UTC)
    unfinished = None if fresh else resumable(runs, study.name, plan, machine, software)
    if unfinished is not None:
        return open_run(unfinished)
    run = Run(
        schema=RUN_SCHEMA,
        id="",
        study=study,
        study_text=text,
        source="preset" if name in preset_names() else "file",
        plan=plan,
        machine=machine,
        software=software,
        sessions=(_session(launcher, now),),
        status="running",
    )
    return create_run(runs, run, now=now)


def _session(launcher: str, now: datetime) -> Any:
    from study.domain.run import Session
    from study.lab.scrub import identity, scrub_words

    return Session(
        argv=("study", *scrub_words(tuple(sys.argv[1:]), identity())),
        launcher=launcher,
        started_utc=_stamp(now),
        ended_utc=None,
        end="running",
        unknown={"ended_utc": "this session has not ended, or was killed"},
    )


def _confirm(folder: "RunFolder") -> None:
    from study.cli.plan import duration

    predicted = folder.run.plan.predicted_s
    if predicted is not None and predicted > ASK_ABOVE_S:
        click.confirm(f"This will take about {duration(predicted)}. Go on?", abort=True, err=True)


def _conduct(folder: "RunFolder", *, only: str | None, launcher: str) -> str:
    """Run the trials that are not done; the session's end and the run's status are stored."""
    import importlib

    from study.cli.progress import progress
    from study.domain.shelf import module_names
    from study.lab.clock import Clock
    from study.lab.loop import conduct
    from study.lab.preflight import needs_torch
    from study.lab.stop import stop_on_signals

    plan = folder.run.plan
    done = folder.done()
    _open_session(folder, launcher)
    how = "failed"
    try:
        shelf = importlib.import_module(module_names("launchers")[launcher])
        with (
            stop_on_signals() as stop,
            progress(folder) as tell,
            shelf.launcher(stop=stop, torch=needs_torch(plan)) as started,
        ):
            how = conduct(
                plan,
                launcher=started,
                done=done,
                attempts=folder.attempts(),
                save=folder.save,
                tell=tell,
                stop=stop,
                clock=Clock(),
                only=only,
            )
    except KeyboardInterrupt:
        how = "interrupted"
        raise
    finally:
        _close_session(folder, how)
    return how


def _open_session(folder: "RunFolder", launcher: str) -> None:
    """A resumed run gets a session of its own; what an earlier, killed one left open stays open."""
    first = folder.run.sessions[-1]
    if first.end == "running" and len(folder.run.sessions) == 1 and not folder.attempts():
        return
    sessions = (*folder.run.sessions, _session(launcher, datetime.now(UTC)))
    folder.update(msgspec.structs.replace(folder.run, sessions=sessions, status="running"))


def _close_session(folder: "RunFolder", how: str) -> None:
    *earlier, last = folder.run.sessions
    ended = msgspec.structs.replace(last, ended_utc=_stamp(datetime.now(UTC)), end=how, unknown={})
    whole = len(folder.done()) == len(folder.run.plan.trials)
    status = "complete" if whole else "partial"
    folder.update(msgspec.structs.replace(folder.run, sessions=(*earlier, ended), status=status))


def _report(folder: "RunFolder", how: str, *, as_json: bool) -> int:
    """Say what there is now, and give the exit code."""
    from study.archive import load_records

    newest = {record.trial: record for record in load_records(folder.path)}
    counts: dict[str, int] = {}
    for record in newest.values():
        kind = msgspec.to_builtins(record.outcome)["kind"]
        counts[kind] = counts.get(kind, 0) + 1
    failed = sum(counts.get(kind, 0) for kind in ("failed", "timed_out", "out_of_memory"))
    code = 130 if how == "interrupted" else 1 if failed else 0
    trials = len(folder.run.plan.trials)
    if as_json:
        document = {
            "run": str(folder.path),
            "end": how,
            "status": folder.run.status,
            "trials": trials,
            "outcomes": dict(sorted(counts.items())),
            "exit_code": code,
        }
        click.echo(msgspec.json.encode(document).decode())
        return code
    words = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in sorted(counts.items()))
    click.echo(f"{folder.path}: {how}; of {trials} trials {words or 'none ran'}.")
    if how == "interrupted" or folder.run.status != "complete":
        click.echo("The same command goes on where this one stopped.")
    if failed:
        click.echo("The failed trials are recorded with their reasons; the article lists them.")
    click.echo(f"Now make the page: {_render_hint(folder)}")
    return code


def _render_hint(folder: "RunFolder") -> str:
    runs = folder.path.parent.parent
    return "study render" if runs == Path("runs") else f"study render --runs {runs}"


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
