"""A run with everything an article can speak of, built by hand from the shared words alone."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import Formatter
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from study.article import compose
from study.article.material import Material
from study.domain.article import Article
from study.domain.estimate import Estimate
from study.domain.finding import Finding
from study.domain.machine import Device, Machine, Software
from study.domain.record import Failed, Record, Skipped, Surroundings
from study.domain.run import Run, Session
from study.domain.study import Matrix, Protocol, Study
from study.domain.summary import (
    Analysis,
    CellSummary,
    Latency,
    RuleOutcome,
    SeriesPoint,
    SeriesSummary,
    TrialSummary,
)
from study.domain.text import Day, Est, Listing, Name, Num, Term, Text, said
from study.domain.trial import Cell, Plan, PlannedCell, PlannedTrial, Series, SkippedCell

BLOCKS = 3
NO_CARD = "there is no NVIDIA driver here"


def estimate(value: float, share: float = 0.02, n: int = BLOCKS, unit: str = "") -> Estimate:
    """An estimate whose interval reaches `share` to both sides."""
    low, high = value * (1 - share), value * (1 + share)
    return Estimate(value=value, low=low, high=high, n=n, unit=unit, method="t_log")


def exact(value: float) -> Estimate:
    """A value without doubt."""
    return Estimate(value=value, low=None, high=None, n=BLOCKS, unit="", method="exact")


def bare(value: float, n: int = 2) -> Estimate:
    """An estimate without an interval, as under three trials."""
    return Estimate(value=value, low=None, high=None, n=n, unit="", method="none", refusal="too few trials")


def cell(workload: str, task: str, strategy: str, devices: int, batch: int = 8) -> Cell:
    """A cell on the CPU."""
    return Cell(
        workload=workload,
        size="tiny",
        task=task,
        strategy=strategy,
        accelerator="cpu",
        devices=devices,
        precision="fp32",
        batch=batch,
        threads_per_device=1,
    )


def cell_id(of: Cell) -> str:
    """A readable id."""
    return f"{of.workload}-{of.size}.{of.task}.{of.strategy}.x{of.devices}.b{of.batch}"


def cell_summary(of: Cell, rate: float | None, **changes: Any) -> CellSummary:
    """A cell measured in every block, or in none if it has no rate."""
    known: dict[str, Any] = {
        "cell_id": cell_id(of),
        "cell": of,
        "label": f"{of.workload} {of.size}, {of.task}, {of.strategy}, {of.devices} devices, batch {of.batch}",
        "unit": {"gpt": "tokens", "resnet": "images"}.get(of.workload, "naps"),
        "rate": None if rate is None else estimate(rate),
        "geometric_mean": rate,
        "means_differ": False,
        "step_mean_s": None if rate is None else 0.011,
        "step_median_s": None if rate is None else 0.01,
        "latency": None,
        "oversubscribed": False,
        "measured": 0 if rate is None else BLOCKS,
        "planned": BLOCKS,
        "trials": tuple(f"{b}-{cell_id(of)}" for b in range(1, BLOCKS + 1)),
        "parameters": None,
        "unknown": {}
        if rate is not None
        else dict.fromkeys(("rate", "geometric_mean"), "No trial of this cell was measured."),
    }
    return CellSummary(**(known | changes))


def trial(of: Cell, block: int, rate: float | None, order: int = 1, **changes: Any) -> TrialSummary:
    """A trial of 40 steps, or one without a rate."""
    known: dict[str, Any] = {
        "trial": f"{block}-{cell_id(of)}",
        "cell_id": cell_id(of),
        "order": order,
        "block": block,
        "attempt": 1,
        "outcome": "measured",
        "started_utc": "2026-11-28T10:00:00Z",
        "rate": rate,
        "wall_s": None if rate is None else 1.6,
        "work": None if rate is None else round(rate * 1.6),
        "step_ns": () if rate is None else tuple(10_000_000 + 10_000 * (i % 7) for i in range(40)),
        "warmup_step_ns": () if rate is None else (30_000_000, 12_000_000, 11_000_000),
        "imbalance": None,
        "foreign_cpu_share": 0.03,
        "fault": "",
        "unknown": {"imbalance": "One rank alone has no imbalance."},
    }
    return TrialSummary(**(known | changes))


def point(of: Cell, rate: float | None, base: float | None, **changes: Any) -> SeriesPoint:
    """A device count of a series, with ratios that follow from the rates."""
    n = of.devices
    ratio = None if rate is None or base is None else rate / base
    speedup = None if ratio is None else (exact(1.0) if ratio == 1 and n == 1 else estimate(ratio))
    known: dict[str, Any] = {
        "devices": n,
        "cell_id": cell_id(of),
        "rate": None if rate is None else estimate(rate),
        "speedup": speedup,
        "efficiency": None if ratio is None else estimate(ratio / n),
        "own_speedup": None,
        "karp_flatt": None if ratio is None or n == 1 else estimate(0.1),
        "overhead": None,
        "verdict": None,
        "oversubscribed": False,
        "truth": None,
        "unknown": {"own_speedup": "The study does not run this strategy on one device."},
    }
    return SeriesPoint(**(known | changes))


def series(
    workload: str,
    task: str,
    strategy: str,
    rates: dict[int, float | None],
    *,
    scaling: str = "strong",
    base: bool = True,
    batch: int = 8,
    **changes: Any,
) -> SeriesSummary:
    """A series whose rate at one device is the base's."""
    cells = [cell(workload, task, "single" if n == 1 and base else strategy, n, batch) for n in sorted(rates)]
    base_rate = rates.get(1) if base else None
    points = tuple(point(c, rates[c.devices], base_rate, **changes) for c in cells)
    reason = {} if base else {"base": "the study has no cell on one device"}
    return SeriesSummary(
        series=Series(
            key=f"{workload}.{task}.{strategy}.{scaling}{batch}",
            scaling=scaling,
            strategy=strategy,
            members=tuple(cell_id(c) for c in cells),
            base=cell_id(cells[0]) if base else None,
            own_base=None,
            unknown={"own_base": "not planned"} | reason,
        ),
        label=f"{workload} tiny, {task}",
        workload=workload,
        size="tiny",
        task=task,
        unit="tokens",
        base_rate=None if base_rate is None else estimate(base_rate),
        wrapper_cost=None,
        points=points,
        unknown={} if base else {"base_rate": "The study has no cell on one device to compare with."},
    )


def finding(key: str, **changes: Any) -> Finding:
    """A strong headline about nothing in particular, unless changed."""
    known: dict[str, Any] = {
        "key": key,
        "shelf": "test",
        "section": "more_devices",
        "sentence": said("{key} is found.", key=Name(text=key)),
        "short": said("{key} in short", key=Name(text=key)),
        "evidence": "strong",
        "evidence_note": said("Trials of this machine."),
        "estimate": estimate(1.8),
        "big": estimate(1.8),
        "big_style": "times",
        "big_unit": "",
        "verdict": None,
        "table": "t-scaling",
        "figure": "",
        "headline": True,
        "weight": 1.0,
        "trials": (),
    }
    return Finding(**(known | changes))


def latency(request_s: float = 0.2, **changes: Any) -> Latency:
    """The latency of a decoding cell."""
    known: dict[str, Any] = {
        "first_token_s": estimate(0.02),
        "token_s": estimate(0.005),
        "request_p50_s": estimate(request_s),
        "request_p90_s": estimate(request_s * 1.2),
        "request_p99_s": None,
        "requests": 120,
        "unknown": {"request_p99_s": "A trial has fewer requests than this percentile needs."},
    }
    return Latency(**(known | changes))


def analysis(**changes: Any) -> Analysis:
    """An empty analysis, unless changed."""
    known: dict[str, Any] = {
        "trials": (),
        "cells": (),
        "series": (),
        "comparisons": (),
        "findings": (),
        "rules": (),
        "measured_s": 24.0,
        "turnaround_s": 60.0,
    }
    return Analysis(**(known | changes))


def analysis_of(summaries: list[CellSummary], series: list[SeriesSummary], **changes: Any) -> Analysis:
    """An analysis in which every cell with a rate has one trial a block, one per cent apart."""
    trials = [
        trial(s.cell, block, s.rate.value * (0.98 + 0.01 * block), order=order)
        for order, (block, s) in enumerate(
            ((b, s) for b in range(1, BLOCKS + 1) for s in summaries if s.rate), start=1
        )
        if s.rate
    ]
    return analysis(cells=tuple(summaries), series=tuple(series), trials=tuple(trials), **changes)


def machine(**changes: Any) -> Machine:
    """A machine with four cores and no card."""
    known: dict[str, Any] = {
        "slug": "example-cpu",
        "cpu_model": "Example CPU",
        "sockets": 1,
        "cores": 4,
        "logical_cpus": 8,
        "usable_cpus": 4,
        "memory_bytes": 8 * 2**30,
        "governor": None,
        "virtualisation": "kvm",
        "container": "none",
        "os": "Debian 12",
        "kernel": "6.1.0",
        "architecture": "x86_64",
        "devices": (
            Device(
                index=0,
                name="Example CPU",
                memory_bytes=None,
                power_limit_w=None,
                vbios=None,
                unknown=dict.fromkeys(
                    ("memory_bytes", "power_limit_w", "vbios"), "a CPU has none of its own"
                ),
            ),
        ),
        "unknown": {"governor": "the kernel shows no frequency governor"},
    }
    return Machine(**(known | changes))


def software(**changes: Any) -> Software:
    """Software on a machine without a card."""
    known: dict[str, Any] = {
        "study": "0.1.0",
        "python": "CPython 3.11.2",
        "torch": "2.13.0",
        "torch_git": "abc",
        "cuda": None,
        "cudnn": None,
        "nccl": None,
        "driver": None,
        "packages": {"numpy": "2.1.0"},
        "study_commit": "0123abc",
        "study_dirty": False,
        "measuring_sha256": "0" * 64,
        "unknown": dict.fromkeys(("cuda", "cudnn", "nccl", "driver"), NO_CARD),
    }
    return Software(**(known | changes))


def run(summaries: list[CellSummary], series: list[SeriesSummary], **changes: Any) -> Run:
    """A complete run whose plan holds these cells in every block."""
    planned = [(b, s) for b in range(1, BLOCKS + 1) for s in summaries]
    protocol = Protocol(blocks=BLOCKS)
    plan = Plan(
        digest="7f3a9c1",
        seed=1234,
        accelerator=changes.pop("accelerator", "cpu"),
        devices_present=4,
        cores_present=4,
        protocol=changes.pop("protocol", protocol),
        cells=tuple(
            PlannedCell(
                id=s.cell_id,
                cell=s.cell,
                predicted_s=4.0,
                predicted_memory_bytes=None,
                oversubscribed=s.oversubscribed,
                unknown={"predicted_memory_bytes": "not predicted"},
            )
            for s in summaries
        ),
        skipped=changes.pop("skipped", ()),
        series=tuple(s.series for s in series),
        trials=tuple(
            PlannedTrial(id=f"{b}-{s.cell_id}", order=i, block=b, cell_id=s.cell_id, seed=i)
            for i, (b, s) in enumerate(planned, start=1)
        ),
        predicted_s=None,
        unknown={"predicted_s": "not predicted"},
    )
    known: dict[str, Any] = {
        "schema": 1,
        "id": "20261128T100000Z-Example-CPU",
        "study": Study(
            name="example",
            title="What extra processes buy",
            question="Do two processes train faster than one?",
            authors=["A. Author"],
            disclosure="The machine was **lent**.",
            protocol=plan.protocol,
            matrix=[Matrix(workload="gpt", task="train", size="tiny")],
        ),
        "study_text": 'name = "example"\n',
        "source": "file",
        "plan": plan,
        "machine": machine(),
        "software": software(),
        "sessions": (
            Session(
                argv=("study", "run", "example.toml"),
                launcher="local",
                started_utc="2026-11-28T10:00:00Z",
                ended_utc="2026-11-29T00:10:00Z",
                end="complete",
            ),
        ),
        "status": "complete",
    }
    return Run(**(known | changes))


def failed_record(of: Cell) -> Record:
    """The record of a trial that failed."""
    return Record(
        schema=1,
        method=1,
        trial=f"1-{cell_id(of)}",
        order=9,
        block=1,
        attempt=1,
        cell_id=cell_id(of),
        cell=of,
        seed=1,
        launcher="local",
        started_utc="2026-11-28T10:00:00Z",
        started_ns=1,
        turnaround_ns=1,
        outcome=Failed(
            cause="raised", rank=1, exit_code=1, signal=None, reason="rank 1 raised", log_tail=("boom",)
        ),
        surroundings=Surroundings(foreign_cpu_share=0.0, load_before=0.1),
    )


@dataclass(frozen=True)
class Scene:
    """The three things an article is composed of."""

    run: Run
    records: tuple[Record, ...]
    analysis: Analysis

    def article(self) -> Article:
        return compose(self.run, self.records, self.analysis)

    def material(self) -> Material:
        return Material(run=self.run, records=self.records, analysis=self.analysis)

    def but(self, **changes: Any) -> "Scene":
        """The same scene with another run, with other records or with another analysis."""
        return Scene(**({"run": self.run, "records": self.records, "analysis": self.analysis} | changes))

    def with_run(self, **changes: Any) -> "Scene":
        return self.but(run=msgspec.structs.replace(self.run, **changes))

    def with_analysis(self, **changes: Any) -> "Scene":
        return self.but(analysis=msgspec.structs.replace(self.analysis, **changes))


def everything() -> Scene:
    """Training on one, two and four processes, decoding, a known truth, a failure, and a skipped cell."""
    broken = cell("resnet", "train", "ddp", 2, 16)
    summaries = [
        cell_summary(cell("gpt", "train", "single", 1), 1000.0),
        cell_summary(cell("gpt", "train", "ddp", 2), 1800.0),
        cell_summary(cell("gpt", "train", "ddp", 4), 3000.0),
        cell_summary(cell("gpt", "infer", "single", 1, 1), 250.0, latency=latency()),
        cell_summary(cell("resnet", "train", "single", 1, 16), 60.0),
        cell_summary(broken, None),
        cell_summary(cell("sleep", "check", "single", 1), 100.0),
        cell_summary(cell("sleep", "check", "ddp", 2), 199.0),
    ]
    scaling = [
        series("gpt", "train", "ddp", {1: 1000.0, 2: 1800.0, 4: 3000.0}),
        series("sleep", "check", "ddp", {1: 100.0, 2: 199.0}, truth=2.0),
    ]
    failure = trial(
        broken,
        1,
        None,
        order=99,
        outcome="failed",
        fault="rank 1 raised",
        unknown={"rate": "The trial has no rate."},
    )
    desk = analysis_of(
        summaries,
        scaling,
        findings=(
            finding("two", figure="fig-speedup", trials=(f"1-{cell_id(cell('gpt', 'train', 'ddp', 2))}",)),
            finding("truth", section="checks", table="t-truth", weight=0.1),
            finding("alone", section="one_device", table="t-throughput", weight=0.5, headline=False),
        ),
        rules=(
            RuleOutcome(id="HB1", passed=True, effect="block", detail=""),
            RuleOutcome(id="HB6", passed=False, effect="warn", detail="Few trials were measured."),
        ),
    )
    desk = msgspec.structs.replace(desk, trials=(*desk.trials, failure))
    skipped = (
        SkippedCell(
            id="gpt-tiny.train.ddp.x8.b8",
            cell=cell("gpt", "train", "ddp", 8),
            reason="it needs more devices than there are",
        ),
    )
    return Scene(run(summaries, scaling, skipped=skipped), (failed_record(broken),), desk)


def nothing() -> Scene:
    """A run that was interrupted before any trial was measured."""
    summaries = [cell_summary(cell("gpt", "train", "single", 1), None)]
    made = run(summaries, [], status="partial")
    session = msgspec.structs.replace(made.sessions[0], end="interrupted")
    return Scene(
        msgspec.structs.replace(made, sessions=(session,)),
        (),
        analysis(cells=tuple(summaries), measured_s=0.0, turnaround_s=0.0),
    )


def walk(value: Any) -> Iterator[Any]:
    """Every fact inside a value, the value first."""
    yield value
    if isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from walk(getattr(value, field))
    elif isinstance(value, dict):
        for inner in value.values():
            yield from walk(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from walk(inner)


def spoken(slot: Any) -> str:  # noqa: PLR0911 - one return a kind of slot
    """A slot in plain English, numbers to three digits: good enough to read and to count letters."""
    match slot:
        case Num(value=value, style="percent"):
            return f"{100 * value:.3g}%"
        case Num(value=value):
            return f"{value:.6g}"
        case Est(estimate=held):
            return f"{held.value:.3g}"
        case Name(text=text) | Term(text=text):
            return text
        case Day(iso=iso):
            return iso
        case Listing(items=items):
            return ", ".join(spoken(item) for item in items)
        case Text(count=""):
            return slot.frame.format(**{name: spoken(inner) for name, inner in slot.slots.items()})
        case Text():
            frame = slot.frame if slot.slots[slot.count].value == 1 else slot.plural
            return frame.format(**{name: spoken(inner) for name, inner in slot.slots.items()})
    raise AssertionError(f"not a slot: {slot!r}")


def placeholders(frame: str) -> set[str]:
    """The slots that a frame names."""
    return {name for _, name, _, _ in Formatter().parse(frame) if name is not None}


@pytest.fixture
def make() -> SimpleNamespace:
    """The builders of this file, by name."""
    return SimpleNamespace(
        estimate=estimate,
        exact=exact,
        bare=bare,
        cell=cell,
        cell_id=cell_id,
        cell_summary=cell_summary,
        trial=trial,
        point=point,
        series=series,
        finding=finding,
        latency=latency,
        analysis=analysis,
        analysis_of=analysis_of,
        machine=machine,
        software=software,
        run=run,
        Scene=Scene,
        Skipped=Skipped,
    )


@pytest.fixture
def scene() -> Scene:
    """A run with everything."""
    return everything()


@pytest.fixture
def empty_scene() -> Scene:
    """A run in which nothing was measured."""
    return nothing()


@pytest.fixture
def say() -> Callable[[Any], str]:
    """Turns a slot into plain English."""
    return spoken


@pytest.fixture
def facts_in() -> Callable[[Any], list[Any]]:
    """Every fact inside a value."""
    return lambda value: list(walk(value))


@pytest.fixture
def words_in() -> Callable[[Any], str]:
    """Every sentence inside a value, spoken."""
    return lambda value: "\n".join(spoken(text) for text in walk(value) if isinstance(text, Text))


@pytest.fixture
def slots_named() -> Callable[[str], set[str]]:
    """The placeholders of a frame."""
    return placeholders
