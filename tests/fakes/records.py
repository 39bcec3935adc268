"""Complete runs with their records, made of stated truths and a seed, without measuring anything.

    run, records = fake_run()                         a study like `quick`: strong, weak, inference, a check
    run, records = fake_run(truths=[...], blocks=3)   any other cells

Every trial's rate is the truth of its cell, times exp(N(0, cv)), times the drift of its block.
"""

import hashlib
import itertools
import math
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from study.domain.fact import Fact, Level
from study.domain.machine import Device, Machine, Software
from study.domain.record import (
    METHOD,
    SCHEMA,
    Failed,
    Interrupted,
    Measured,
    Numerics,
    OutOfMemory,
    Reading,
    Record,
    Skipped,
    Surroundings,
    TimedOut,
)
from study.domain.run import RUN_SCHEMA, Run, Session, State
from study.domain.study import Matrix, Protocol, Scaling, Study
from study.domain.trial import Cell, Plan, PlannedCell, PlannedTrial, Series, SkippedCell

BEGIN = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DECODE_TOKENS = 16


class Truth(Fact, frozen=True, kw_only=True):
    """One cell and what is true of it: units of work a second, and how much trials spread (cv)."""

    cell: Cell
    scaling: Scaling
    rate: float
    unit: str
    work_per_sample: int = 1
    cv: float = 0.004


def cell(workload: str = "gpt", **changes: Any) -> Cell:
    """A cell of gpt tiny, training on one cpu rank, with some fields changed."""
    fields: dict[str, Any] = {
        "workload": workload,
        "size": "tiny",
        "task": "train",
        "strategy": "single",
        "accelerator": "cpu",
        "devices": 1,
        "precision": "fp32",
        "batch": 8,
        "threads_per_device": 1,
    }
    return Cell(**{**fields, **changes})


def cell_id(of: Cell) -> str:
    """A readable id with a digest, in the manner of the planner."""
    digest = hashlib.sha256(msgspec.json.encode(of, order="sorted")).hexdigest()[:8]
    variant = f".{of.variant}" if of.variant else ""
    return (
        f"{of.workload}-{of.size}.{of.task}.{of.strategy}.x{of.devices}.{of.precision}.b{of.batch}"
        f"{variant}-{digest}"
    )


def quick_truths(cv: float = 0.004) -> tuple[Truth, ...]:
    """A study like `quick` on two devices; the speed-ups are 1.62, 1.90, 1.85, 1.40 and Amdahl's."""
    sequence: dict[str, Level] = {"sequence": 64}
    decode: dict[str, Level] = {"generate": DECODE_TOKENS, "prompt": 32}
    asleep: dict[str, Level] = {"jitter": 0.01, "serial_share": 0.1, "step_ms": 20.0}
    gpt, infer = cell(options=sequence), cell(task="infer", batch=4, options=decode)
    plain: dict[str, Level] = {"image": 0}
    resnet = cell("resnet", batch=16, options=plain)
    images = cell("resnet", task="infer", batch=32, options=plain)
    sleep = cell("sleep", size="amdahl", task="check", options=asleep)

    def truth(of: Cell, scaling: Scaling, rate: float, unit: str, per: int = 1, **on: Any) -> Truth:
        there = msgspec.structs.replace(of, **on)
        return Truth(cell=there, scaling=scaling, rate=rate, unit=unit, work_per_sample=per, cv=cv)

    two = {"strategy": "ddp", "devices": 2}
    return (
        truth(gpt, "strong", 4000.0, "tokens", 64),
        truth(gpt, "strong", 3880.0, "tokens", 64, strategy="ddp"),
        truth(gpt, "strong", 6480.0, "tokens", 64, **two),
        truth(resnet, "weak", 120.0, "images"),
        truth(resnet, "weak", 228.0, "images", batch=32, **two),
        truth(infer, "weak", 800.0, "tokens", DECODE_TOKENS),
        truth(infer, "weak", 1480.0, "tokens", DECODE_TOKENS, batch=8, **two),
        truth(images, "strong", 400.0, "images"),
        truth(images, "strong", 560.0, "images", **two),
        truth(sleep, "strong", 400.0, "items"),
        truth(sleep, "strong", 400.0 / (0.1 + 0.9 / 2), "items", **two),
    )


def fake_run(
    *,
    truths: Sequence[Truth] | None = None,
    blocks: int = 5,
    seed: int = 1,
    cv: float = 0.004,
    steps: int = 20,
    margin: float = 0.02,
    cores: int = 2,
    drift: Callable[[int], float] = lambda block: 1.0,
    rates: Mapping[str, Sequence[float]] | None = None,
    foreign_cpu_share: float | None = 0.02,
    accelerator: str = "cpu",
    devices_present: int = 2,
    skipped: Sequence[SkippedCell] = (),
    sentinel: Truth | None = None,
) -> tuple[Run, tuple[Record, ...]]:
    """A complete run of `truths` (else of `quick_truths(cv)`) and one measured record a trial.

    `drift` maps a block to the factor on all rates in it. `rates` states the rates of some cells outright, by
    cell id, one a block. `cores` decides which cells are oversubscribed. `sentinel` is first and last in each
    block.
    """
    truths = tuple(truths) if truths is not None else quick_truths(cv)
    chance, stated = random.Random(seed), rates or {}
    protocol = Protocol(blocks=blocks, margin=margin, seed=seed)
    ids = [cell_id(truth.cell) for truth in truths]
    plan = Plan(
        digest=hashlib.sha256(repr((ids, protocol)).encode()).hexdigest(),
        seed=seed,
        accelerator=accelerator,
        devices_present=devices_present,
        cores_present=cores,
        protocol=protocol,
        cells=tuple(_planned(truth, cores) for truth in truths),
        skipped=tuple(skipped),
        series=tuple(series_of(truths)),
        trials=tuple(_order(ids, blocks, chance, cell_id(sentinel.cell) if sentinel else None)),
        predicted_s=5.0 * (len(ids) + (2 if sentinel else 0)) * blocks,
        sentinel=_planned(sentinel, cores) if sentinel else None,
    )
    by_id = {cell_id(truth.cell): truth for truth in truths}

    def truth_of(trial: PlannedTrial) -> Truth:
        return sentinel if sentinel and trial.role == "sentinel" else by_id[trial.cell_id]

    records = tuple(
        measured(
            trial,
            truth_of(trial),
            rate=(
                stated[trial.cell_id][trial.block - 1]
                if trial.cell_id in stated and trial.role == "cell"
                else truth_of(trial).rate
                * math.exp(chance.gauss(0.0, truth_of(trial).cv))
                * drift(trial.block)
            ),
            chance=chance,
            steps=steps,
            foreign_cpu_share=foreign_cpu_share,
        )
        for trial in plan.trials
    )
    return _run(plan, truths), records


def edited(
    run: Run, records: Sequence[Record], later: Collection[str], *, since: str = "2026-01-05T12:00:00Z"
) -> tuple[Run, tuple[Record, ...]]:
    """The same run, had the cells `later` come with an edit of the study file, in blocks of their own."""
    last = max(trial.order for trial in run.plan.trials)
    blocks = run.plan.protocol.blocks
    moved, began = {}, datetime.fromisoformat(since)
    for trial in run.plan.trials:
        if trial.cell_id in later:
            order = last + trial.order
            name = f"{order:04d}-{trial.cell_id}"
            changes = {"order": order, "block": blocks + trial.block}
            moved[trial.id] = msgspec.structs.replace(trial, id=name, **changes)
    trials = sorted((moved.get(t.id, t) for t in run.plan.trials), key=lambda t: t.order)
    plan = msgspec.structs.replace(run.plan, trials=tuple(trials))
    states = tuple(
        State(since_utc=at, first_order=order, plan_digest=plan.digest, study_text=run.study_text)
        for at, order in ((run.sessions[0].started_utc, 1), (since, last + 1))
    )
    found = [
        msgspec.structs.replace(
            record,
            trial=moved[record.trial].id,
            order=moved[record.trial].order,
            block=moved[record.trial].block,
            started_ns=record.started_ns + 10**12,
            started_utc=f"{began + timedelta(seconds=record.order):%Y-%m-%dT%H:%M:%SZ}",
        )
        if record.trial in moved
        else record
        for record in records
    ]
    return msgspec.structs.replace(run, plan=plan, states=states), tuple(found)


def _planned(truth: Truth, cores: int) -> PlannedCell:
    return PlannedCell(
        id=cell_id(truth.cell),
        cell=truth.cell,
        predicted_s=5.0,
        predicted_memory_bytes=None,
        oversubscribed=truth.cell.devices * truth.cell.threads_per_device > cores,
        unknown={"predicted_memory_bytes": "memory is not predicted for this workload"},
    )


def series_of(truths: Sequence[Truth]) -> list[Series]:
    """The series among these cells, based on `single` at the same batch level, as the planner does it."""
    groups: dict[tuple[str, bytes], list[Cell]] = defaultdict(list)
    for truth in truths:
        groups[truth.scaling, _shared(truth.cell, truth.scaling)].append(truth.cell)
    found = []
    for (scaling, _), cells in groups.items():
        for strategy in dict.fromkeys(c.strategy for c in cells if c.strategy != "single"):
            own = next((c for c in cells if c.strategy == strategy and c.devices == 1), None)
            base = next((c for c in cells if c.strategy == "single" and c.devices == 1), own)
            more = sorted((c for c in cells if c.strategy == strategy and c.devices > 1), key=_devices)
            members = [*([base] if base else []), *more]
            if len(members) < 2:
                continue
            unknown = {} if base else {"base": "the study has no cell on one device with this batch"}
            if own is None:
                unknown["own_base"] = "the study does not run this strategy on one device with this batch"
            last = members[-1]
            level = last.batch if scaling == "strong" else last.batch // last.devices
            digest = hashlib.sha256(_shared(last, scaling)).hexdigest()[:8]
            found.append(
                Series(
                    key=(
                        f"{last.workload}-{last.size}.{last.task}.{strategy}.{last.precision}"
                        f".{scaling}{level}-{digest}"
                    ),
                    scaling=scaling,
                    strategy=strategy,
                    members=tuple(cell_id(c) for c in members),
                    base=cell_id(base) if base else None,
                    own_base=cell_id(own) if own else None,
                    unknown=unknown,
                )
            )
    return found


def measured(
    trial: PlannedTrial,
    truth: Truth,
    *,
    rate: float,
    chance: random.Random,
    steps: int = 20,
    foreign_cpu_share: float | None = 0.02,
) -> Record:
    """The record of one trial that ran at exactly `rate` (to a nanosecond of its window)."""
    of = truth.cell
    work = steps * of.batch * truth.work_per_sample
    wall_ns = round(work / rate * 1e9)
    start_ns = 1_000_000_000 * 10 * trial.order
    pattern = [math.exp(chance.gauss(0.0, 0.02)) for _ in range(steps)]
    readings = tuple(
        _reading(truth, rank, start_ns=start_ns, wall_ns=wall_ns, work=work, pattern=pattern, chance=chance)
        for rank in range(of.devices)
    )
    started = BEGIN + timedelta(seconds=10 * trial.order)
    return Record(
        schema=SCHEMA,
        method=METHOD,
        trial=trial.id,
        order=trial.order,
        block=trial.block,
        attempt=1,
        cell_id=trial.cell_id,
        cell=of,
        seed=trial.seed,
        role=trial.role,
        launcher="local",
        started_utc=started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        started_ns=start_ns - 2_000_000_000,
        turnaround_ns=wall_ns + 3_000_000_000,
        outcome=Measured(readings=readings),
        surroundings=Surroundings(
            foreign_cpu_share=foreign_cpu_share,
            load_before=0.3,
            waited_s=0.0,
            memory_available_bytes=12 * 2**30,
            foreign_processes=0,
            foreign_processes_elsewhere=0,
            unknown=dict.fromkeys(
                ("device_memory_used_bytes", "device_memory_base_bytes"), "a cpu rank has none"
            )
            | ({} if foreign_cpu_share is not None else {"foreign_cpu_share": "psutil could not read it"}),
        ),
    )


def of_sentinel(record: Record) -> bool:
    """Whether it is an attempt of the sentinel."""
    return record.role == "sentinel"


def slowed(records: Sequence[Record], share: float, which: Callable[[Record], bool]) -> tuple[Record, ...]:
    """These records, those of `which` ever slower: by `share` from the first start of all to the last."""
    first, last = records[0].started_ns, records[-1].started_ns

    def one(record: Record) -> Record:
        if not which(record) or not isinstance(record.outcome, Measured):
            return record
        factor = (1 + share) ** ((record.started_ns - first) / (last - first))
        readings = tuple(
            msgspec.structs.replace(
                r, window_end_ns=r.window_start_ns + round((r.window_end_ns - r.window_start_ns) / factor)
            )
            for r in record.outcome.readings
        )
        return msgspec.structs.replace(record, outcome=Measured(readings=readings))

    return tuple(one(record) for record in records)


def failed(record: Record, reason: str = "RuntimeError: the loss is not finite") -> Record:
    """The same attempt, had rank 0 raised."""
    outcome = Failed(cause="raised", rank=0, exit_code=1, signal=None, reason=reason, log_tail=(reason,))
    return msgspec.structs.replace(record, outcome=outcome)


def out_of_memory(record: Record, evidence: str = "CUDA out of memory") -> Record:
    """The same attempt, had it run out of memory."""
    return msgspec.structs.replace(
        record, outcome=OutOfMemory(rank=0, evidence=evidence, log_tail=(evidence,))
    )


def timed_out(record: Record) -> Record:
    """The same attempt, had it not ended in time."""
    return msgspec.structs.replace(record, outcome=TimedOut(limit_s=60.0, waiting=(0,), log_tail=()))


def hung(record: Record) -> Record:
    """The same attempt, had a rank stopped to step."""
    outcome = TimedOut(limit_s=60.0, waiting=(1,), log_tail=(), silent_s=10.1)
    return msgspec.structs.replace(record, outcome=outcome)


def skipped(record: Record, reason: str = "A larger batch ran out of memory.") -> Record:
    """The same attempt, had nothing been launched."""
    return msgspec.structs.replace(record, outcome=Skipped(reason=reason))


def interrupted(record: Record) -> Record:
    """The same attempt, had the person stopped the run."""
    return msgspec.structs.replace(record, outcome=Interrupted(by="SIGINT"))


def _reading(
    truth: Truth,
    rank: int,
    *,
    start_ns: int,
    wall_ns: int,
    work: int,
    pattern: Sequence[float],
    chance: random.Random,
) -> Reading:
    """One rank: rank 0 opens first and closes last, the others lie inside its window."""
    of = truth.cell
    inside_ns = 2_000 * rank
    own_ns = wall_ns - 2 * inside_ns
    step_ns = _shares(own_ns, pattern, chance)
    share = work // of.devices + (work % of.devices if rank == 0 else 0)
    decodes = of.task == "infer" and truth.unit == "tokens"
    trains = of.task == "train"
    return Reading(
        rank=rank,
        device="cpu" if of.accelerator == "cpu" else f"{of.accelerator}:{rank}",
        threads=of.threads_per_device,
        start_method="spawn",
        window_start_ns=start_ns + inside_ns,
        window_end_ns=start_ns + inside_ns + own_ns,
        warmup_step_ns=tuple(round(1.3 * step) for step in step_ns[:3]),
        step_ns=step_ns,
        work=share,
        work_unit=truth.unit,
        loss_first=5.0 if trains else None,
        loss=tuple(4.9 - 0.01 * step for step in range(len(pattern))) if trains else (),
        first_token_ns=tuple(step // 4 for step in step_ns) if decodes else (),
        token_ns=tuple((step - step // 4) // (DECODE_TOKENS - 1) for step in step_ns) if decodes else (),
        parameters=None if of.workload == "sleep" else 120_000,
        peak_memory_bytes=None if of.accelerator == "cpu" else 2_000_000_000,
        cpu_ns=int(own_ns * 0.95),
        numerics=Numerics(
            matmul_tf32=None,
            convolution_tf32=None,
            reduced_precision_accumulation=None,
            deterministic=False,
            unknown=dict.fromkeys(
                ("matmul_tf32", "convolution_tf32", "reduced_precision_accumulation"),
                "the cpu has no such switch",
            ),
        ),
        unknown={
            **({} if trains else {"loss_first": "nothing is trained"}),
            "model_flops_per_step": "the workload does not count its operations",
            **({"parameters": "the workload has no model"} if of.workload == "sleep" else {}),
            **({"peak_memory_bytes": "not counted on cpu"} if of.accelerator == "cpu" else {}),
            **dict.fromkeys(("cpus", "numa_nodes", "pinned"), "nothing was bound"),
            **dict.fromkeys(("temperature_start_c", "temperature_end_c"), "no device tells its temperature"),
            "preheat": "the study asks for none",
        },
    )


def _shares(total_ns: int, pattern: Sequence[float], chance: random.Random) -> tuple[int, ...]:
    """`total_ns` cut into steps after the pattern that the ranks share, with a little of their own."""
    weights = [each * math.exp(chance.gauss(0.0, 0.0002)) for each in pattern]
    sums = list(itertools.accumulate(weights))
    cuts = [round(total_ns * each / sums[-1]) for each in sums]
    return tuple(after - before for before, after in zip([0, *cuts], cuts, strict=False))


def _order(
    ids: Sequence[str], blocks: int, chance: random.Random, sentinel: str | None = None
) -> list[PlannedTrial]:
    trials: list[PlannedTrial] = []
    for block in range(1, blocks + 1):
        shuffled = sorted(ids)
        chance.shuffle(shuffled)
        watch = [(sentinel, "sentinel")] if sentinel else []
        for each, role in (*watch, *((one, "cell") for one in shuffled), *watch):
            order = len(trials) + 1
            trials.append(
                PlannedTrial(
                    id=f"{order:04d}-{each}",
                    order=order,
                    block=block,
                    cell_id=each,
                    seed=chance.getrandbits(32),
                    role=role,
                )
            )
    return trials


def _devices(of: Cell) -> int:
    return of.devices


def _shared(of: Cell, scaling: str) -> bytes:
    """What all cells of a series share: everything but strategy and devices, the batch as its level."""
    batch = of.batch if scaling == "strong" else of.batch // of.devices
    alike = msgspec.structs.replace(of, strategy="", devices=1, batch=batch)
    return msgspec.json.encode(alike, order="sorted")


def _run(plan: Plan, truths: Sequence[Truth]) -> Run:
    matrix = [
        Matrix(
            workload=truth.cell.workload,
            task=truth.cell.task,
            size=truth.cell.size,
            strategy=truth.cell.strategy,
            devices=truth.cell.devices,
            scaling=truth.scaling,
            batch=truth.cell.batch if truth.scaling == "strong" else truth.cell.batch // truth.cell.devices,
            precision=truth.cell.precision,
            variant=truth.cell.variant,
            threads_per_device=truth.cell.threads_per_device,
            options=dict(truth.cell.options),
        )
        for truth in truths
    ]
    study = Study(
        name="fake-quick",
        title="One device, then two: what this machine gives",
        question="How do training and inference throughput change when the same work gets more devices?",
        authors=["A. Nonymous"],
        protocol=plan.protocol,
        matrix=matrix,
    )
    end = BEGIN + timedelta(seconds=10 * (len(plan.trials) + 1))
    return Run(
        schema=RUN_SCHEMA,
        id="20260105T090000Z-fake-cpu-2-cores",
        study=study,
        study_text='name = "fake-quick"\ntitle = "One device, then two: what this machine gives"\n',
        source="file",
        plan=plan,
        machine=_machine(plan),
        software=Software(
            study="0.1.0",
            python="3.12.1",
            torch="2.9.0",
            torch_git=None,
            cuda=None,
            cudnn=None,
            nccl=None,
            driver=None,
            packages={"numpy": "2.3.4", "torch": "2.9.0"},
            study_commit="0123456789abcdef0123456789abcdef01234567",
            study_dirty=False,
            measuring_sha256="0" * 64,
            unknown=dict.fromkeys(
                ("torch_git", "cuda", "cudnn", "nccl", "driver"), "this torch is built for the cpu"
            ),
        ),
        sessions=(
            Session(
                argv=("study", "run", "fake-quick"),
                launcher="local",
                started_utc=BEGIN.strftime("%Y-%m-%dT%H:%M:%SZ"),
                ended_utc=end.strftime("%Y-%m-%dT%H:%M:%SZ"),
                end="complete",
            ),
        ),
        status="complete",
    )


def _machine(plan: Plan) -> Machine:
    return Machine(
        slug="fake-cpu-2-cores",
        cpu_model="Fake CPU",
        sockets=1,
        cores=plan.cores_present,
        logical_cpus=plan.cores_present,
        usable_cpus=plan.cores_present,
        memory_bytes=8 * 2**30,
        governor=None,
        virtualisation=None,
        container=None,
        os="Debian GNU/Linux 13",
        kernel="6.12.0",
        architecture="x86_64",
        devices=tuple(
            Device(
                index=index,
                name="Fake CPU",
                memory_bytes=None,
                power_limit_w=None,
                vbios=None,
                unknown=dict.fromkeys(("memory_bytes", "power_limit_w", "vbios"), "a cpu rank has none"),
            )
            for index in range(plan.devices_present)
        ),
        unknown={
            "governor": "the kernel does not offer it",
            "virtualisation": "none was detected",
            "numa_nodes": "the system does not tell its NUMA nodes",
            "container": "none was detected",
        },
    )
