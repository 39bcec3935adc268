"""`study check`: what can be measured on this machine, and what stands in the way."""

from pathlib import Path
from typing import Any

import click

from study.domain.errors import NotReady


@click.command("check", short_help="Say what can be measured on this machine, and what stands in the way.")
@click.option(
    "--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="The archive."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(runs: Path, as_json: bool) -> int:
    """Look at this machine without changing anything. Exit code 3 if `study run` could not start."""
    checks = [*_torch(), _gpus(), _cores(), _load(), _room(runs)]
    ready = all(check["verdict"] != "stop" for check in checks)
    if as_json:
        import json

        click.echo(json.dumps({"ready": ready, "checks": checks}, ensure_ascii=False))
    else:
        marks = {"good": "ok  ", "note": "note", "stop": "STOP"}
        for check in checks:
            click.echo(f"{marks[check['verdict']]}  {check['what']}: {check['evidence']}")
            if check["remedy"]:
                click.echo(f"      {check['remedy']}")
        click.echo("`study run` can start." if ready else "`study run` cannot start here.")
    return 0 if ready else 3


def _found(what: str, verdict: str, evidence: str, remedy: str = "") -> dict[str, Any]:
    return {"what": what, "verdict": verdict, "evidence": evidence, "remedy": remedy}


def _torch() -> list[dict[str, Any]]:
    """What torch says, and whether the preset quick could start with it."""
    from study.cli.plan import plan_here
    from study.lab.preflight import check_devices, check_torch
    from study.lab.probe import worker_facts

    try:
        facts = worker_facts()
        check_torch(facts.torch)
    except NotReady as error:
        return [_found("PyTorch", "stop", error.problem, error.remedy)]
    works = ", ".join(f"{kind} ({len(names)})" for kind, names in sorted(facts.devices.items()))
    cuda = f", CUDA {facts.cuda}" if facts.cuda else ", a build without CUDA"
    torch = _found("PyTorch", "good", f"{facts.torch}{cuda}; accelerators that work here: {works}")
    try:
        _, _, plan = plan_here("quick", None, len(facts.devices.get("cuda", ())))
        check_devices(plan, facts)
    except NotReady as error:
        return [torch, _found("Preset quick", "stop", error.problem, error.remedy)]
    counts = sorted({cell.cell.devices for cell in plan.cells})
    devices = ", ".join(str(count) for count in counts)
    return [torch, _found("Preset quick", "good", f"runs on {plan.accelerator} at {devices} devices")]


def _gpus() -> dict[str, Any]:
    from study.lab.nvml import survey

    seen = survey()
    if not seen.devices:
        return _found("GPUs", "note", seen.reason, "Without a GPU, devices are CPU ranks.")
    names = ", ".join(device.name for device in seen.devices)
    return _found("GPUs", "good", f"{len(seen.devices)}: {names}; driver {seen.driver}")


def _cores() -> dict[str, Any]:
    from study.lab.machine import describe_machine

    machine = describe_machine(None, ())
    evidence = f"{machine.usable_cpus} usable of {machine.logical_cpus} logical CPUs"
    if machine.usable_cpus < 2:
        return _found("CPU", "note", evidence, "Two ranks will share one core: no speed-up can be expected.")
    return _found("CPU", "good", evidence)


def _load() -> dict[str, Any]:
    import os

    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    evidence = f"load average {load:.2f} on {cores} CPUs"
    if load > 0.2 * cores:
        return _found("Other work", "note", evidence, "Other processes disturb the trials; end them first.")
    return _found("Other work", "good", evidence)


def _room(runs: Path) -> dict[str, Any]:
    from study.lab.preflight import check_room

    try:
        free = check_room(runs)
    except NotReady as error:
        return _found("Disk", "stop", error.problem, error.remedy)
    return _found("Disk", "good", f"{free / 1e9:.1f} GB free for {runs}")
