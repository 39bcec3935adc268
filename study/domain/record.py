"""What is stored of an attempt: raw readings and one of six outcomes. Derived numbers are never stored.

History of the record format (`schema`):
  1  first version.

History of the way of measuring (`method`): readings of different methods are not compared.
  1  window of fixed work between two barriers; step ends marked on the device; host clock at both ends.
  2  ranks bound to CPUs; a launch waits for memory to be back; the window opens after compilation,
     growth of the allocator and rebuilt buckets.
"""

from collections.abc import Sequence
from typing import Literal

from study.domain.fact import Fact
from study.domain.telemetry import Sample
from study.domain.trial import Cell

SCHEMA = 1
METHOD = 2

MOST_EXTRA_ROUNDS = 20
"""So many rounds of steps a warm-up goes on at most, until one passed without an event."""

DEVICE_MEMORY_TOLERANCE_BYTES = 256 * 2**20
"""So much more memory in use than before the first trial is somebody's: a CUDA context alone takes more."""


class Numerics(Fact, frozen=True, kw_only=True):
    """The settings that decide how numbers are rounded; null where the accelerator has no such switch."""

    matmul_tf32: bool | None
    convolution_tf32: bool | None
    reduced_precision_accumulation: bool | None
    deterministic: bool
    unknown: dict[str, str] = {}


class CountedEvent(Fact, frozen=True, kw_only=True):
    """What a rank should have behind it when its window opens, and how often it happened before and inside.

    `name` is one of: compilation, memory growth, memory retry, bucket rebuild.
    """

    name: str
    warmup: int
    window: int


class Preheat(Fact, frozen=True, kw_only=True):
    """How long a rank ran its own load between warm-up and window, and how that ended.

    `off`: the study asks for none. `level`: the temperature moved by less than the limit. `limit`: the time
    was over before. `no_sensor`: this rank could not tell; it ran on only with ranks that could.
    """

    seconds: float
    ended: Literal["off", "level", "limit", "no_sensor"]


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
    over ranks is the model's work per step, without what recomputation repeats. `cpus` are those
    that its threads could run on, read back after the window, and `numa_nodes` the nodes of these; `pinned`
    says whether they are those that it was bound to, and where it was bound to none, `not_pinned` says why.
    `events` are counted before the window and in it. `environment` holds the variables that change how
    libraries compute. Temperatures are the device's, at both ends of the window.
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
    cpus: tuple[int, ...] | None = None
    numa_nodes: tuple[int, ...] | None = None
    pinned: bool | None = None
    not_pinned: str = ""
    events: tuple[CountedEvent, ...] = ()
    preheat: Preheat | None = None
    temperature_start_c: float | None = None
    temperature_end_c: float | None = None
    environment: dict[str, str] = {}
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
    """A rank failed first. `cause`: it raised, was killed by a signal, exited, or its result is invalid.

    `launch` is no fact about the cell: the ranks could not be started, or found a port taken when they met.
    """

    cause: Literal["raised", "signal", "exit", "invalid", "launch"]
    rank: int | None
    exit_code: int | None
    signal: str | None
    reason: str
    log_tail: tuple[str, ...]


class TimedOut(Fact, frozen=True, kw_only=True, tag_field="kind", tag="timed_out"):
    """The trial was ended at its time limit; `waiting` are the ranks that had not finished.

    `silent_s`: it was ended before its limit, because in the timed window the ranks in `waiting` made no
    step for that long.
    """

    limit_s: float
    waiting: tuple[int, ...]
    log_tail: tuple[str, ...]
    silent_s: float | None = None


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
    """What else went on: share of the machine's CPU time used by others while the ranks lived, load.

    `waited_s` was waited before the launch for memory of devices and host to come back to what it was before
    the session's first trial; `not_back` names what had not. `device_memory_used_bytes` and `.._base_bytes`
    are those before the launch and before the first trial, one a device of the trial, in order of ranks.
    `foreign_processes` were on these devices, `foreign_processes_elsewhere` on the machine's others: the
    larger number of two looks, before the launch and after it.
    """

    foreign_cpu_share: float | None
    load_before: float | None
    waited_s: float | None = None
    not_back: tuple[Literal["device_memory", "host_memory"], ...] = ()
    memory_available_bytes: int | None = None
    device_memory_used_bytes: tuple[int, ...] | None = None
    device_memory_base_bytes: tuple[int, ...] | None = None
    foreign_processes: int | None = None
    foreign_processes_elsewhere: int | None = None
    unknown: dict[str, str] = {}


def memory_was_in_use(surroundings: Surroundings) -> bool:
    """Whether more memory of the trial's devices was in use before the launch than before the first trial."""
    used, base = surroundings.device_memory_used_bytes, surroundings.device_memory_base_bytes
    pairs = zip(used or (), base or (), strict=False)
    return any(now - was > DEVICE_MEMORY_TOLERANCE_BYTES for now, was in pairs)


class Record(Fact, frozen=True, kw_only=True):
    """One attempt of one trial. Written once, never rewritten.

    `turnaround_ns` is from the request to launch until the last process is gone. `content_sha256`
    covers the record with this field empty, as canonical JSON. `session` counts the run's sessions from 1;
    within one, `started_ns` is the order in time, whatever was done to the date meanwhile. `role` is the
    trial's: an attempt of the sentinel is no sample of its cell.
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
    session: int | None = None
    role: Literal["cell", "sentinel"] = "cell"
    content_sha256: str = ""


class RankError(Fact, frozen=True, kw_only=True):
    """What a rank writes when it fails: the joint between worker and lab; the record keeps its gist.

    `secondary` marks the echo of another rank's failure (connection closed, timed out waiting). `launch`
    says that the ranks could not meet, for a reason outside the cell, such as a port that was taken.
    """

    rank: int
    time_ns: int
    kind: Literal["out_of_memory", "raised", "invalid", "launch"]
    secondary: bool
    message: str
    trace: tuple[str, ...]


FINAL = (Measured, OutOfMemory, Failed, TimedOut, Skipped)
"""Outcomes after which a trial is not run again on resume, but for a first failed launch."""


def failed_to_launch(outcome: Outcome) -> bool:
    """Whether an attempt came to nothing for a reason that is no fact about the cell."""
    return isinstance(outcome, Failed) and outcome.cause == "launch"


def is_settled(outcomes: Sequence[Outcome]) -> bool:
    """Whether a trial with these attempts, in their order, is not to be run again.

    A first failed launch is followed by another attempt; a second one is final.
    """
    newest = outcomes[-1]
    if failed_to_launch(newest):
        return sum(failed_to_launch(outcome) for outcome in outcomes) > 1
    return isinstance(newest, FINAL)
