"""The machine: what it was, what a device is on it, and what was not recorded about it."""

from collections.abc import Callable

from study.article.material import Material
from study.article.words import alone, because, count, distinct, known, number, text_or_reason
from study.domain.article import Paragraph, SectionOfArticle, Specification
from study.domain.machine import Device, Machine, Software
from study.domain.text import Listing, Name, Num, Slot, Term, Text, counted, said

Rows = tuple[tuple[Text, Slot], ...]


def section(material: Material) -> SectionOfArticle:
    """What a run was made on. It is never left out: what is unknown is named."""
    run = material.run
    return SectionOfArticle(
        key="machine",
        title=said("The machine"),
        blocks=(
            Paragraph(sentences=(_device(material),)),
            Specification(rows=_hardware(run.machine, run.plan.accelerator) + _software(run.software)),
        ),
    )


def _device(material: Material) -> Text:
    plan = material.run.plan
    if plan.accelerator == "cuda":
        return said("On this machine a device is one GPU.")
    if plan.accelerator != "cpu":
        return said(
            "On this machine a device is one accelerator of the kind {kind}.",
            kind=Name(text=plan.accelerator, code=True),
        )
    threads = sorted({planned.cell.threads_per_device for planned in plan.cells})
    if len(threads) == 1:
        return counted(
            "On this machine a device is one process of the CPU with {n} thread.",
            "On this machine a device is one process of the CPU with {n} threads.",
            threads[0],
        )
    return said(
        "On this machine a device is one process of the CPU; the number of its threads differs between cells."
    )


def _hardware(machine: Machine, accelerator: str) -> Rows:
    unknown = machine.unknown
    return (
        (said("Accelerators"), _devices(machine)),
        *_device_rows(machine),
        (said("Processor"), text_or_reason(machine.cpu_model, "cpu_model", unknown)),
        (said("Sockets"), known(number(machine.sockets, "integer"), "sockets", unknown)),
        *_nodes(machine),
        (said("Cores"), count(machine.cores)),
        (said("Logical processors"), count(machine.logical_cpus)),
        (said("Processors that this run may use"), count(machine.usable_cpus)),
        (said("Memory"), Num(value=float(machine.memory_bytes), style="bytes")),
        *_links(machine, accelerator),
        (said("Frequency governor"), text_or_reason(machine.governor, "governor", unknown)),
        (said("Virtualisation"), text_or_reason(machine.virtualisation, "virtualisation", unknown)),
        (said("Container"), text_or_reason(machine.container, "container", unknown)),
        (said("Operating system"), Name(text=machine.os)),
        (said("Kernel"), Name(text=machine.kernel)),
        (said("Architecture"), Name(text=machine.architecture)),
    )


def _nodes(machine: Machine) -> Rows:
    """One row; none of a machine that was described before it was asked."""
    value, why = number(machine.numa_nodes, "integer"), machine.unknown.get("numa_nodes", "")
    return ((said("NUMA nodes"), because(why) if value is None else value),) if value or why else ()


def _devices(machine: Machine) -> Slot:
    names = [device.name for device in machine.devices]
    if not names:
        return said("None was found.")
    return Listing(
        items=tuple(
            said("{n} × {device}", n=count(names.count(device)), device=Name(text=device))
            for device in dict.fromkeys(names)
        )
    )


def _device_rows(machine: Machine) -> Rows:
    """Facts of the devices, each once if all devices agree."""
    rows: tuple[tuple[Text, Callable[[Device], Slot | None], str], ...] = (
        (said("Memory of a device"), lambda d: number(d.memory_bytes, "bytes"), "memory_bytes"),
        (said("Power limit of a device"), lambda d: number(d.power_limit_w, "watt"), "power_limit_w"),
        (said("Firmware of a device"), lambda d: None if d.vbios is None else Name(text=d.vbios), "vbios"),
    )
    found: list[tuple[Text, Slot]] = []
    for title, read, field in rows:
        values = distinct(known(read(device), field, device.unknown) for device in machine.devices)
        if values:
            found.append((title, values[0] if len(values) == 1 else Listing(items=values)))
    return tuple(found)


def _links(machine: Machine, accelerator: str) -> Rows:
    """One row, if there are devices that could be linked."""
    title = said("Links between devices")
    classes = sorted({link for row, links in enumerate(machine.links) for link in links[row + 1 :]})
    if classes:
        return ((title, Listing(items=tuple(Name(text=link) for link in classes))),)
    if accelerator == "cpu" or len(machine.devices) < 2:
        return ()
    return ((title, because(machine.unknown.get("links", ""))),)


def _software(software: Software) -> Rows:
    unknown = software.unknown
    return (
        (said("PyTorch"), text_or_reason(software.torch, "torch", unknown)),
        (said("PyTorch's commit"), text_or_reason(software.torch_git, "torch_git", unknown)),
        (said("Python"), Name(text=software.python)),
        (said("CUDA"), text_or_reason(software.cuda, "cuda", unknown)),
        (said("cuDNN"), text_or_reason(software.cudnn, "cudnn", unknown)),
        (said("NCCL"), text_or_reason(software.nccl, "nccl", unknown)),
        (said("Driver"), text_or_reason(software.driver, "driver", unknown)),
        (said("The tool's version"), Name(text=software.study)),
        (said("The tool's commit"), text_or_reason(software.study_commit, "study_commit", unknown)),
        (said("The tool's source"), _state(software)),
        (said("Packages"), _packages(software)),
    )


def _state(software: Software) -> Slot:
    if software.study_dirty is None:
        return because(software.unknown.get("study_dirty", ""))
    return alone(Term(text="with uncommitted changes" if software.study_dirty else "as committed"))


def _packages(software: Software) -> Slot:
    if not software.packages:
        return because(software.unknown.get("packages", ""))
    return Listing(
        items=tuple(
            said("{package} {version}", package=Name(text=package), version=Name(text=version))
            for package, version in sorted(software.packages.items())
        )
    )
