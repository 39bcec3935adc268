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
    from study.cli.opening import Opening
    from study.cli.progress import Tell
    from study.domain.event import Event
    from study.domain.run import Run
    from study.domain.study import Protocol
    from study.lab.launchers import Launcher
    from study.lab.loop import End
    from study.lab.stop import StopRequest

BELL_AFTER_S = 60
"""A run that took longer rings the terminal's bell at its end."""

ASK_ABOVE_S = 1800
"""A run that is predicted to take longer is confirmed on a terminal, unless --yes is given."""


@click.command("run", short_help="Measure a study on this machine, or resume an unfinished run of it.")
@click.argument("study", default="quick")
@click.option(
    "--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="The archive."
)
@click.option("--only", metavar="GLOB", help="Only the cells whose id matches, such as 'gpt*.train.*'.")
@click.option("--blocks", type=click.IntRange(1, 1000), help="Repeats, in place of the study's own number.")
@click.option(
    "--precision",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    metavar="SHARE",
    help="Add blocks until every interval is within ± this share of its rate, such as 0.01.",
)
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
    precision: float | None,
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
    from study.cli.opening import Opening
    from study.cli.plan import lines, require_match

    _check_launcher(launcher)
    wanted = _prepared(study, blocks, runs, precision)
    require_match(wanted.plan, only)
    opening = Opening(wanted, runs, fresh=fresh)
    if dry_run:
        for line in (*lines(wanted.study, wanted.plan, only), "", *opening.told, _to_come(opening, only)):
            click.echo(line)
        return 0
    for line in opening.told:
        click.echo(line, err=True)
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        _confirm(opening, only)
    from time import monotonic

    from study.lab.alone import alone_on_this_machine
    from study.lab.stop import stop_on_signals

    began = monotonic()
    with alone_on_this_machine(), stop_on_signals() as stop, opening.folder() as folder:
        how = _conduct(folder, only=only, launcher=launcher, stop=stop)
        code = _report(folder, how, as_json=as_json)
    _ring(began)
    return code


def _prepared(wanted: str, blocks: int | None, runs: Path, precision: float | None) -> "Run":
    """The run as it would be if it were new: study, plan, machine, software; refused if it cannot run here.

    The plan is made again if torch can use another number of GPUs than was guessed without it.
    """
    from study.cli.plan import plan_here
    from study.domain.run import RUN_SCHEMA, Run
    from study.lab.machine import describe_machine
    from study.lab.nvml import survey
    from study.lab.preflight import needs_torch, ready
    from study.lab.probe import worker_facts
    from study.lab.software import describe_software
    from study.lab.visible import usable_gpus
    from study.planning import preset_names

    guessed = usable_gpus()
    decoded, text, plan = plan_here(wanted, blocks, guessed, precision=precision)
    worker = worker_facts() if needs_torch(plan) else None
    if worker is not None and (there := len(worker.devices.get("cuda", ()))) != guessed:
        decoded, text, plan = plan_here(wanted, blocks, there, precision=precision)
    ready(plan, worker, runs=runs)
    seen = survey()
    return Run(
        schema=RUN_SCHEMA,
        id="",
        study=decoded,
        study_text=text,
        source="preset" if wanted in preset_names() else "file",
        plan=plan,
        machine=describe_machine(worker, seen.devices),
        software=describe_software(worker, seen.driver, plan=plan, why_no_driver=seen.reason),
        sessions=(),
        status="running",
    )


def _check_launcher(launcher: str) -> None:
    from study.domain.shelf import module_names
    from study.planning.study_file import nearest

    names = module_names("launchers")
    if launcher not in names:
        raise BadUsage(f'There is no launcher "{launcher}".', nearest(launcher, names, "launchers"))


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


def _to_come(opening: "Opening", only: str | None) -> str:
    """What a dry run says last: what would be measured now."""
    from study.cli.plan import duration, many

    trials, predicted = opening.to_come(only)
    time = "time not predicted" if predicted is None else f"{duration(predicted)} or more"
    if not trials:
        return "Nothing is left to measure."
    goes_on = f"This goes on with {opening.path}. " if opening.path else ""
    return f"{goes_on}To measure now: {many(trials, 'trial')}, {time}.{_at_least(opening.protocol)}"


def _at_least(protocol: "Protocol") -> str:
    """What a precision asks for beside the first blocks, if it is more."""
    from study.domain.run import PRECISE_TRIALS

    if protocol.precision is None or protocol.blocks >= PRECISE_TRIALS:
        return ""
    return (
        f" For the precision every cell needs {PRECISE_TRIALS} trials at least, so more blocks will follow."
    )


def _confirm(opening: "Opening", only: str | None) -> None:
    from study.cli.plan import duration

    _, predicted = opening.to_come(only)
    if predicted is not None and predicted > ASK_ABOVE_S:
        click.confirm(f"This will take about {duration(predicted)}. Go on?", abort=True, err=True)


def _conduct(folder: "RunFolder", *, only: str | None, launcher: str, stop: "StopRequest") -> str:
    """Run the trials that are not done; the session's end and the run's status are stored."""
    import importlib

    from study.cli.progress import progress
    from study.domain.shelf import module_names
    from study.lab.preflight import needs_torch

    plan = folder.run.plan
    _open_session(folder, launcher)
    how = "failed"
    try:
        shelf = importlib.import_module(module_names("launchers")[launcher])
        with (
            progress(folder) as tell,
            shelf.launcher(stop=stop, torch=needs_torch(plan)) as started,
        ):
            how = _measure(folder, started, tell=tell, only=only, stop=stop)
    except KeyboardInterrupt:  # while the ranks' server was starting, or a second Ctrl-C
        how = "interrupted"
    finally:
        _close_session(folder, how)
    return how


def _measure(
    folder: "RunFolder", launcher: "Launcher", *, tell: "Tell", only: str | None, stop: "StopRequest"
) -> "End":
    """The plan's trials, then blocks that are added for a precision, until it is decided that no more are.

    Before an added block the plan with it and the decision are stored at once, so a run that is killed goes
    on exactly there. With `only` no block is whole, so nothing is decided.
    """
    from study.archive import load_records
    from study.domain.event import Ended
    from study.lab.clock import Clock
    from study.lab.loop import conduct
    from study.lab.nvml import watching
    from study.lab.rest import Rest

    begun = False
    with watching() as cards:
        rest = Rest(cards=cards, stop=stop, clock=Clock())
        while True:
            how = conduct(
                folder.run.plan,
                launcher=launcher,
                done=folder.done(),
                attempts=folder.attempts(),
                save=folder.save,
                tell=_without_ends(tell, begun=begun),
                stop=stop,
                clock=Clock(),
                only=only,
                session=len(folder.run.sessions),
                paced_by=load_records(folder.path),
                rest=rest,
            )
            begun = True
            if how != "complete" or only is not None or _is_enough(folder, tell):
                break
    if how == "complete" and not _is_decided(folder):
        how = "partial"  # since --only was given; without it the run goes on
    tell(Ended(why=how))
    return how


def _without_ends(tell: "Tell", *, begun: bool) -> "Tell":
    """A run has one beginning and one end, however many blocks are added."""
    from study.domain.event import Ended, Started

    def inside(event: "Event") -> None:
        if not isinstance(event, Ended) and not (begun and isinstance(event, Started)):
            tell(event)

    return inside


def _is_decided(folder: "RunFolder") -> bool:
    """Whether no block will be added: none is asked for, or it was decided after the last one."""
    run = folder.run
    if run.plan.protocol.precision is None:
        return True
    last = max(trial.block for trial in run.plan.trials)
    return any(each.after_block == last and each.verdict != "more" for each in run.decisions[-1:])


def _is_enough(folder: "RunFolder", tell: "Tell") -> bool:
    """Decide after a whole block; the decision is stored, and with it the plan with one more block."""
    from study.analysis import decide, next_block
    from study.archive import load_records, recorded_trials
    from study.domain.event import Decided
    from study.planning import one_more_block

    run, records = folder.run, load_records(folder.path)
    if _is_decided(folder):
        return True
    settle_s = run.plan.protocol.settle_s
    spent_s = sum(record.turnaround_ns / 1e9 + settle_s for record in records)
    decision = decide(run.plan, records, spent_s)
    plan = run.plan
    if decision.verdict == "more":
        plan = one_more_block(plan, next_block(plan, decision, records), recorded_trials(folder.path))
    folder.update(msgspec.structs.replace(run, plan=plan, decisions=(*run.decisions, decision)))
    tell(Decided(decision=decision, trials=len(plan.trials), left_s=None))
    return decision.verdict != "more"


def _open_session(folder: "RunFolder", launcher: str) -> None:
    """Every session is its own; what an earlier, killed one left open stays open."""
    sessions = (*folder.run.sessions, _session(launcher, datetime.now(UTC)))
    folder.update(msgspec.structs.replace(folder.run, sessions=sessions, status="running"))


def _close_session(folder: "RunFolder", how: str) -> None:
    *earlier, last = folder.run.sessions
    ended = msgspec.structs.replace(last, ended_utc=_stamp(datetime.now(UTC)), end=how, unknown={})
    done = folder.done()
    whole = all(trial.id in done for trial in folder.run.plan.trials) and _is_decided(folder)
    status = "complete" if whole else "partial"
    folder.update(msgspec.structs.replace(folder.run, sessions=(*earlier, ended), status=status))


def _report(folder: "RunFolder", how: str, *, as_json: bool) -> int:
    """Say what there is now, and give the exit code."""
    from study.archive import load_records
    from study.cli.decided import why_it_ended
    from study.cli.plan import many

    planned = {trial.id for trial in folder.run.plan.trials}  # not those of cells taken out by an edit
    newest = {record.trial: record for record in load_records(folder.path) if record.trial in planned}
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
            "decisions": msgspec.to_builtins(folder.run.decisions),
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
    elif folder.run.decisions:
        click.echo(why_it_ended(folder.run.decisions[-1], folder.run.plan))
    if failed:
        click.echo("The failed trials are recorded with their reasons; the article lists them.")
    if newest:
        click.echo(f"Now make the page: {_render_hint(folder)}")
    return code


def _render_hint(folder: "RunFolder") -> str:
    """The command that makes the page, and the file that it writes."""
    import shlex

    from study.cli.render import page_of

    runs = folder.path.parent.parent
    command = "study render" if runs == Path("runs") else f"study render --runs {shlex.quote(str(runs))}"
    return f"{command}  (it will be {page_of(Path('site'), folder.run.study.name, folder.run.id)})"


def _ring(since: float) -> None:
    """The terminal's bell after a long run: whoever waits has looked away."""
    from time import monotonic

    if sys.stderr.isatty() and monotonic() - since > BELL_AFTER_S:
        click.echo("\a", nl=False, err=True)


def _stamp(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
