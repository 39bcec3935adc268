"""How we tested: the protocol of this run, generated from its plan."""

from study.article import precision, state
from study.article.material import Material
from study.domain.article import Paragraph, SectionOfArticle
from study.domain.study import Protocol
from study.domain.text import Name, Num, Term, Text, counted, said
from study.domain.trial import Cell


def section(material: Material) -> SectionOfArticle:
    """The protocol in a few sentences: what a trial is, what the window holds, how doubt is counted."""
    paragraphs = (_trial(material), _clock(), _doubt(material), _bases(material), _instrument(material))
    return SectionOfArticle(
        key="method",
        title=said("How we tested"),
        blocks=tuple(Paragraph(sentences=sentences) for sentences in paragraphs if sentences),
    )


def _trial(material: Material) -> tuple[Text, ...]:
    plan = material.run.plan
    protocol = plan.protocol
    return (
        said("A trial measures one cell once, in fresh processes, one for each device."),
        said(
            "It warms up for at least {steps} steps and {time}, which do not count.",
            steps=Num(value=float(protocol.warmup_steps), style="integer"),
            time=Num(value=protocol.warmup_s, style="seconds"),
        ),
        _window(protocol),
        counted(
            "Every cell was planned once in {n} block, in a random order from the seed {seed}.",
            "Every cell was planned once in each of {n} blocks, each time in a new random order from the"
            " seed {seed}.",
            protocol.blocks,
            seed=Name(text=str(plan.seed), code=True),
        ),
        *state.method(material),
        *precision.method(material),
        *_sentinel(material),
        *_settling(protocol),
    )


def _sentinel(material: Material) -> tuple[Text, ...]:
    """What watched the machine, or why nothing did; nothing of a plan made before there were sentinels."""
    plan = material.run.plan
    if plan.sentinel is not None:
        return (
            said(
                "One fixed small cell, the sentinel {cell}, was planned first and last in each block: it"
                " watches the machine, and its trials are samples of no cell.",
                cell=Name(text=plan.sentinel.id, code=True),
            ),
        )
    why = plan.unknown.get("sentinel")
    return (
        (said("There was no sentinel to watch the machine: {reason}.", reason=Term(text=why)),) if why else ()
    )


def _window(protocol: Protocol) -> Text:
    if protocol.window_steps is not None:
        return counted(
            "Then its window opens: fixed work of {n} step.",
            "Then its window opens: fixed work of {n} steps.",
            protocol.window_steps,
        )
    return said(
        "Then its window opens: fixed work of as many steps as fill {time} at the pace of the warm-up, at"
        " least {steps}; all processes agree on the number before it opens.",
        time=Num(value=protocol.window_s, style="seconds"),
        steps=Num(value=float(protocol.min_steps), style="integer"),
    )


def _settling(protocol: Protocol) -> tuple[Text, ...]:
    if not protocol.settle_s:
        return (said("Trials followed one another without a pause."),)
    return (
        said(
            "Before each trial the machine rested for {time}.",
            time=Num(value=protocol.settle_s, style="seconds"),
        ),
    )


def _clock() -> tuple[Text, ...]:
    """Hoefler & Belli 2015, rule 10: how parallel time is taken, synchronised and reduced."""
    return (
        said(
            "The window lies between two barriers; at each end the device is synchronised and the monotonic"
            " clock of the host is read, and nothing in between waits for the device."
        ),
        said("Its time runs from the first process's start to the last one's end."),
        said("A cell's rate is the work of all its trials over the time of all its trials."),
    )


def _doubt(material: Material) -> tuple[Text, ...]:
    level = Num(value=material.analysis.level, style="percent")
    return (
        said(
            "The trial is the sample, never the step: intervals are {level} confidence intervals, Student's t"
            " on the logarithms of the trials' rates, for speed-ups in Welch's form.",
            level=level,
        ),
        said(
            "In tables and charts they are pointwise; a sentence with a verdict gives the interval that"
            " holds for all comparisons of its family at once, with its level; where no difference of"
            " practical size was found, it is the one by which that was tested from both sides."
        ),
        said(
            "Under {floor} trials no interval is given and no verdict: a ratio then stands as a bare number.",
            floor=Num(value=3.0, style="integer"),
        ),
        said(
            "The study set {margin} as the margin of practical size before anything was measured.",
            margin=Num(value=material.run.plan.protocol.margin, style="percent"),
        ),
    )


def _bases(material: Material) -> tuple[Text, ...]:
    """Hoefler & Belli 2015, rule 1: the base of a speed-up is named, and which batch is held."""
    scalings = {series.scaling for series in material.run.plan.series}
    if not scalings:
        return ()
    sentences = [
        said(
            "The base of a speed-up is the plain model on one device, without wrapper or process group; where"
            " the study has no such cell, the same strategy on one device stands in for it."
        )
    ]
    if "strong" in scalings:
        sentences.append(
            said("Strong scaling holds the global batch: every device gets its share of the same work.")
        )
    if "weak" in scalings:
        sentences.append(
            said("Weak scaling holds the batch of each device: the work grows with the number of devices.")
        )
    return tuple(sentences)


def _instrument(material: Material) -> tuple[Text, ...]:
    """What checks the instrument, and the noise that such a check brings along on purpose."""
    cells = [planned.cell for planned in material.run.plan.cells if planned.cell.task == "check"]
    sentences = [
        said(
            "The workload {workload} measures what a device or a link can do at most: models are held"
            " against it.",
            workload=Name(text=workload, code=True),
        )
        if workload in CEILINGS
        else said(
            "The workload {workload} checks the instrument: its true speed-up is known by construction.",
            workload=Name(text=workload, code=True),
        )
        for workload in sorted({cell.workload for cell in cells})
    ]
    for step_ms, serial, jitter in sorted({_sleep(cell) for cell in cells if cell.options.keys() >= SLEEP}):
        sentences.append(
            said(
                "It does nothing but sleep: {step} a step on one device, of which {serial} is serial and the"
                " rest shared by the devices.",
                step=Num(value=step_ms / 1000, style="milliseconds"),
                serial=Num(value=serial, style="percent"),
            )
        )
        if jitter:
            sentences.append(
                said(
                    "It makes noise of its own: each trial's steps are stretched by a random factor, the same"
                    " for the whole trial, whose logarithm has a standard deviation of {jitter}.",
                    jitter=Num(value=jitter, style="percent"),
                )
            )
    return tuple(sentences)


CEILINGS = {"gemm", "allreduce", "memcpy"}
"""Checks of a device or a link, whose speed-up nobody knows in advance."""

SLEEP = {"step_ms", "serial_share", "jitter"}
"""The options of a check that sleeps."""


def _sleep(cell: Cell) -> tuple[float, float, float]:
    step_ms, serial, jitter = (float(cell.options[key]) for key in ("step_ms", "serial_share", "jitter"))
    return step_ms, serial, jitter
