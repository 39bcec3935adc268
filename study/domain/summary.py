"""What the desk makes of the records: numbers per trial, per cell and per series, with doubt."""

from typing import Literal

from study.domain.estimate import Estimate
from study.domain.fact import Fact
from study.domain.finding import Finding
from study.domain.steadiness import CellSteadiness, Steadiness
from study.domain.trial import Cell, Series
from study.domain.verdict import Verdict


class TrialSummary(Fact, frozen=True, kw_only=True):
    """One trial's numbers. `rate` is work over wall time of the window, all ranks; null if not measured.

    The wall time is from the first rank's start to the last rank's end. `step_ns[i]` is the slowest
    rank's step i; of replicas that answer independently of one another, it is rank 0's, which stands
    for all, and there is no imbalance. `fault` is the sentence for a trial without a rate. `window_events`
    are the names of what happened in the window of any rank and should have been over by then.
    """

    trial: str
    cell_id: str
    order: int
    block: int
    attempt: int
    outcome: Literal["measured", "out_of_memory", "failed", "timed_out", "skipped", "interrupted", "excluded"]
    started_utc: str
    rate: float | None
    wall_s: float | None
    work: int | None
    step_ns: tuple[int, ...]
    warmup_step_ns: tuple[int, ...]
    imbalance: float | None
    foreign_cpu_share: float | None
    fault: str
    steadiness: Steadiness | None = None
    window_events: tuple[str, ...] = ()
    unknown: dict[str, str] = {}


class Latency(Fact, frozen=True, kw_only=True):
    """Decoding latency in seconds, of batches of requests: percentiles per trial, t interval over trials.

    A request is one step: that of the slowest rank where all answer together, each rank's own where
    they are independent replicas. `requests` counts them over all trials. p90 and p99 are null where
    a trial has too few.
    """

    first_token_s: Estimate
    token_s: Estimate
    request_p50_s: Estimate
    request_p90_s: Estimate | None
    request_p99_s: Estimate | None
    requests: int
    unknown: dict[str, str] = {}


class CellSummary(Fact, frozen=True, kw_only=True):
    """One cell's numbers over its trials. `rate` is total work over total time.

    `geometric_mean` is that of the trials' rates, the centre of the interval; `means_differ` says that
    the two are more than a thousandth apart, so that both should be shown. Mean and median step are over
    the steps that something waits for: the slowest rank's, or every rank's of independent replicas.
    `mfu` is the share of the device's peak rate that the model's own operations used, `mfu_of_ceiling`
    that of the best matrix products measured in this run. `bandwidth_gb_s` is known of workloads that
    measure one: of each device's memory, read and written, or the bus bandwidth of an exchange.
    """

    cell_id: str
    cell: Cell
    label: str
    unit: str
    rate: Estimate | None
    geometric_mean: float | None
    means_differ: bool
    step_mean_s: float | None
    step_median_s: float | None
    latency: Latency | None
    oversubscribed: bool
    measured: int
    planned: int
    trials: tuple[str, ...]
    parameters: int | None
    steadiness: CellSteadiness | None = None
    tflops_per_device: Estimate | None = None
    mfu: Estimate | None = None
    mfu_of_ceiling: Estimate | None = None
    bandwidth_gb_s: Estimate | None = None
    unknown: dict[str, str] = {}


class SeriesPoint(Fact, frozen=True, kw_only=True):
    """One device count of a series.

    `speedup` is against the best single-device version, `own_speedup` against the same code at one
    device. `overhead` is 1 - efficiency (weak scaling), `karp_flatt` the experimentally determined
    serial fraction (strong scaling); both null at one device. `truth` is the true speed-up where it
    is known by construction.
    """

    devices: int
    cell_id: str
    rate: Estimate | None
    speedup: Estimate | None
    efficiency: Estimate | None
    own_speedup: Estimate | None
    karp_flatt: Estimate | None
    overhead: Estimate | None
    verdict: Verdict | None
    oversubscribed: bool
    truth: float | None
    unknown: dict[str, str] = {}


class SeriesSummary(Fact, frozen=True, kw_only=True):
    """A series with its points. `label` is short, for charts: "gpt tiny, training"."""

    series: Series
    label: str
    workload: str
    size: str
    task: str
    unit: str
    base_rate: Estimate | None
    wrapper_cost: Estimate | None
    points: tuple[SeriesPoint, ...]
    unknown: dict[str, str] = {}


class Comparison(Fact, frozen=True, kw_only=True):
    """Two cells that differ in one factor, and the verdict."""

    key: str
    factor: str
    level_a: str
    level_b: str
    cell_a: str
    cell_b: str
    verdict: Verdict


class SentinelPoint(Fact, frozen=True, kw_only=True):
    """One measured trial of the sentinel.

    `start_s` is counted from the first trial of its session. `residual` is the log of its rate less the mean
    of all such logs of the run: about its share above the mean.
    """

    trial: str
    order: int
    block: int
    session: int
    place: Literal["first", "last"]
    start_s: float | None
    residual: float
    unknown: dict[str, str] = {}


class SentinelSession(Fact, frozen=True, kw_only=True):
    """The sentinel's rate in one session: that by which the machine is known again in another one."""

    session: int
    rate: Estimate


class SentinelSummary(Fact, frozen=True, kw_only=True):
    """What the sentinel saw of the machine; its trials are samples of no cell.

    `drift` is by which share its rate changed from its first to its last trial of the session that
    `Analysis.drift` is about; `within_blocks` by which share the last trial of a block differs from the
    first. `spread` is the standard deviation of the logs about the mean of their session. `unit` is the unit
    of its work; `trials` are all that have a record, `points` those measured.
    """

    cell_id: str
    cell: Cell
    unit: str
    planned: int
    trials: tuple[TrialSummary, ...]
    points: tuple[SentinelPoint, ...]
    sessions: tuple[SentinelSession, ...]
    spread: float | None
    drift: Estimate | None
    within_blocks: Estimate | None
    unknown: dict[str, str] = {}


class RuleOutcome(Fact, frozen=True, kw_only=True):
    """A rule of good reporting that was checked on this run's own data."""

    id: str
    passed: bool
    effect: Literal["block", "warn", "info"]
    detail: str


class Analysis(Fact, frozen=True, kw_only=True):
    """Everything that the article may say: the desk's whole answer for one run.

    `drift` is by which share rates changed from the first to the last trial of the session, at equal
    work; its n counts trials. The trials of the `sentinel` are samples of no cell and stand in it alone.
    `earlier` are the attempts that count for nothing, since another followed.
    """

    trials: tuple[TrialSummary, ...]
    cells: tuple[CellSummary, ...]
    series: tuple[SeriesSummary, ...]
    comparisons: tuple[Comparison, ...]
    findings: tuple[Finding, ...]
    rules: tuple[RuleOutcome, ...]
    measured_s: float
    turnaround_s: float
    level: float = 0.95
    drift: Estimate | None = None
    earlier: tuple[TrialSummary, ...] = ()
    sentinel: SentinelSummary | None = None
    unknown: dict[str, str] = {}
