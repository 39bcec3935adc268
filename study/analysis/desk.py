"""The whole way from a run's records to what may be said about it."""

import importlib
import math
from collections import Counter
from collections.abc import Sequence

from study.analysis import reasons, rules
from study.analysis.bandwidths import with_bandwidth
from study.analysis.cells import repeats_by_cell, summarise_cells
from study.analysis.comparisons import compare
from study.analysis.drift import session_drift
from study.analysis.parts import Parts
from study.analysis.scaling import summarise_series
from study.analysis.sentinel import of_cells, watch
from study.analysis.states import of_the_plan
from study.analysis.trials import counting, earlier, summarise
from study.analysis.utilisation import utilised
from study.domain.errors import BadShelfFile
from study.domain.finding import Finding
from study.domain.record import Record
from study.domain.run import Run
from study.domain.shelf import PageFacts, facts, module_names
from study.domain.summary import Analysis


def analyse(run: Run, records: Sequence[Record]) -> Analysis:
    """Trials, cells, series, comparisons, findings and rules of one run.

    A finding that a rule blocks is not among the findings; the rule says so. Records of cells that were
    taken out of the study file after they were measured enter no number; the sentinel's trials enter none
    but its own.
    """
    records = of_the_plan(run, records)
    parts = computed(run, records)
    found = findings(parts)
    unknown = {} if parts.drift.estimate else {"drift": parts.drift.reason}
    if parts.sentinel is None:
        unknown["sentinel"] = reasons.NO_SENTINEL
    outcomes, blocked = rules.check(parts, of_cells(records), found)
    return Analysis(
        trials=parts.trials,
        cells=parts.cells,
        series=parts.series,
        comparisons=parts.comparisons,
        findings=tuple(finding for finding in found if finding.key not in blocked),
        rules=outcomes,
        measured_s=math.fsum(trial.wall_s for trial in parts.trials if trial.wall_s is not None),
        turnaround_s=math.fsum(record.turnaround_ns / 1e9 for record in records),
        drift=parts.drift.estimate,
        earlier=earlier(records),
        sentinel=parts.sentinel,
        unknown=unknown,
    )


def computed(run: Run, records: Sequence[Record]) -> Parts:
    """The numbers of a run, before anything is said about them."""
    records = of_the_plan(run, records)
    of_cell = of_cells(records)
    chosen = counting(of_cell)
    trials = summarise(of_cell)
    measured = repeats_by_cell(trials)
    summaries = utilised(
        summarise_cells(run.plan, trials, chosen),
        trials,
        chosen,
        flops=lambda reading: reading.model_flops_per_step,
    )
    cells = with_bandwidth(summaries)
    drift = session_drift(run, trials, chosen)
    return Parts(
        run=run,
        trials=trials,
        cells=cells,
        series=summarise_series(run.plan, cells, measured),
        comparisons=compare(run.plan, measured),
        drift=drift,
        sentinel=watch(run, records, drift.session),
    )


def findings(parts: Parts) -> tuple[Finding, ...]:
    """What every file on the shelf finds, in order of rank, then of key.

    Raises:
        BadShelfFile: a file has no `find`, or its findings do not keep the contract.
    """
    placed = []
    for name, module in module_names("findings").items():
        rank = facts("findings", name, PageFacts).rank
        find = getattr(importlib.import_module(module), "find", None)
        if find is None:
            raise BadShelfFile(module, "it offers no find(parts)")
        placed += [(rank, finding.key, finding) for finding in find(parts)]
    key, times = max(Counter(key for _, key, _ in placed).items(), key=lambda item: item[1], default=("", 0))
    if times > 1:
        raise BadShelfFile("study.analysis.findings", f"{times} findings have the key {key}")
    return tuple(finding for _, _, finding in sorted(placed, key=lambda place: place[:2]))
