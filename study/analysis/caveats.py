"""What has to be said beside a claim: whole sentences that any finding may carry."""

import math
from collections.abc import Sequence
from statistics import stdev

from study.analysis.drift import is_shown
from study.analysis.intervals import repeats
from study.analysis.parts import Parts
from study.analysis.scaling import Linearity, linearity
from study.analysis.states import blocks_of, together
from study.analysis.truths import instrument_missed
from study.domain.summary import SeriesPoint, SeriesSummary, TrialSummary
from study.domain.text import Est, Num, Text, counted, said
from study.domain.verdict import Verdict

FRAMES = {
    "unsteady": (
        "In some of these trials the step times were shown not to be steady; the rates are those of the"
        " window."
    ),
    "events": (
        "In the windows of some of these trials code was compiled, a device's memory grew or gradients were"
        " arranged anew, which takes time that belongs to no step; it is part of the rates."
    ),
    "oversubscribed": "More threads than processor cores were in use.",
    "apart": (
        "Some of these trials were planned after the study file was edited, so not all of them are"
        " randomised together: what drifted in between is part of the difference."
    ),
    "foreign": "Other programs took {share} of the machine's processor time during these trials.",
    "foreign_unknown": "How much processor time other programs took was not recorded.",
    "unfinished": "The run is not complete.",
    "lost": "Some planned trials gave no result.",
    "instrument": "The instrument check missed its known truth.",
    "drift": (
        "Rates drifted by {drift} over the session; the random order within blocks keeps comparisons, and "
        "absolute values are those of this session."
    ),
    "sentinel": (
        "The sentinel's rate drifted by {drift} over the session, although no drift of all cells together "
        "was shown; the random order within blocks keeps comparisons, and absolute values are those of this "
        "session."
    ),
    "superlinear": (
        "The speed-up lies above the number of devices (superlinear); its cause is not established."
    ),
    "linear": "It is not distinguishable from linear scaling.",
    "same_code": (
        "The base is the same strategy on one device; a version made for one device was not measured."
    ),
    "settle": "About {n} block would settle it.",
    "settle_many": "About {n} blocks would settle it.",
    "never": "More than a thousand blocks would be needed to settle it.",
    "margin": (
        "The margin of {margin} was set before the measurement; trials spread by up to {spread}, for "
        "which a margin of {advised} is advised."
    ),
}

UNSTEADY = ("drifting", "no_steady_state", "inconsistent")
"""What was shown of a cell's trials; where nothing could be shown, nothing is held against them."""

FOREIGN_SHARE = 0.10
"""Above this mean share of the processor time in other hands a claim counts as disturbed."""
SPREAD = 0.005
"""A coefficient of variation between trials above which the margin should be 2 % at least."""
ADVISED_MARGIN = 0.02


def disturbances(parts: Parts, *cell_ids: str, cores: bool = True) -> tuple[Text, ...]:
    """What lowers the evidence of any claim about these cells; `cores` asks whether there were enough."""
    found = []
    if cores and any(parts.cell(cell_id).oversubscribed for cell_id in cell_ids):
        found.append(said(FRAMES["oversubscribed"]))
    shares = [_foreign_share(parts.measured_of(cell_id)) for cell_id in cell_ids]
    known = [share for share in shares if share is not None]
    if len(known) < len(shares):
        found.append(said(FRAMES["foreign_unknown"]))
    elif known and max(known) > FOREIGN_SHARE:  # the worst cell: a quiet one beside it makes no clean ratio
        found.append(said(FRAMES["foreign"], share=Num(value=max(known), style="percent")))
    if any(parts.cell(cell_id).measured < parts.cell(cell_id).planned for cell_id in cell_ids):
        found.append(said(FRAMES["unfinished" if parts.run.status != "complete" else "lost"]))
    if any(parts.cell(cell_id).steadiness in UNSTEADY for cell_id in cell_ids):
        found.append(said(FRAMES["unsteady"]))
    if any(trial.window_events for trial in parts.measured_of(*cell_ids)):
        found.append(said(FRAMES["events"]))
    # What a check found out about the instrument is no doubt about the check.
    if any(parts.cell(cell_id).cell.task != "check" for cell_id in cell_ids) and instrument_missed(parts):
        found.append(said(FRAMES["instrument"]))
    return tuple(found)


def _foreign_share(trials: Sequence[TrialSummary]) -> float | None:
    """The mean share of the processor time in other hands over a cell's trials, if all of them know it."""
    shares = [trial.foreign_cpu_share for trial in trials]
    known = [share for share in shares if share is not None]
    if len(known) < len(shares):
        return None
    return math.fsum(known) / len(known) if known else 0.0


def of_states(parts: Parts, verdict: Verdict | None, *cell_ids: str) -> tuple[Text, ...]:
    """The doubt that is left where cells were not measured in the same blocks; pairs always were."""
    if verdict is not None and verdict.ratio is not None and verdict.ratio.method == "paired_t_log":
        return ()
    return () if together(blocks_of(parts.run.plan), *cell_ids) else (said(FRAMES["apart"]),)


def of_drift(parts: Parts) -> tuple[Text, ...]:
    """What an absolute value is worth when the machine drifted by more than the limit."""
    if parts.drift.estimate is not None and parts.drift.is_shown:
        return (said(FRAMES["drift"], drift=Est(estimate=parts.drift.estimate, style="percent")),)
    seen = parts.sentinel.drift if parts.sentinel else None
    if seen is not None and is_shown(seen):
        return (said(FRAMES["sentinel"], drift=Est(estimate=seen, style="percent")),)
    return ()


def of_margin(parts: Parts, *cell_ids: str) -> tuple[Text, ...]:
    """The advice on a margin that is narrow for the spread of these trials. The margin itself stays."""
    spread = max((_spread(parts.measured_of(cell_id)) for cell_id in cell_ids), default=0.0)
    if spread <= SPREAD or parts.margin >= ADVISED_MARGIN:
        return ()
    return (
        said(
            FRAMES["margin"],
            margin=Num(value=parts.margin, style="percent"),
            spread=Num(value=spread, style="percent"),
            advised=Num(value=ADVISED_MARGIN, style="percent"),
        ),
    )


def of_verdict(verdict: Verdict | None) -> tuple[Text, ...]:
    """How many blocks would settle an open comparison."""
    if verdict is None or verdict.kind != "open":
        return ()
    if verdict.repeats_needed is None:
        return (said(FRAMES["never"]),)
    return (counted(FRAMES["settle"], FRAMES["settle_many"], verdict.repeats_needed),)


def is_superlinear(point: SeriesPoint) -> bool:
    """Whether the whole interval of the speed-up, as it is judged, lies above the number of devices."""
    return _linearity(point) == "superlinear"


def of_scaling(series: SeriesSummary, point: SeriesPoint) -> tuple[Text, ...]:
    """How a speed-up relates to linear, and to which kind of base."""
    found = []
    if is_superlinear(point):
        found.append(said(FRAMES["superlinear"]))
    settled = point.verdict is not None and point.verdict.kind in {"clear", "small"}
    if settled and _linearity(point) == "not_distinguishable":
        found.append(said(FRAMES["linear"]))
    if point.speedup is not None and series.series.base == series.series.own_base:
        found.append(said(FRAMES["same_code"]))
    return tuple(found)


def _linearity(point: SeriesPoint) -> Linearity:
    """By the interval that the sentence prints, so that the two cannot contradict each other."""
    return linearity(point.verdict.ratio if point.verdict else None, point.devices)


def _spread(trials: Sequence[TrialSummary]) -> float:
    """The standard deviation of the logs: the coefficient of variation between trials."""
    return stdev(repeats(trials).logs) if len(trials) > 1 else 0.0
