"""State of the software: a dated note with the versions for which the article holds."""

from study.article.material import Material
from study.article.words import text_or_reason
from study.domain.article import Note, SectionOfArticle
from study.domain.text import Day, Name, Text, said


def section(material: Material, published: str) -> SectionOfArticle:
    """The note is a dated record; a new run gets a new article."""
    return SectionOfArticle(
        key="software",
        title=said("State of the software"),
        blocks=(
            Note(
                tone="software",
                title=said("As of {day}", day=Day(iso=published)) if published else said("As measured"),
                sentences=(
                    *_versions(material),
                    said(
                        "A later release may change the results; this note is a dated record and will not be"
                        " edited."
                    ),
                ),
            ),
        ),
    )


def _versions(material: Material) -> tuple[Text, ...]:
    software = material.run.software
    shared = {
        "torch": text_or_reason(software.torch, "torch", software.unknown),
        "python": Name(text=software.python),
        "system": Name(text=material.run.machine.os),
        "kernel": Name(text=material.run.machine.kernel),
    }
    if software.torch is None:
        asleep = {name: slot for name, slot in shared.items() if name != "torch"}
        return (
            said(
                "No cell used PyTorch; results hold for {python}, on {system} with kernel {kernel}.", **asleep
            ),
        )
    general = said(
        "Results hold for PyTorch {torch} under {python}, on {system} with kernel {kernel}.", **shared
    )
    if material.run.plan.accelerator == "cpu":
        return (general,)
    return (
        general,
        said(
            "On the devices: CUDA {cuda}, cuDNN {cudnn}, NCCL {nccl}, driver {driver}.",
            cuda=text_or_reason(software.cuda, "cuda", software.unknown),
            cudnn=text_or_reason(software.cudnn, "cudnn", software.unknown),
            nccl=text_or_reason(software.nccl, "nccl", software.unknown),
            driver=text_or_reason(software.driver, "driver", software.unknown),
        ),
    )
