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
    from study.lab.stop import StopRequest

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
    if dry_run and as_json:
        raise click.UsageError("--dry-run measures nothing, so there is nothing for --json to tell.")
    from study.cli.plan import lines, require_match

    decoded, text, plan, machine, software = _prepared(study, blocks, runs)
    _check_launcher(launcher)
    require_match(plan, only)
    if dry_run:
        for line in lines(decoded, plan, only):
            click.echo(line)
        return 0
    opening = _Opening(study, decoded, text, plan, machine, software, runs, fresh)
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        _confirm(opening, only)
    from study.lab.alone import alone_on_this_machine
    from study.lab.stop import stop_on_signals

    with alone_on_this_machine(), stop_on_signals() as stop, opening.folder() as folder:
        how = _conduct(folder, only=only, launcher=launcher, stop=stop)
        return _report(folder, how, as_json=as_json)


def _prepared(wanted: str, blocks: int | None, runs: Path) -> "tuple[Study, str, Plan, Machine, Software]":
    """The study, its plan and the machine as the worker sees it; refused if it cannot run here.

    The plan is made again if torch can use another number of GPUs than was guessed without it.
    """
    from study.cli.plan import plan_here
    from study.lab.machine import describe_machine
    from study.lab.nvml import survey
    from study.lab.preflight import needs_torch, ready
    from study.lab.probe import worker_facts
    from study.lab.software import describe_software
    from study.lab.visible import usable_gpus

    guessed = usable_gpus()
    decoded, text, plan = plan_here(wanted, blocks, guessed)
    worker = worker_facts() if needs_torch(plan) else None
    if worker is not None and (there := len(worker.devices.get("cuda", ()))) != guessed:
        decoded, text, plan = plan_here(wanted, blocks, there)
    ready(plan, worker, runs=runs)
    seen = survey()
    machine = describe_machine(worker, seen.devices)
    software = describe_software(worker, seen.driver, plan=plan, why_no_driver=seen.reason)
    return decoded, text, plan, machine, software


def _check_launcher(launcher: str) -> None:
    from study.domain.shelf import module_names
    from study.planning.study_file import nearest

    names = module_names("launchers")
    if launcher not in names:
        raise BadUsage(f'There is no launcher "{launcher}".', nearest(launcher, names, "launchers"))


class _Opening:
    """The run that is going to be opened: the unfinished one of this plan, or a new one."""

    def __init__(  # noqa: PLR0917  what a run is made of
        self,
        name: str,
        study: "Study",
        text: str,
        plan: "Plan",
        machine: "Machine",
        software: "Software",
        runs: Path,
        fresh: bool,
    ) -> None:
        """Nothing is written yet; `name` is what the user typed, a preset's name or a path."""
        from study.archive import resumable
        from study.domain.run import RUN_SCHEMA, Run
        from study.planning import preset_names

        self._runs = runs
        self._unfinished = None if fresh else resumable(runs, study.name, plan, machine, software)
        self._new = Run(
            schema=RUN_SCHEMA,
            id="",
            study=study,
            study_text=text,
            source="preset" if name in preset_names() else "file",
            plan=plan,
            machine=machine,
            software=software,
            sessions=(),
            status="running",
        )

    def left_s(self, only: str | None) -> float | None:
        """Predicted seconds of the trials that are still to come, null if one of them has no prediction."""
        from study.archive import open_run
        from study.lab.loop import matches

        found = open_run(self._unfinished) if self._unfinished else None
        plan, done = (found.run.plan, found.done()) if found else (self._new.plan, frozenset())
        seconds = {cell.id: cell.predicted_s for cell in plan.cells}
        coming = [seconds[t.cell_id] for t in plan.trials if t.id not in done and matches(t, only)]
        known = [each for each in coming if each is not None]
        return sum(known) if len(known) == len(coming) else None

    def folder(self) -> "RunFolder":
        """Its folder; a new one is made now."""
        from study.archive import create_run, open_run

        if self._unfinished is not None:
            folder = open_run(self._unfinished)
            if folder.run.study_text != self._new.study_text:
                click.echo(
                    "The study file differs from the unfinished run's in what is not measured (such as the "
                    "title); the run keeps its own. --fresh starts a new one.",
                    err=True,
                )
            return folder
        return create_run(self._runs, self._new, now=datetime.now(UTC))


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


def _confirm(opening: _Opening, only: str | None) -> None:
    from study.cli.plan import duration

    predicted = opening.left_s(only)
    if predicted is not None and predicted > ASK_ABOVE_S:
        click.confirm(f"This will take about {duration(predicted)}. Go on?", abort=True, err=True)


def _conduct(folder: "RunFolder", *, only: str | None, launcher: str, stop: "StopRequest") -> str:
    """Run the trials that are not done; the session's end and the run's status are stored."""
    import importlib

    from study.cli.progress import progress
    from study.domain.shelf import module_names
    from study.lab.clock import Clock
    from study.lab.loop import conduct
    from study.lab.preflight import needs_torch

    plan = folder.run.plan
    done = folder.done()
    _open_session(folder, launcher)
    how = "failed"
    try:
        shelf = importlib.import_module(module_names("launchers")[launcher])
        with (
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
    except KeyboardInterrupt:  # while the ranks' server was starting, or a second Ctrl-C
        how = "interrupted"
    finally:
        _close_session(folder, how)
    return how


def _open_session(folder: "RunFolder", launcher: str) -> None:
    """Every session is its own; what an earlier, killed one left open stays open."""
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
    from study.cli.plan import many

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
    click.echo(f"{folder.path}: {how}; of {many(trials, 'trial')} {words or 'none ran'}.")
    if how == "interrupted":
        click.echo("The same command goes on where this one stopped.")
    elif folder.run.status != "complete":
        click.echo("The trials that --only left out are still to come; without it, the run goes on.")
    if failed:
        click.echo("The failed trials are recorded with their reasons; the article lists them.")
    click.echo(f"Now make the page: {_render_hint(folder)}")
    return code


def _render_hint(folder: "RunFolder") -> str:
    runs = folder.path.parent.parent
    return "study render" if runs == Path("runs") else f"study render --runs {runs}"


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
