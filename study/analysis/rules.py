"""The rules of good reporting that a run's own data can be checked against.

A rule with the effect `block` that fails names the findings that it blocks: they are not published.
`warn` is printed beside the data. What a rule cannot see yet is not pretended to be checked.

Sources: HB, Hoefler & Belli, SC 2015, by number; ML, MLPerf training and inference rules; KJ, Kalibera
& Jones, ISMM 2013; MY, Mytkowicz et al., ASPLOS 2009; S and CAL, rules of this project, see the method page.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from study.analysis import caveats, reasons, words
from study.analysis.drift import LIMIT, is_shown
from study.analysis.intervals import MIN_TRIALS, repeats
from study.analysis.parts import Parts
from study.analysis.scaling import IMPLAUSIBLE
from study.analysis.tails import P90_REQUESTS, P99_REQUESTS
from study.analysis.trials import are_replicas, counting
from study.analysis.truths import known_truths
from study.analysis.utilisation import peak_of
from study.analysis.verdicts import Refused
from study.domain.estimate import Estimate
from study.domain.fact import Fact
from study.domain.finding import Finding
from study.domain.record import Interrupted, Measured, Numerics, Reading, Record
from study.domain.summary import CellSummary, RuleOutcome, SeriesSummary
from study.domain.text import Est, Text
from study.domain.verdict import Verdict

SHAPIRO_TRIALS = 8
"""From this many trials on a test of normality says something."""


class Desk(Fact, frozen=True, kw_only=True):
    """What a rule looks at."""

    parts: Parts
    records: tuple[Record, ...]
    findings: tuple[Finding, ...]


class Checked(Fact, frozen=True, kw_only=True):
    """A rule's answer: what is wrong, if anything, and the keys of the findings that it blocks."""

    wrong: tuple[str, ...] = ()
    right: str
    effect: Literal["block", "warn", "info"] = "block"
    blocked: frozenset[str] = frozenset()


def check(
    parts: Parts, records: Sequence[Record], findings: Sequence[Finding]
) -> tuple[tuple[RuleOutcome, ...], frozenset[str]]:
    """Every rule's outcome, and the keys of the findings that must not be published."""
    desk = Desk(parts=parts, records=counting(records), findings=tuple(findings))
    outcomes, blocked = [], frozenset[str]()
    for identifier, rule in RULES.items():
        answer = rule(desk)
        outcomes.append(
            RuleOutcome(
                id=identifier,
                passed=not answer.wrong,
                effect=answer.effect,
                detail=" ".join(answer.wrong) if answer.wrong else answer.right,
            )
        )
        blocked |= answer.blocked
    return tuple(outcomes), blocked


def base_is_named(desk: Desk) -> Checked:
    """HB1: a speed-up names its base and prints the base's absolute rate."""
    wrong = {}
    for finding in desk.findings:
        slots = finding.sentence.slots
        if "speedup" in slots and finding.shelf != "known-truth" and not isinstance(slots.get("base"), Est):
            wrong[finding.key] = f"{finding.key} states a speed-up without the rate of its base."
    for series in desk.parts.series:
        if series.base_rate is None and any(point.speedup for point in series.points):
            wrong[series.series.key] = f"{series.series.key} has a speed-up and no base rate."
    return Checked(
        wrong=tuple(wrong.values()),
        right="Every speed-up is printed with the absolute rate of its base.",
        blocked=frozenset(wrong),
    )


def absences_have_reasons(desk: Desk) -> Checked:
    """HB2: cells that were not run, and devices that were not used, are accounted for.

    Which devices a study uses is its author's choice, so unused ones are a warning and block nothing.
    """
    parts, wrong = desk.parts, []
    wrong += [
        f"{cell.id} was left out without a reason." for cell in parts.run.plan.skipped if not cell.reason
    ]
    for cell in parts.cells:
        if cell.measured == 0 and not any(trial.fault for trial in parts.trials_of(cell.cell_id)):
            wrong.append(f"{cell.cell_id} was planned and has no record.")
    used = max((cell.cell.devices for cell in parts.cells), default=0)
    plan = parts.run.plan
    turned_down = max((cell.cell.devices for cell in plan.skipped), default=0)
    if plan.accelerator != "cpu" and max(used, turned_down) < plan.devices_present:
        wrong.append(f"The study uses {used} of {plan.devices_present} devices and does not say why.")
    return Checked(
        wrong=tuple(wrong), right="Every cell that was not measured has its reason.", effect="warn"
    )


def rates_are_total_over_total(desk: Desk) -> Checked:
    """HB3: a cell's rate is total work over total time, computed here again from the raw readings."""
    usable = {trial.trial for trial in desk.parts.trials if trial.rate is not None}
    work: dict[str, float] = defaultdict(float)
    time_s: dict[str, float] = defaultdict(float)
    for record in desk.records:
        if record.trial not in usable or not isinstance(record.outcome, Measured):
            continue
        readings = record.outcome.readings
        work[record.cell_id] += sum(reading.work for reading in readings)
        if record.cell.nodes > 1:
            window_ns = max(r.window_end_ns - r.window_start_ns for r in readings)
        else:
            window_ns = max(r.window_end_ns for r in readings) - min(r.window_start_ns for r in readings)
        time_s[record.cell_id] += window_ns / 1e9
    wrong = {
        cell.cell_id: f"{cell.cell_id}: the rate is not total work over total time."
        for cell in desk.parts.cells
        if cell.rate is not None
        and not math.isclose(cell.rate.value, work[cell.cell_id] / time_s[cell.cell_id], rel_tol=1e-9)
    }
    return Checked(
        wrong=tuple(wrong.values()),
        right="Every rate is total work over total time, recomputed from the readings.",
        blocked=_resting_on(desk, wrong),
    )


def doubt_is_stated(desk: Desk) -> Checked:
    """HB5: every estimate has an interval, is exact, or says why it has none."""
    wrong = {
        finding.key: f"{finding.key} prints a number without an interval and without a reason."
        for finding in desk.findings
        for estimate in _estimates(finding)
        if estimate.low is None and estimate.method != "exact" and not estimate.refusal
    }
    inside = [
        estimate
        for fact in (*desk.parts.cells, *desk.parts.series, *desk.parts.comparisons)
        for estimate in _estimates(fact)
    ]
    silent = sum(e.low is None and e.method != "exact" and not e.refusal for e in inside)
    if silent:
        wrong[""] = f"{silent} estimates of the tables have neither interval nor reason."
    return Checked(
        wrong=tuple(wrong.values()),
        right=f"{len(inside)} estimates have an interval, are exact, or say why they have none.",
        blocked=frozenset(wrong),
    )


def normality_is_not_assumed(desk: Desk) -> Checked:
    """HB6: n counts trials; from eight trials on the normality of their logs is tested and printed."""
    from scipy.stats import shapiro

    planned = max((cell.planned for cell in desk.parts.cells), default=0)
    wrong = [
        f"{cell.cell_id}: an interval over {estimate.n} values from {cell.planned} trials."
        for cell in desk.parts.cells
        for estimate in _estimates(cell)
        if estimate.n > cell.planned
    ]
    tested = []
    for cell in desk.parts.cells:
        logs = repeats(desk.parts.measured_of(cell.cell_id)).logs
        if len(logs) >= SHAPIRO_TRIALS and len(set(logs)) > 1:
            tested.append(float(shapiro(logs).pvalue))
    if tested:
        right = (
            f"Normality of the logs was tested in {len(tested)} cells; the smallest p is {min(tested):.3g}."
        )
        # With many cells a small p is bound to appear: Bonferroni over the cells.
        if min(tested) * len(tested) < 0.05:
            wrong.append(f"{right} The intervals lean on a normality that one cell does not show.")
    else:
        right = f"With {planned} trials a cell normality cannot be tested; every trial is drawn as a point."
    return Checked(wrong=tuple(wrong), right=right, effect="warn")


def differences_are_tested(desk: Desk) -> Checked:
    """HB7: each verdict stores its ratio, interval, p, adjusted p, family, family size and margin."""
    wrong = {}
    for finding in desk.findings:
        verdict = finding.verdict
        if verdict is None or verdict.kind == "not_compared":
            continue
        complete = (
            verdict.ratio is not None
            and verdict.ratio.low is not None
            and verdict.p is not None
            and verdict.p_adjusted is not None
            and verdict.p_adjusted >= verdict.p
            and verdict.family
            and verdict.family_size >= 1
        )
        if not complete:
            wrong[finding.key] = f"{finding.key} compares without a complete test."
    return Checked(
        wrong=tuple(wrong.values()),
        right="Every comparison stores its test, interval, p, adjusted p, family and margin.",
        blocked=frozenset(wrong),
    )


def tails_and_stalls(desk: Desk) -> Checked:
    """HB8: decoding cells carry percentiles; where mean and median of the steps part, it is said."""
    wrong, stalls = [], []
    for cell in desk.parts.cells:
        if cell.step_mean_s is None or cell.step_median_s is None:
            continue
        excess = cell.step_mean_s / cell.step_median_s - 1
        if excess > 0.01:
            stalls.append((excess, cell.label))
        tail = cell.latency
        if tail is not None and tail.request_p99_s is None and "request_p99_s" not in tail.unknown:
            wrong.append(f"{cell.cell_id}: the p99 is missing without a reason.")
        if tail is not None and tail.request_p90_s is None and "request_p90_s" not in tail.unknown:
            wrong.append(f"{cell.cell_id}: the p90 is missing without a reason.")
    if stalls:
        most, where = max(stalls)
        wrong.append(
            f"In {len(stalls)} of {len(desk.parts.cells)} cells the mean step is more than one percent above "
            f"the median step, by {most:.1%} at most, in {where}; the table of rates gives both."
        )
    return Checked(
        wrong=tuple(wrong),
        right="Mean and median of the step times agree within one percent in every cell.",
        effect="warn",
    )


def time_is_reduced_as_said(desk: Desk) -> Checked:
    """HB10: the window is taken over all ranks, and the steps of each rank fill its own window."""
    worst, where = 0.0, ""
    for record in desk.records:
        if not isinstance(record.outcome, Measured):
            continue
        for reading in record.outcome.readings:
            own_ns = reading.window_end_ns - reading.window_start_ns
            gap = abs(sum(reading.step_ns) / own_ns - 1) if own_ns > 0 else math.inf
            if gap > worst:
                worst, where = gap, record.trial
    said = (
        "Clock: the host's monotonic clock. Opened after a barrier and a device synchronise, closed after a "
        "device synchronise. Reduced from the first rank's start to the last rank's end."
    )
    wrong = (f"{where}: the steps add up to the window only within {worst:.1%}.",) if worst > 0.01 else ()
    return Checked(wrong=wrong, right=said, effect="warn")


def every_trial_counts(desk: Desk) -> Checked:
    """ML1: the trials of the result are those of the plan; none was dropped after a look at its rate.

    In a run that is not complete, missing trials are a warning: its claims are weakened, not blocked.
    """
    parts = desk.parts
    planned = {trial.id: trial.cell_id for trial in parts.run.plan.trials if trial.role == "cell"}
    recorded = {r.trial: r.cell_id for r in desk.records if not isinstance(r.outcome, Interrupted)}
    missing = [trial for trial in planned if trial not in recorded]
    extra = sorted(trial for trial in recorded if trial not in planned)
    complete = parts.run.status == "complete"
    wrong = []
    if missing:
        wrong.append(f"{len(missing)} of {len(planned)} planned trials have no result.")
    if extra:
        wrong.append(f"{len(extra)} trials are not in the plan, the first is {extra[0]}.")
    cells = {recorded[trial] for trial in extra} | ({planned[t] for t in missing} if complete else set())
    return Checked(
        wrong=tuple(wrong),
        right=f"All {len(planned)} planned trials have a result, and no other trial counts.",
        effect="block" if complete or extra else "warn",
        blocked=_resting_on(desk, cells),
    )


def throughput_is_not_time_to_train(desk: Desk) -> Checked:
    """ML3: no sentence speaks of time to train, since no model was trained to a quality."""
    wrong = _worded(desk, words.time_to_train)
    return Checked(
        wrong=tuple(f'{key} says "{word}".' for key, word in wrong.items()),
        right="Every claim speaks of throughput over a fixed window, none of time to train.",
        blocked=frozenset(wrong),
    )


def utilisation_counts_the_model(desk: Desk) -> Checked:
    """ML4: MFU counts the model's operations; HFU, which counts recomputed ones, stands only beside it."""
    wrong: dict[str, str] = {}
    readings = _readings(desk)
    for cell in desk.parts.cells:
        if cell.mfu is None:
            continue
        peak = peak_of(cell.cell, readings[cell.cell_id])
        done = cell.tflops_per_device
        if done is None:
            wrong[cell.cell_id] = f"{cell.cell_id}: an MFU without the model's operations."
        elif not isinstance(peak, Refused) and not math.isclose(
            cell.mfu.value, done.value * 1e12 / peak.flops_per_s, rel_tol=1e-9
        ):
            wrong[cell.cell_id] = f"{cell.cell_id}: the MFU is not the model's operations over the peak."
    alone = {
        finding.key: f"{finding.key} states HFU without MFU."
        for finding in desk.findings
        if "HFU" in finding.sentence.frame and "MFU" not in finding.sentence.frame
    }
    return Checked(
        wrong=(*wrong.values(), *alone.values()),
        right="Every utilisation counts the model's operations once, without what recomputation repeats.",
        blocked=_resting_on(desk, wrong) | frozenset(alone),
    )


def percentiles_have_requests(desk: Desk) -> Checked:
    """ML5: a p90 rests on at least 36 requests in every trial, a p99 on at least 368."""
    wrong = {}
    for cell in desk.parts.cells:
        if cell.latency is None:
            continue
        ranks = cell.cell.devices if are_replicas(cell.cell) else 1
        fewest = ranks * min(len(trial.step_ns) for trial in desk.parts.measured_of(cell.cell_id))
        for name, value, floor in (
            ("p99", cell.latency.request_p99_s, P99_REQUESTS),
            ("p90", cell.latency.request_p90_s, P90_REQUESTS),
        ):
            if value is not None and fewest < floor:
                wrong[cell.cell_id] = f"{cell.cell_id}: a {name} from {fewest} requests."
    return Checked(
        wrong=tuple(wrong.values()),
        right=(
            f"A p90 is given from {P90_REQUESTS} requests a trial on, a p99 from {P99_REQUESTS}, and else "
            "refused."
        ),
        blocked=_resting_on(desk, wrong),
    )


def trials_are_the_sample(desk: Desk) -> Checked:
    """KJ1: n is the number of measured trials, each a launch of its own; steps are never counted."""
    wrong = {}
    for cell in desk.parts.cells:
        if cell.rate is not None and (cell.rate.n != cell.measured or len(set(cell.trials)) != cell.rate.n):
            wrong[cell.cell_id] = f"{cell.cell_id}: n is {cell.rate.n} with {cell.measured} trials measured."
    return Checked(
        wrong=tuple(wrong.values()),
        right="Every interval comes from the spread between trials, each in fresh processes.",
        blocked=_resting_on(desk, wrong),
    )


def ratios_have_their_own_interval(desk: Desk) -> Checked:
    """KJ2: the interval of a ratio comes from both of its sides."""
    wrong = [
        f"{series.series.key} at {point.devices} devices: method {estimate.method}."
        for series in desk.parts.series
        for point in series.points
        for estimate in (point.speedup, point.own_speedup)
        if estimate is not None and estimate.method not in ("welch_log", "paired_t_log", "exact", "none")
    ]
    return Checked(
        wrong=tuple(wrong), right="Every ratio has an interval computed from the spread of both of its sides."
    )


def order_is_random(desk: Desk) -> Checked:
    """MY1: complete blocks in a fresh random order from a stored seed, and run in that order."""
    blocks: dict[int, list[str]] = defaultdict(list)
    for trial in sorted(desk.parts.run.plan.trials, key=lambda t: t.order):
        if trial.role == "cell":
            blocks[trial.block].append(trial.cell_id)
    cells = sorted(cell.id for cell in desk.parts.run.plan.cells)
    wrong = []
    # what an edit of the study file added, or a precision that was asked for, stands in blocks of its own
    edited, planned = bool(desk.parts.run.states), desk.parts.run.plan.protocol.blocks
    added = {b for b in blocks if edited or b > planned}
    if any(
        len(set(block)) < len(block) or not (number in added or sorted(block) == cells)
        for number, block in blocks.items()
    ):
        wrong.append("A block does not hold every cell once.")
    # Two cells in two blocks stand in the same order by chance half the time; that shows nothing.
    arrangements = math.factorial(min(len(cells), 10)) ** (len(blocks) - 1)
    if arrangements > 1000 and len({tuple(block) for block in blocks.values()}) == 1:
        wrong.append("All blocks have the same order.")
    finished = [r for r in desk.records if not isinstance(r.outcome, Interrupted) and r.attempt == 1]
    numbered = all(r.session for r in finished)
    # the date may be set back; it counts only for records of before they had their session's number
    by_start = sorted(
        finished, key=lambda r: (r.session or 0, "" if numbered else r.started_utc, r.started_ns)
    )
    if [r.order for r in by_start] != sorted(r.order for r in finished):
        wrong.append("The trials were not run in the order of the plan.")
    return Checked(
        wrong=tuple(wrong),
        right=f"{len(blocks)} complete blocks in random order, from seed {desk.parts.run.plan.seed}.",
        effect="warn",
    )


def causes_need_an_intervention(desk: Desk) -> Checked:
    """MY2: no sentence names a cause, since no trial switches one on and off."""
    wrong = _worded(desk, words.cause)
    return Checked(
        wrong=tuple(f'{key} says "{word}".' for key, word in wrong.items()),
        right="No claim names a cause.",
        blocked=frozenset(wrong),
    )


def three_trials_or_no_interval(desk: Desk) -> Checked:
    """S1: no interval from fewer than three trials."""
    everything = (*desk.parts.cells, *desk.parts.series, *desk.parts.comparisons)
    wrong = {
        finding.key: f"{finding.key}: an interval from fewer than three trials."
        for finding in desk.findings
        for estimate in _estimates(finding)
        if estimate.low is not None and estimate.n < MIN_TRIALS
    }
    hidden = sum(e.low is not None and e.n < MIN_TRIALS for fact in everything for e in _estimates(fact))
    if hidden:
        wrong[""] = f"{hidden} intervals of the tables come from fewer than three trials."
    return Checked(
        wrong=tuple(wrong.values()),
        right="No interval comes from fewer than three trials.",
        blocked=frozenset(wrong),
    )


def superlinear_is_a_symptom(desk: Desk) -> Checked:
    """S4: an interval above the number of devices is marked, an impossible speed-up is not stated."""
    wrong = {}
    marked = {f.key: any(c.frame == caveats.FRAMES["superlinear"] for c in f.caveats) for f in desk.findings}
    for series in desk.parts.series:
        for point in series.points:
            if point.speedup is None or point.devices == 1:
                continue
            keys = [key for key in marked if _is_about(key, series, point.devices)]
            for key in keys:
                unmarked = caveats.is_superlinear(point) and not marked[key]
                if (unmarked and "scales" in key) or point.speedup.value > IMPLAUSIBLE * point.devices:
                    wrong[key] = f"{key} is superlinear and does not say so."
    return Checked(
        wrong=tuple(wrong.values()),
        right="Every superlinear speed-up is marked as one whose cause is not established.",
        blocked=frozenset(wrong),
    )


def impossible_rates_are_refused(desk: Desk) -> Checked:
    """S5: no cell does more than its devices can; boards that boost above their sheet may reach 115 %."""
    wrong = {}
    readings = _readings(desk)
    for cell in desk.parts.cells:
        if cell.mfu is None:
            continue
        peak = peak_of(cell.cell, readings[cell.cell_id])
        if not isinstance(peak, Refused) and cell.mfu.value > peak.limit:
            wrong[cell.cell_id] = (
                f"{cell.cell_id}: an MFU of {cell.mfu.value:.1%}, and {peak.limit:.0%} is possible."
            )
    return Checked(
        wrong=tuple(wrong.values()),
        right="No rate is above the peak rate of its devices, as far as that is known.",
        blocked=_resting_on(desk, wrong),
    )


def words_match_verdicts(desk: Desk) -> Checked:
    """S6: sentences hold no comparative, no praise and no digit of their own."""
    wrong = _worded(desk, lambda frame: words.comparative(frame) or words.digit(frame))
    return Checked(
        wrong=tuple(f'{key} says "{word}".' for key, word in wrong.items()),
        right="Every sentence is the fixed phrase of its verdict.",
        blocked=frozenset(wrong),
    )


def multiplicity_is_counted(desk: Desk) -> Checked:
    """S7: a family's size is the number of comparisons looked at, printed or not."""
    sizes: dict[str, list[int]] = defaultdict(list)
    for verdict in _verdicts(desk.parts):
        sizes[verdict.family].append(verdict.family_size)
    wrong = [
        f"The family {family} has {len(stated)} comparisons and states {stated[0]}."
        for family, stated in sorted(sizes.items())
        if any(size != len(stated) for size in stated)
    ]
    counted = ", ".join(f"{family}: {len(stated)}" for family, stated in sorted(sizes.items()))
    families = {w.split()[2] for w in wrong}
    return Checked(
        wrong=tuple(wrong),
        right=f"Comparisons looked at, by family: {counted or 'none'}.",
        blocked=frozenset(f.key for f in desk.findings if f.verdict and f.verdict.family in families),
    )


def drift_is_shown(desk: Desk) -> Checked:
    """S11: two witnesses look for a drift; blocks keep the comparisons, absolute rates get a note."""
    drift, sentinel, wrong, right = desk.parts.drift, desk.parts.sentinel, [], []
    if drift.estimate is None:
        right.append(drift.reason)
    else:
        found = _change(drift.estimate)
        right.append(f"No drift beyond {LIMIT:.0%} was shown over the session: {found}.")
        if drift.is_shown:
            wrong.append(
                f"Rates changed by {found} over the session; absolute rates are those of this session."
            )
    if sentinel is None:
        right.append(reasons.NO_SENTINEL)
    else:
        missing = sentinel.planned - len(sentinel.points)
        if is_shown(sentinel.drift):
            wrong.append(f"The sentinel's rate changed by {_change(sentinel.drift)} over the session.")
        if missing:
            wrong.append(f"{missing} of {sentinel.planned} trials of the sentinel gave no rate.")
        right.append(f"Sentinel: {_change(sentinel.drift)}." if sentinel.drift else sentinel.unknown["drift"])
    return Checked(wrong=tuple(wrong), right=" ".join(right), effect="warn")


def _change(drift: Estimate | None) -> str:
    if drift is None:
        return "not known"
    return f"{drift.value:+.1%} ({drift.low or 0.0:+.1%} to {drift.high or 0.0:+.1%}, {drift.n} trials)"


def peaks_are_known_or_not(desk: Desk) -> Checked:
    """S12: a share of a peak needs a device that the table has by its exact name; else it says why not."""
    wrong = {}
    readings = _readings(desk)
    for cell in desk.parts.cells:
        if cell.mfu is not None and isinstance(peak_of(cell.cell, readings[cell.cell_id]), Refused):
            names = ", ".join(sorted({reading.device for reading in readings[cell.cell_id]}))
            wrong[cell.cell_id] = (
                f"{cell.cell_id}: an MFU of {names} at {cell.cell.precision}, without a peak."
            )
        elif cell.mfu is None and cell.tflops_per_device is not None and "mfu" not in cell.unknown:
            wrong[cell.cell_id] = f"{cell.cell_id}: the MFU is missing without a reason."
    shares = sum(cell.mfu is not None for cell in desk.parts.cells)
    return Checked(
        wrong=tuple(wrong.values()),
        right=f"{shares} cells state a share of a peak, each of a device whose exact name the table has.",
        blocked=_resting_on(desk, wrong),
    )


def instrument_finds_the_truth(desk: Desk) -> Checked:
    """CAL1: the instrument finds a known truth, or lies within the margin around it."""
    known = known_truths(desk.parts)
    wrong = tuple(
        f"{each.series.label} on {each.point.devices} devices: the true speed-up is {each.truth:.5g}, and "
        f"the interval from {each.speedup.low:.5g} to {each.speedup.high:.5g} neither contains it nor lies "
        "within the margin around it."
        for each in known
        if each.outcome == "missed"
    )
    tested = sum(each.outcome != "too_few" for each in known)
    right = (
        f"Known truths looked for: {tested}; every interval contains its truth or lies within the margin."
        if tested
        else "The run holds no interval of a speed-up that is known in advance."
    )
    return Checked(wrong=wrong, right=right, effect="warn")


def work_is_what_was_planned(desk: Desk) -> Checked:
    """S13: the work counted is the work done; trials for which it is not were excluded, by rules alone."""
    excluded = [trial for trial in desk.parts.trials if trial.outcome == "excluded"]
    unused = {trial.trial for trial in excluded}
    wrong = {
        finding.key: f"{finding.key} rests on an excluded trial."
        for finding in desk.findings
        if finding.section != "limits" and unused & set(finding.trials)
    }
    return Checked(
        wrong=tuple(wrong.values()),
        right=f"Work, ranks and losses of every trial were checked; {len(excluded)} trials were excluded.",
        blocked=frozenset(wrong),
    )


def numerics_are_the_same(desk: Desk) -> Checked:
    """S14: both sides of a speed-up were computed with the same numerical settings."""
    settings: dict[str, set[bytes]] = defaultdict(set)
    for record in desk.records:
        if isinstance(record.outcome, Measured):
            settings[record.cell_id] |= {_settings(r.numerics) for r in record.outcome.readings}
    wrong: dict[str, str] = {}
    for series in desk.parts.series:
        used = {each for cell_id in series.series.members for each in settings.get(cell_id, ())}
        if len(used) > 1:
            for finding in desk.findings:
                if series.series.key in finding.key:
                    wrong[finding.key] = f"{finding.key}: the two sides differ in their numerical settings."
    return Checked(
        wrong=tuple(wrong.values()),
        right="Both sides of every speed-up have the same numerical settings.",
        blocked=frozenset(wrong),
    )


def steadiness_is_tested(desk: Desk) -> Checked:
    """BA1: every measured trial has a verdict on its steadiness."""
    missing = [t.trial for t in desk.parts.trials if t.rate is not None and t.steadiness is None]
    return Checked(
        wrong=tuple(f"{trial}: nothing is known of its steadiness." for trial in missing),
        right="Every measured trial was tested for a steady state; a trial without one keeps that verdict.",
    )


def trials_agree_on_steadiness(desk: Desk) -> Checked:
    """BA2: the trials of a cell agree; cells of which some trials settled and some did not are named."""
    apart = [cell.label for cell in desk.parts.cells if cell.steadiness == "inconsistent"]
    return Checked(
        wrong=tuple(f"{label}: some trials were shown to be steady and some not to be." for label in apart),
        right="In no cell were some trials shown to be steady and others shown not to be.",
        effect="warn",
    )


RULES: dict[str, Callable[[Desk], Checked]] = {
    "HB1": base_is_named,
    "HB2": absences_have_reasons,
    "HB3": rates_are_total_over_total,
    "HB5": doubt_is_stated,
    "HB6": normality_is_not_assumed,
    "HB7": differences_are_tested,
    "HB8": tails_and_stalls,
    "HB10": time_is_reduced_as_said,
    "BA1": steadiness_is_tested,
    "BA2": trials_agree_on_steadiness,
    "ML1": every_trial_counts,
    "ML3": throughput_is_not_time_to_train,
    "ML4": utilisation_counts_the_model,
    "ML5": percentiles_have_requests,
    "KJ1": trials_are_the_sample,
    "KJ2": ratios_have_their_own_interval,
    "MY1": order_is_random,
    "MY2": causes_need_an_intervention,
    "S1": three_trials_or_no_interval,
    "S4": superlinear_is_a_symptom,
    "S5": impossible_rates_are_refused,
    "S6": words_match_verdicts,
    "S7": multiplicity_is_counted,
    "S11": drift_is_shown,
    "S12": peaks_are_known_or_not,
    "S13": work_is_what_was_planned,
    "S14": numerics_are_the_same,
    "CAL1": instrument_finds_the_truth,
}


def _readings(desk: Desk) -> dict[str, list[Reading]]:
    """The readings of each cell from trials that have a rate."""
    usable = {trial.trial for trial in desk.parts.trials if trial.rate is not None}
    found: dict[str, list[Reading]] = defaultdict(list)
    for record in desk.records:
        if record.trial in usable and isinstance(record.outcome, Measured):
            found[record.cell_id] += record.outcome.readings
    return found


def _settings(numerics: Numerics) -> bytes:
    return msgspec.json.encode(numerics, order="deterministic")


def _is_about(key: str, series: SeriesSummary, devices: int) -> bool:
    return key.endswith(f"{series.series.key}.x{devices}")


def _resting_on(desk: Desk, cells: "Sequence[str] | dict[str, str] | set[str]") -> frozenset[str]:
    """The findings that rest on a trial of these cells; limits stay told."""
    trials = {trial.trial for trial in desk.parts.trials if trial.cell_id in cells}
    return frozenset(f.key for f in desk.findings if f.section != "limits" and trials & set(f.trials))


def _worded(desk: Desk, look: Callable[[str], str]) -> dict[str, str]:
    """The findings in whose frames `look` finds a word, with that word."""
    found = {}
    for finding in desk.findings:
        for text in (finding.sentence, finding.short, *finding.caveats):
            word = look(text.frame) or look(text.plural)
            if word:
                found[finding.key] = word
    return found


def _verdicts(parts: Parts) -> Iterator[Verdict]:
    for series in parts.series:
        yield from (point.verdict for point in series.points if point.verdict is not None)
    yield from (comparison.verdict for comparison in parts.comparisons)


def _estimates(fact: Finding | CellSummary | object) -> Iterator[Estimate]:
    """Every estimate inside a fact, at any depth."""
    if isinstance(fact, Estimate):
        yield fact
    elif isinstance(fact, Text):
        yield from (e for slot in fact.slots.values() for e in _estimates(slot))
    elif isinstance(fact, msgspec.Struct):
        for name in fact.__struct_fields__:
            yield from _estimates(getattr(fact, name))
    elif isinstance(fact, tuple):
        for each in fact:
            yield from _estimates(each)
