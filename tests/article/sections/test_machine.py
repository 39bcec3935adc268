"""The section on the machine."""

import msgspec

from study.article.sections.machine import section
from study.domain.machine import Device


def rows(scene, say):
    """The specification as spoken words."""
    spec = section(scene.material()).blocks[1]
    return {say(term): say(value) for term, value in spec.rows}


def test_unknown_facts_are_sentences(scene, say):
    """What was not recorded is said with its reason and not dropped."""
    spec = rows(scene, say)

    assert spec["Frequency governor"] == "Not recorded: the kernel shows no frequency governor"
    assert spec["Driver"] == "Not recorded: there is no NVIDIA driver here"
    assert spec["Memory of a device"] == "Not recorded: a CPU has none of its own"


def test_every_field_has_a_row_even_when_nothing_is_known(scene, make, say):
    """A machine and software of which little is known have as many rows as others."""
    gone = ("cpu_model", "sockets", "governor", "virtualisation", "container")
    blank = make.machine(**dict.fromkeys(gone), unknown=dict.fromkeys(gone, "it could not be read"))

    spec = rows(scene.with_run(machine=blank), say)

    assert spec.keys() == rows(scene, say).keys()
    assert spec["Processor"] == spec["Container"] == "Not recorded: it could not be read"


def test_a_null_without_a_reason_is_said_too(scene, make, say):
    """A null whose reason is lost is still a sentence."""
    spec = rows(scene.with_run(machine=make.machine(sockets=None, unknown={"governor": "gone"})), say)

    assert spec["Sockets"] == "Not recorded, and the records do not say why."


def test_a_device_on_the_cpu_is_a_process(scene, say):
    """On the CPU a device is one process with its threads."""
    sentence = section(scene.material()).blocks[0].sentences[0]

    assert say(sentence) == "On this machine a device is one process of the CPU with 1 thread."


def test_threads_that_differ_are_not_summed_up(scene, say):
    """Where cells differ in threads no number is given."""
    first, *rest = scene.run.plan.cells
    wide = msgspec.structs.replace(first, cell=msgspec.structs.replace(first.cell, threads_per_device=2))
    plan = msgspec.structs.replace(scene.run.plan, cells=(wide, *rest))

    sentence = section(scene.with_run(plan=plan).material()).blocks[0].sentences[0]

    assert "differs between cells" in say(sentence)


def test_processes_of_a_cpu_have_no_links(scene, make, say):
    """Links are not missed where devices are processes of one CPU; between cards they are."""
    machine = make.machine(devices=scene.run.machine.devices * 2)
    plan = msgspec.structs.replace(scene.run.plan, accelerator="cuda")

    on_cpu = rows(scene.with_run(machine=machine), say)
    on_cards = rows(scene.with_run(machine=machine, plan=plan), say)

    assert "Links between devices" not in on_cpu
    assert on_cards["Links between devices"] == "Not recorded, and the records do not say why."


def test_equal_cards_are_counted(scene, make, say):
    """Four equal cards are one line with a count, and their memory stands once."""
    cards = tuple(
        Device(index=i, name="RTX A6000", memory_bytes=48 * 2**30, power_limit_w=300.0, vbios="94.02")
        for i in range(4)
    )
    links = tuple(tuple("X" if i == j else "SYS" for j in range(4)) for i in range(4))
    plan = msgspec.structs.replace(scene.run.plan, accelerator="cuda")
    carded = scene.with_run(machine=make.machine(devices=cards, links=links), plan=plan)

    spec = rows(carded, say)

    assert spec["Accelerators"] == "4 × RTX A6000"
    assert spec["Power limit of a device"] == "300"
    assert spec["Links between devices"] == "SYS"
    assert say(section(carded.material()).blocks[0].sentences[0]) == "On this machine a device is one GPU."


def test_unlike_cards_are_listed(scene, make, say):
    """Cards that differ are listed with what differs."""
    cards = tuple(
        Device(index=i, name=name, memory_bytes=2**34, power_limit_w=limit, vbios="1")
        for i, (name, limit) in enumerate([("A", 300.0), ("B", 250.0)])
    )

    spec = rows(scene.with_run(machine=make.machine(devices=cards)), say)

    assert spec["Accelerators"] == "1 × A, 1 × B"
    assert spec["Power limit of a device"] == "300, 250"


def test_numa_nodes_are_told_where_they_were_asked(scene, make, say):
    """Their number, or why it is not known; nothing of a machine that was described before."""
    asked = rows(scene.with_run(machine=make.machine(numa_nodes=2)), say)
    silent = rows(scene.with_run(machine=make.machine(unknown={"numa_nodes": "no sysfs"})), say)

    assert asked["NUMA nodes"] == "2"
    assert silent["NUMA nodes"] == "Not recorded: no sysfs"
    assert "NUMA nodes" not in rows(scene, say)
