"""What is stored of an attempt: raw readings and one of six outcomes. Derived numbers are never stored.

History of the record format (`schema`):
  1  first version.

History of the way of measuring (`method`): readings of different methods are not compared.
  1  window of fixed work between two barriers; step ends marked on the device; host clock at both ends.
"""

from typing import Literal

from study.domain.fact import Fact
from study.domain.telemetry import Sample
from study.domain.trial import Cell

SCHEMA = 1
METHOD = 1


class Numerics(Fact, frozen=True, kw_only=True):
    """The settings that decide how numbers are rounded; null where the accelerator has no such switch."""

    matmul_tf32: bool | None
    convolution_tf32: bool | None
    reduced_precision_accumulation: bool | None
    deterministic: bool
    unknown: dict[str, str] = {}


class Reading(Fact, frozen=True, kw_only=True):
    """What one rank measured.

    Times are nanoseconds of this host's monotonic clock (`time.perf_counter_ns`): `window_start_ns`
    is read after the opening barrier and a device synchronise, `window_end_ns` after the last step
    and a device synchronise. `step_ns[i]` is the time from the end of step i-1 (or the start of the
    window) to the end of step i on the device. `work` counts this rank's units in the window.
    `loss` has one value per window step (training only), `loss_first` the first warm-up step's.
    `first_token_ns` and `token_ns` have one value per step (decoding only): time to the first token,
    and mean time per later token. `peak_memory_bytes` is over warm-up and window. `model_flops_per_step`
    are the model's floating-point operations in one step, of the samples that this rank counts: the sum
    over ranks is the model's work per step, without what recomputation repeats.
    """

    rank: int
    device: str
    threads: int
    start_method: str
    window_start_ns: int
    window_end_ns: int
    warmup_step_ns: tuple[int, ...]
    step_ns: tuple[int, ...]
    work: int
    work_unit: str
    loss_first: float | None
    loss: tuple[float, ...]
    first_token_ns: tuple[int, ...]
    token_ns: tuple[int, ...]
    parameters: int | None
    peak_memory_bytes: int | None
    cpu_ns: int
    numerics: Numerics
    model_flops_per_step: int | None = None
    unknown: dict[str, str] = {}


class Measured(Fact, frozen=True, kw_only=True, tag_field="kind", tag="measured"):
    """Every rank came back with a reading that passed the checks."""

    readings: tuple[Reading, ...]


class OutOfMemory(Fact, frozen=True, kw_only=True, tag_field="kind", tag="out_of_memory"):
    """A rank ran out of memory; `evidence` is the message or signal that says so."""

    rank: int | None
    evidence: str
    log_tail: tuple[str, ...]


class Failed(Fact, frozen=True, kw_only=True, tag_field="kind", tag="failed"):
    """A rank failed first. `cause`: it raised, was killed by a signal, exited, or its result is invalid."""

    cause: Literal["raised", "signal", "exit", "invalid", "launch"]
    rank: int | None
    exit_code: int | None
    signal: str | None
    reason: str
    log_tail: tuple[str, ...]


class TimedOut(Fact, frozen=True, kw_only=True, tag_field="kind", tag="timed_out"):
    """The trial was ended at its time limit; `waiting` are the ranks that had not finished."""

    limit_s: float
    waiting: tuple[int, ...]
    log_tail: tuple[str, ...]


class Skipped(Fact, frozen=True, kw_only=True, tag_field="kind", tag="skipped"):
    """Nothing was launched; the sentence says why."""

    reason: str


class Interrupted(Fact, frozen=True, kw_only=True, tag_field="kind", tag="interrupted"):
    """The person or the system stopped the run during this attempt; it is run again on resume."""

    by: str


Outcome = Measured | OutOfMemory | Failed | TimedOut | Skipped | Interrupted


class KnobReading(Fact, frozen=True, kw_only=True):
    """A setting that was changed: what was asked, what was read back, and what it was put back to."""

    name: str
    target: str
    asked: str
    before: str | None
    read_back: str | None
    restored: str | None
    unknown: dict[str, str] = {}


class Surroundings(Fact, frozen=True, kw_only=True):
    """What else went on: share of the machine's CPU time used by others while the ranks lived, load."""

    foreign_cpu_share: float | None
    load_before: float | None
    unknown: dict[str, str] = {}


class Record(Fact, frozen=True, kw_only=True):
    """One attempt of one trial. Written once, never rewritten.

    `turnaround_ns` is from the request to launch until the last process is gone. `content_sha256`
    covers the record with this field empty, as canonical JSON.
    """

    schema: int
    method: int
    trial: str
    order: int
    block: int
    attempt: int
    cell_id: str
    cell: Cell
    seed: int
    launcher: str
    started_utc: str
    started_ns: int
    turnaround_ns: int
    outcome: Outcome
    surroundings: Surroundings
    knobs: tuple[KnobReading, ...] = ()
    telemetry: tuple[Sample, ...] = ()
    content_sha256: str = ""


class RankError(Fact, frozen=True, kw_only=True):
    """What a rank writes when it fails: the joint between worker and lab; the record keeps its gist.

    `secondary` marks the echo of another rank's failure (connection closed, timed out waiting).
    """

    rank: int
    time_ns: int
    kind: Literal["out_of_memory", "raised", "invalid"]
    secondary: bool
    message: str
    trace: tuple[str, ...]


FINAL = (Measured, OutOfMemory, Failed, TimedOut, Skipped)
"""Outcomes after which a trial is not run again on resume."""
