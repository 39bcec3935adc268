"""What we cannot say: generated from what was not measured, not recorded, or left out."""

from collections.abc import Iterator

from study.article import precision
from study.article.labels import series_strategy
from study.article.material import Material, trials_planned
from study.article.notices import trials_measured
from study.article.panels import shown_series
from study.article.words import because, distinct
from study.domain.article import Bullets, SectionOfArticle
from study.domain.fact import Fact
from study.domain.record import Measured
from study.domain.text import Listing, Name, Num, Slot, Term, Text, counted, said

FIELDS = {
    "cpu_model": Term(text="processor"),
    "sockets": Term(text="sockets"),
    "governor": Term(text="frequency governor"),
    "virtualisation": Term(text="virtualisation"),
    "container": Term(text="container"),
    "links": Term(text="links between devices"),
    "torch": Term(text="PyTorch's version"),
    "torch_git": Term(text="PyTorch's commit"),
    "cuda": Term(text="CUDA's version"),
    "cudnn": Term(text="cuDNN's version"),
    "nccl": Term(text="NCCL's version"),
    "driver": Term(text="driver"),
    "study_commit": Term(text="the tool's commit"),
    "study_dirty": Term(text="the state of the tool's source"),
    "packages": Term(text="packages"),
}


def section(material: Material, left_out: tuple[Text, ...]) -> SectionOfArticle:
    """The list of what this run does not support. It is never empty: one machine is one machine."""
    items = (
        *_scope(material),
        *_sensors(material),
        *_processors(material),
        *_trials(material),
        *precision.limits(material),
        *_bases(material),
        *_unknown(material),
        *left_out,
    )
    return SectionOfArticle(
        key="limits",
        title=said("What we cannot say"),
        blocks=(*material.findings_as_prose("limits"), Bullets(items=distinct(items))),
    )


def _scope(material: Material) -> Iterator[Text]:
    if any(planned.cell.nodes > 1 for planned in material.run.plan.cells):
        yield said("One cluster was measured; how far another of the same kind would differ is not known.")
    else:
        yield said("One machine was measured; how far another of the same kind would differ is not known.")
    yield counted(
        "The run was made in {n} session; intervals hold the differences between its trials and not those"
        " between days.",
        "The run was made in {n} sessions; intervals hold the differences between its trials and not those"
        " between days.",
        len(material.run.sessions),
    )
    unsettled = [cell for cell in material.analysis.cells if cell.steadiness not in {None, "steady"}]
    if unsettled:
        yield counted(
            "For {n} cell the step times were not shown to be steady in every trial; the section on"
            " steadiness says what was shown.",
            "For {n} cells the step times were not shown to be steady in every trial; the section on"
            " steadiness says what was shown.",
            len(unsettled),
        )
    tasks = {cell.cell.task for cell in material.analysis.cells if cell.measured}
    if "train" in tasks:
        yield said(
            "Training was measured as work in a second; how much work a model needs to reach a quality"
            " was not measured."
        )
        if any(cell.cell.task == "train" and cell.cell.devices > 1 for cell in material.analysis.cells):
            yield said(
                "Where a model normalises over the batch, each process does so over its own share; what this"
                " does to the trained model was not measured."
            )
    if all(cell.mfu is None and cell.mfu_of_ceiling is None for cell in material.analysis.cells):
        yield said("Rates were not set against the peak of the hardware, so no utilisation is given.")


def _sensors(material: Material) -> Iterator[Text]:
    seen = {s.sensor for r in material.records for s in r.telemetry if s.value is not None}
    power = any("power" in sensor or "energy" in sensor for sensor in seen)
    heat = any("temperature" in sensor for sensor in seen) or any(
        reading.temperature_end_c is not None
        for record in material.records
        if isinstance(record.outcome, Measured)
        for reading in record.outcome.readings
    )
    if power and heat:
        yield said("Noise and prices were not recorded, so nothing is said about noise or cost.")
    elif power:
        yield said(
            "Temperature, noise and prices were not recorded, so nothing is said about heat, noise or cost."
        )
    elif heat:
        yield said(
            "Power, noise and prices were not recorded, so nothing is said about energy, noise or cost."
        )
    else:
        yield said(
            "Power, temperature, noise and prices were not recorded, so nothing is said about energy, heat,"
            " noise or cost."
        )


def _processors(material: Material) -> Iterator[Text]:
    if material.run.plan.accelerator == "cpu":
        yield said("Only the CPU was used; nothing here says how GPUs scale.")
    crowded = sum(cell.oversubscribed for cell in material.analysis.cells)
    if crowded:
        yield counted(
            "In {n} cell more threads ran than the machine has cores; it does not show how devices scale.",
            "In {n} cells more threads ran than the machine has cores; they do not show how devices scale.",
            crowded,
        )


def _trials(material: Material) -> Iterator[Text]:
    planned, present = trials_planned(material.run), len({t.trial for t in material.analysis.trials})
    if planned > present:
        yield counted("{n} planned trial was not run.", "{n} planned trials were not run.", planned - present)
    few = sum(0 < cell.measured < 3 for cell in material.analysis.cells)
    if few and trials_measured(material):
        yield counted(
            "{n} cell has under {floor} measured trials and so no interval.",
            "{n} cells have under {floor} measured trials and so no interval.",
            few,
            floor=Num(value=3.0, style="integer"),
        )
    none = sum(cell.measured == 0 for cell in material.analysis.cells)
    if none:
        yield counted(
            "{n} planned cell has no measured trial.", "{n} planned cells have no measured trial.", none
        )
    excluded = tuple(cell for cell in material.run.plan.skipped)
    if excluded:
        yield counted(
            "{n} cell of the study was not planned; the section on data says why.",
            "{n} cells of the study were not planned; the section on data says why.",
            len(excluded),
        )


def _bases(material: Material) -> Iterator[Text]:
    for one in shown_series(material.analysis):
        if one.base_rate is None:
            reason = one.unknown.get("base_rate", "") or one.series.unknown.get("base", "")
            yield said(
                "{series}, {strategy}: no speed-up can be given. {reason}",
                series=Name(text=one.label),
                strategy=series_strategy(one, material.analysis),
                reason=Term(text=reason) if reason else because(""),
            )


def _unknown(material: Material) -> Iterator[Text]:
    """Everything that the machine's and the software's descriptions leave open, grouped by reason."""
    run = material.run
    gaps: dict[str, list[Slot]] = {}
    descriptions: tuple[tuple[Fact, dict[str, str]], ...] = (
        (run.machine, run.machine.unknown),
        (run.software, run.software.unknown),
    )
    for fact, unknown in descriptions:
        for field in fact.__struct_fields__:
            if field in unknown:
                gaps.setdefault(unknown[field], []).append(FIELDS.get(field, Term(text=field)))
    for reason, fields in gaps.items():
        yield said(
            "Not recorded: {facts} – {reason}", facts=Listing(items=tuple(fields)), reason=Term(text=reason)
        )
    bare = sum(bool(device.unknown) for device in run.machine.devices)
    if bare:
        yield counted(
            "Something was not recorded about {n} device; the section on the machine says what.",
            "Something was not recorded about {n} devices; the section on the machine says what.",
            bare,
        )
