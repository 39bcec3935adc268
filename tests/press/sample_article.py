# ruff: noqa: S106, E501 - a colour token is not a password; prose of the sample stands on one line
"""A made-up article with every kind of block, mark and slot: what the press is tried on. Nothing in it was measured."""

import math
from typing import Any

import msgspec

from study.domain.article import (
    Article,
    AuthorText,
    Bullets,
    Commands,
    Downloads,
    FigureBlock,
    Note,
    Paragraph,
    SectionOfArticle,
    Specification,
    TableBlock,
)
from study.domain.article import Listing as FileListing
from study.domain.estimate import Estimate
from study.domain.figure import (
    Axis,
    Band,
    Bar,
    Column,
    Figure,
    Line,
    Mark,
    Marker,
    Missing,
    Panel,
    Points,
    Rule,
    Span,
    Table,
    Token,
    Whisker,
)
from study.domain.finding import Evidence, Finding
from study.domain.text import Day, Est, Listing, Name, Num, Style, Term, Text, counted, name, said

GIB = 2.0**30


def estimate(value: float, half: float | None, n: int = 5) -> Estimate:
    """An estimate with a symmetric interval, or without one."""
    if half is None:
        return Estimate(
            value=value, low=None, high=None, n=n, unit="", method="none", refusal="too few trials"
        )
    return Estimate(value=value, low=value - half, high=value + half, n=n, unit="", method="t_log")


def est(value: float, half: float | None, style: Style = "ratio", unit: str = "", **more: Any) -> Est:
    """An estimate as a slot."""
    return Est(estimate=estimate(value, half, more.pop("n", 5)), style=style, unit=unit, **more)


SERIES: tuple[tuple[str, tuple[float, float, float], Token, Marker], ...] = (
    ("ResNet-50", (1.0, 1.94, 3.72), "s1", "circle"),
    ("BERT-large", (1.0, 1.84, 3.19), "s3", "square"),
    ("GPT-2 medium", (1.0, 1.79, 3.06), "s2", "diamond"),
)


def speedup_figure() -> Figure:
    """Lines with bands and end labels beside whiskers along x on categories."""
    lines: list[Mark] = [
        Line(x=(1.0, 4.0), y=(1.0, 4.0), token="muted", marker="none", dashed=True, label=said("ideal"))
    ]
    marks: list[Mark] = [Rule(at=1.0, along="x", label=said("every device in full"))]
    rows: list[Any] = []
    categories = []
    for label, values, token, marker in SERIES:
        lines.append(
            Band(
                x=(1.0, 2.0, 4.0),
                low=tuple(v * 0.97 for v in values),
                high=tuple(v * 1.03 for v in values),
                token=token,
            )
        )
        lines.append(
            Line(
                x=(1.0, 2.0, 4.0),
                y=values,
                token=token,
                marker=marker,
                end_label=said("{v} {s}", v=Num(value=values[-1], style="times"), s=name(label)),
            )
        )
        for devices, value in ((2, values[1]), (4, values[2])):
            efficiency = estimate(value / devices, 0.021)
            marks.append(
                Whisker(
                    at=float(len(categories)),
                    estimate=efficiency,
                    token=token,
                    along="x",
                    marker=marker,
                    hollow=devices == 2,
                    value_label=said("{v}", v=Est(estimate=efficiency, style="percent", show="value")),
                )
            )
            categories.append(
                said("{model}, {n} GPUs", model=name(label), n=Num(value=devices, style="integer"))
            )
            rows.append(
                (
                    name(label),
                    Num(value=devices, style="integer"),
                    est(value, value * 0.03, "times"),
                    Est(estimate=efficiency, style="percent"),
                )
            )
    return Figure(
        key="fig-speedup",
        title=said(
            "{a} keeps {x} of four devices; {b} keeps {y}",
            a=name("ResNet-50"),
            b=name("GPT-2 medium"),
            x=Num(value=0.93, style="percent"),
            y=Num(value=0.765, style="percent"),
        ),
        subtitle=said("Training rate relative to one device, data parallel, bf16, fixed batch per device."),
        caption=said(
            "Dashed: every device counts in full. Right: hollow marks are two devices, filled marks four."
        ),
        alt=said(
            "Line chart of speed-up on one, two and four devices beside a plot of efficiency: {a} reaches {x}."
            " All numbers are in the table below.",
            a=name("ResNet-50"),
            x=Num(value=3.72, style="times"),
        ),
        panels=(
            Panel(
                title=said("Speed-up over one device"),
                x=Axis(title=said("Devices"), style="integer", ticks=(1.0, 2.0, 4.0)),
                y=Axis(title=said("Speed-up"), style="times", start=0.0),
                marks=tuple(lines),
                share=1.25,
            ),
            Panel(
                title=said("Efficiency"),
                x=Axis(title=said("Efficiency"), style="percent", start=0.6),
                y=Axis(title=said(""), categories=tuple(categories)),
                marks=tuple(marks),
            ),
        ),
        table=Table(
            key="t-fig-speedup",
            caption=said(
                "Speed-up and efficiency by number of devices, with {level} confidence intervals.",
                level=Num(value=0.95, style="percent"),
            ),
            columns=(
                Column(key="model", title=said("Model"), numeric=False),
                Column(key="devices", title=said("Devices"), style="integer"),
                Column(key="speedup", title=said("Speed-up"), style="times"),
                Column(key="efficiency", title=said("Efficiency"), style="percent"),
            ),
            rows=tuple(rows),
        ),
        height=430,
        narrow_height=660,
    )


def memory_figure() -> Figure:
    """Bars along x, one hatched, with a limit."""
    names = ("Data parallel (ddp)", "Pipeline, 4 stages", "Tensor parallel", "Sharded (fsdp)")
    held = (107.0, 38.6, 33.9, 30.8)
    bars: list[Mark] = [
        Bar(
            at=float(i),
            value=gib * GIB,
            token="cap" if gib > 48 else "s1",
            hatched=gib > 48,
            value_label=said("did not fit: needs {v}, estimated", v=Num(value=gib * GIB, style="bytes"))
            if gib > 48
            else said("{v}", v=Num(value=gib * GIB, style="bytes")),
        )
        for i, gib in enumerate(held)
    ]
    bars.append(
        Rule(
            at=48 * GIB,
            along="x",
            token="cap",
            dashed=False,
            label=said("{v} a card", v=Num(value=48 * GIB, style="bytes")),
        )
    )
    return Figure(
        key="fig-memory",
        title=said("A model of 6.7 billion parameters needs splitting"),
        subtitle=said("Peak memory on the fullest device, four devices, bf16."),
        caption=said(
            "The hatched bar is an estimate: the trial ended out of memory, which is recorded as a result."
        ),
        alt=said("Bar chart of peak memory per device against a limit. All numbers are in the table below."),
        panels=(
            Panel(
                title=said("Peak memory"),
                x=Axis(title=said(""), style="bytes"),
                y=Axis(title=said(""), categories=tuple(name(n) for n in names)),
                marks=tuple(bars),
            ),
        ),
        table=Table(
            key="t-fig-memory",
            caption=said("Peak memory and rate by strategy."),
            columns=(
                Column(key="strategy", title=said("Strategy"), numeric=False),
                Column(key="memory_gib", title=said("Peak memory"), style="bytes"),
                Column(key="rate", title=said("Rate"), style="rate", unit="tokens"),
                Column(key="outcome", title=said("Outcome"), numeric=False),
            ),
            rows=tuple(
                (
                    name(n),
                    Num(value=gib * GIB, style="bytes"),
                    Missing(reason=said("Out of memory."))
                    if gib > 48
                    else est(2000.0 + 10 * gib, 40.0, "rate", "tokens"),
                    Term(text="out of memory") if gib > 48 else Term(text="measured"),
                )
                for n, gib in zip(names, held, strict=True)
            ),
        ),
        height=290,
        narrow_height=380,
    )


def thermal_figure() -> Figure:
    """Time lines with bands and a shaded stretch; an axis that does not start at zero."""
    times = tuple(12.0 * i for i in range(150))
    hot = tuple(84 - 54 * math.exp(-t / 170) + 0.6 * math.sin(t / 7) for t in times)
    cool = tuple(72 - 42 * math.exp(-t / 150) + 0.5 * math.sin(t / 9) for t in times)
    slow = tuple((1400.0 if t > 520 else 1705.0) + 30 * math.sin(t / 11) for t in times)
    fast = tuple(1716.0 + 10 * math.sin(t / 8) for t in times)
    held: Mark = Span(low=520.0, high=1788.0, token="s2", label=said("clocks held back"))
    time = Axis(title=said("Time"), style="duration", start=0.0)
    return Figure(
        key="fig-thermals",
        title=said("Left alone, the hottest card gives up almost a fifth of its clock"),
        subtitle=said(
            "Half an hour of training on four devices. Line: hottest or slowest card. Band: all cards."
        ),
        caption=said("Shaded: the driver reported a thermal slow-down."),
        alt=said("Two time lines: temperature and clock, with the automatic and with a fixed fan."),
        panels=(
            Panel(
                title=said("GPU temperature"),
                x=time,
                y=Axis(title=said(""), unit="°C"),
                marks=(
                    held,
                    Band(x=times, low=tuple(v - 7 for v in hot), high=hot, token="s2"),
                    Line(x=times, y=hot, token="s2", marker="none", end_label=said("automatic fan")),
                    Line(x=times, y=cool, token="s1", marker="none", end_label=said("fan at 85%")),
                ),
            ),
            Panel(
                title=said("SM clock"),
                x=time,
                y=Axis(title=said(""), style="megahertz", start=1200.0),
                marks=(
                    held,
                    Line(x=times, y=slow, token="s2", marker="none", end_label=said("automatic fan")),
                    Line(x=times, y=fast, token="s1", marker="none", end_label=said("fan at 85%")),
                ),
            ),
        ),
        table=Table(
            key="t-fig-thermals",
            caption=said("Steady state, mean over sessions."),
            columns=(
                Column(key="fan", title=said("Fan"), numeric=False),
                Column(key="temperature_c", title=said("Hottest card"), unit="°C"),
                Column(key="clock_mhz", title=said("Slowest clock"), style="megahertz"),
                Column(key="power_w", title=said("Power"), style="watt"),
                Column(key="step_ms", title=said("Step"), style="milliseconds"),
            ),
            rows=(
                (
                    said("automatic"),
                    est(84.1, 0.31, "plain", "°C", n=3),
                    est(1395, 14, "megahertz", n=3),
                    est(1083, 7.4, "watt", n=3),
                    est(0.2311, 0.0021, "milliseconds", n=3),
                ),
                (
                    said("fixed"),
                    est(72.0, 0.5, "plain", "°C", n=3),
                    est(1714, 5.2, "megahertz", n=3),
                    est(1171, None, "watt", n=2),
                    est(0.2054, 0.0017, "milliseconds", n=3),
                ),
            ),
        ),
        height=330,
        narrow_height=560,
    )


def strategies_figure() -> Figure:
    """Bars along y, and ratios with trials as points on a logarithmic axis with a legend."""
    names = ("ddp", "fsdp", "tensor parallel", "pipeline")
    rates = (81_200.0, 65_000.0, 30_210.0, 22_000.0)
    ratios = ((1.0, 0.71, 0.05), (4.0, 1.4, 0.13), (16.0, 3.02, 0.3), (64.0, 9.1, None))
    return Figure(
        key="fig-strategies",
        title=said("Sharding costs a fifth of the rate; larger batches win it back"),
        subtitle=said("Rate on four devices, higher is better; ratio to the base by batch."),
        caption=said("Small rings are trials."),
        alt=said(
            "Bar chart of rates beside ratios on a logarithmic axis. All numbers are in the table below."
        ),
        panels=(
            Panel(
                title=said("Rate on four devices"),
                x=Axis(title=said("Strategy"), categories=tuple(name(n) for n in names)),
                y=Axis(title=said("Rate"), style="rate", unit="tokens"),
                marks=tuple(
                    Bar(
                        at=float(i),
                        value=rate,
                        token="s2" if i == 0 else "s1",
                        along="y",
                        value_label=said("{v}", v=Num(value=rate, style="integer")),
                    )
                    for i, rate in enumerate(rates)
                ),
            ),
            Panel(
                title=said("Ratio to the base"),
                x=Axis(title=said("Batch"), style="integer", scale="log", ticks=(1.0, 4.0, 16.0, 64.0)),
                y=Axis(title=said("Ratio"), style="ratio", scale="log"),
                legend=True,
                marks=(
                    Rule(at=1.0, along="y", label=said("no difference")),
                    Line(
                        x=(1.0, 64.0),
                        y=(0.8, 8.0),
                        token="s3",
                        marker="none",
                        dashed=True,
                        label=said("proportional"),
                    ),
                    *(
                        Whisker(
                            at=b,
                            estimate=estimate(v, h, 5 if h else 2),
                            token="s1",
                            marker="triangle",
                            value_label=said("{v}", v=Num(value=v, style="ratio")),
                        )
                        for b, v, h in ratios
                    ),
                    Points(
                        x=(1.0, 4.0, 16.0, 64.0),
                        y=(0.69, 1.33, 3.2, 8.6),
                        token="s4",
                        hollow=True,
                        small=True,
                        label=said("trials"),
                    ),
                    Points(x=(1.0, 16.0), y=(0.75, 2.8), token="n1", marker="square", label=said("excluded")),
                ),
            ),
        ),
        table=Table(
            key="t-fig-strategies",
            caption=said("Rate by strategy on four devices."),
            columns=(
                Column(key="strategy", title=said("Strategy"), numeric=False),
                Column(key="rate", title=said("Rate"), style="rate", unit="tokens"),
            ),
            rows=tuple(
                (Name(text=n, code=True), est(r, r / 80, "rate", "tokens"))
                for n, r in zip(names, rates, strict=True)
            ),
        ),
        height=340,
        narrow_height=640,
    )


def finding(
    key: str, evidence: Evidence, sentence: Text, big: Estimate | None, style: Style, **more: Any
) -> Finding:
    """A finding with the usual rest."""
    return Finding(
        key=key,
        shelf="sample",
        section="more_devices",
        sentence=sentence,
        short=sentence,
        evidence=evidence,
        evidence_note=more.pop("note", counted("{n} trial", "{n} trials each", 5)),
        estimate=big,
        big=big,
        big_style=style,
        big_unit=more.pop("unit", ""),
        verdict=None,
        table=more.pop("table", ""),
        figure=more.pop("figure", ""),
        headline=more.pop("headline", True),
        weight=1.0,
        trials=(),
        **more,
    )


def findings() -> tuple[Finding, ...]:
    """One finding a level of evidence."""
    return (
        finding(
            "speedup",
            "strong",
            said(
                "Four devices train {model} {ratio} times as fast as one.",
                model=name("ResNet-50"),
                ratio=est(3.72, 0.047),
            ),
            estimate(3.72, 0.047),
            "times",
            table="t-fig-speedup",
        ),
        finding(
            "heat",
            "moderate",
            said(
                "With the automatic fan, four busy cards change their rate by {loss}.",
                loss=est(-0.102, 0.0115, "percent"),
            ),
            estimate(-0.102, 0.0115),
            "percent",
            table="t-fig-thermals",
            note=counted("{n} session", "{n} sessions of half an hour", 3),
        ),
        finding(
            "rate",
            "weak",
            said(
                "The plain version processes {rate} in two trials; this may be chance.",
                rate=est(25_612.0, None, "rate", "tokens", n=2),
            ),
            estimate(25_612.0, None, 2),
            "rate",
            unit="tokens",
            figure="fig-strategies",
        ),
        finding(
            "bridge",
            "not_shown",
            said(
                "For {model} we found no effect of the bridge: a difference of {x}.",
                model=name("ResNet-50"),
                x=est(0.02, 0.041, "ratio"),
            ),
            None,
            "plain",
            table="t-base",
        ),
        finding(
            "aside", "none", said("One machine was measured."), None, "plain", headline=False, note=said("")
        ),
    )


def base_table() -> Table:
    """A table that stands alone."""
    return Table(
        key="t-base",
        caption=said("One device, training rate by number format. Higher is better."),
        columns=(
            Column(key="model", title=said("Model"), numeric=False),
            Column(key="fp32", title=said("fp32"), style="rate"),
            Column(key="bf16", title=said("bf16"), style="rate"),
            Column(key="ratio", title=said("bf16 to fp32"), style="times"),
            Column(key="time", title=said("Measured for"), style="duration"),
        ),
        rows=(
            (
                name("ResNet-50"),
                est(438, 3.1, "rate", "images"),
                est(1046, 6.2, "rate", "images"),
                est(2.39, 0.021, "times"),
                Num(value=200.0, style="duration"),
            ),
            (
                name("BERT-large"),
                est(24.6, 0.21, "rate", "sequences"),
                est(71.4, 0.3, "rate", "sequences"),
                est(2.90, 0.03, "times"),
                Num(value=11_105.0, style="duration"),
            ),
            (
                name("GPT-2 medium"),
                Missing(reason=said("Not measured.")),
                est(25_600, 210, "rate", "tokens"),
                Missing(reason=said("No fp32 to compare with.")),
                Num(value=0.02, style="duration"),
            ),
        ),
    )


def trials_table(count: int = 24) -> Table:
    """All trials, some of which failed."""

    def row(i: int) -> tuple[Any, ...]:
        failed = i % 7 == 6
        return (
            Name(text=f"gpt-s.train.ddp.x{1 + i % 4}.bf16.b8.{i:03}", code=True),
            Num(value=1 + i % 4, style="integer"),
            Missing(reason=said("Out of memory."))
            if failed
            else Num(value=8000.0 * (1 + i % 4) - 37.5 * i, style="rate", unit="tokens"),
            Term(text="out of memory") if failed else Term(text="measured"),
        )

    return Table(
        key="trials",
        caption=counted(
            "{n} trial in the order in which it ran.", "{n} trials in the order in which they ran.", count
        ),
        columns=(
            Column(key="trial", title=said("Trial"), numeric=False),
            Column(key="devices", title=said("Devices"), style="integer"),
            Column(key="rate", title=said("Rate"), style="rate", unit="tokens"),
            Column(key="outcome", title=said("Outcome"), numeric=False),
        ),
        rows=tuple(row(i) for i in range(count)),
    )


def sections() -> tuple[SectionOfArticle, ...]:
    """Every kind of block."""
    return (
        SectionOfArticle(
            key="machine",
            title=said("The machine"),
            blocks=(
                Paragraph(
                    sentences=(
                        said("One workstation with {n} cards.", n=Num(value=4, style="integer")),
                        said(
                            "The same chassis served every trial; unused cards stayed in their slots, idle, so that the air flowed the same."
                        ),
                    )
                ),
                Specification(
                    rows=(
                        (
                            said("GPUs"),
                            said(
                                "{n} × {gpu}, {memory}",
                                n=Num(value=4, style="integer"),
                                gpu=name("RTX A6000"),
                                memory=Num(value=48 * GIB, style="bytes"),
                            ),
                        ),
                        (said("Driver"), Name(text="580.95.05", code=True)),
                        (said("Measured on"), Day(iso="2026-11-28")),
                        (
                            said("Frameworks"),
                            Listing(items=(name("PyTorch 2.9.1"), name("NCCL 2.28.3"), name("cuDNN 9.13"))),
                        ),
                        (said("Wall power"), said("Not recorded: {reason}.", reason=name("no meter"))),
                        (said("Limit"), Num(value=300.0, style="watt")),
                    )
                ),
            ),
        ),
        SectionOfArticle(
            key="one",
            title=said("One device: the baseline"),
            blocks=(
                AuthorText(
                    markdown="Before adding cards, change the *number format*.\n\n- It costs nothing.\n- See [the docs](https://pytorch.org/docs/).\n"
                ),
                TableBlock(table=base_table()),
                Paragraph(sentences=(findings()[2].sentence,), finding="rate"),
            ),
        ),
        SectionOfArticle(
            key="more",
            title=said("Two and four devices"),
            blocks=(
                Paragraph(
                    sentences=(
                        findings()[0].sentence,
                        said("The gap between the models is {x}.", x=Num(value=0.16, style="percent_points")),
                    ),
                    finding="speedup",
                ),
                FigureBlock(figure=speedup_figure()),
                Note(
                    tone="not_shown", title=said("Not shown by the data"), sentences=(findings()[3].sentence,)
                ),
                FigureBlock(figure=memory_figure()),
                FigureBlock(figure=strategies_figure()),
                FigureBlock(figure=thermal_figure()),
                Note(
                    tone="info",
                    title=said("How to read the intervals"),
                    sentences=(said("An interval is over trials, never over steps."),),
                ),
            ),
        ),
        SectionOfArticle(
            key="limits",
            title=said("What we cannot say"),
            blocks=(
                Bullets(
                    items=(
                        said("One machine, one sample of each card."),
                        said("Wall power was not measured, so there is no energy from the socket."),
                    )
                ),
                Note(
                    tone="software",
                    title=said("As of {day}", day=Day(iso="2026-12-01")),
                    sentences=(said("Results hold for {version}.", version=name("PyTorch 2.9.1")),),
                ),
            ),
        ),
        SectionOfArticle(
            key="data",
            title=said("Data and reproduction"),
            blocks=(
                Downloads(),
                Commands(lines=("study run a6000-scaling.toml", "study render")),
                FileListing(
                    name="study.toml", text='[study]\nname = "a6000"\n\n[factors]\ndevices = [1, 2, 4]\n'
                ),
            ),
        ),
    )


def article(**changes: Any) -> Article:
    """The whole article, with fields replaced as asked."""
    made = Article(
        path="a6000-scaling/20261128t101500z-z8",
        study="a6000-scaling",
        run_id="20261128T101500Z-z8",
        kicker=said("Scaling, training"),
        title="One, two, four: what extra RTX A6000s really buy",
        standfirst=said(
            "A fourth card is worth between half and nine tenths of a card, depending on the model. Two cheap fixes matter more than the choice of strategy."
        ),
        authors=("Example Author", "Zażółć Gęślą"),
        published="2026-11-28",
        trials_measured=318,
        trials_planned=324,
        measured_s=97_300.0,
        notices=(said("This is a made-up article to try the press on. Nothing here was measured."),),
        findings=findings(),
        sections=sections(),
        all_trials=trials_table(),
        machine="HP Z8 Fury G5, 4 × RTX A6000",
        digest="7f3a9c1e5b2d48a6",
        tool_version="0.1.0",
        disclosure="The machine was lent by its maker, who saw the article after publication.",
    )
    return msgspec.structs.replace(made, **changes)


RAW = {
    "run.json": b'{"schema": 1}\n',
    "trials/0001-gpt-s.json": b'{"outcome": "measured"}\n',
    "trials/0002-gpt-s.json": b'{"outcome": "out_of_memory"}\n',
}
