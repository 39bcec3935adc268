"""The claims about pairs of cells that differ in one factor, worded by the frames of that factor."""

from collections.abc import Mapping

from study.analysis import caveats, claims, evidence
from study.analysis.parts import Parts
from study.analysis.terms import TASKS
from study.domain.finding import Finding, Section
from study.domain.summary import Comparison
from study.domain.text import Slot, Term


def comparison_claims(
    parts: Parts, *, shelf: str, factor: str, section: Section, frames: Mapping[str, str]
) -> list[Finding]:
    """One finding for each comparison of `factor`, except those of which neither side was measured."""
    return [
        _claim(parts, shelf, section, frames, comparison)
        for comparison in parts.comparisons
        if comparison.factor == factor and parts.measured_of(comparison.cell_a, comparison.cell_b)
    ]


def _claim(
    parts: Parts, shelf: str, section: Section, frames: Mapping[str, str], comparison: Comparison
) -> Finding:
    cell, verdict = parts.cell(comparison.cell_a), comparison.verdict
    involved = (comparison.cell_a, comparison.cell_b)
    disturbed = (
        *caveats.disturbances(parts, *involved),
        *caveats.of_states(parts, verdict, *involved),
    )
    kind = "within" if verdict.also_same else verdict.kind
    compared = verdict.kind != "not_compared"
    base = parts.cell(comparison.cell_b).rate
    slots: dict[str, Slot] = {
        "workload": claims.workload(cell.cell),
        "task": TASKS[cell.cell.task],
        "devices": claims.whole(cell.cell.devices),
        "strategy": claims.strategy(parts, cell.cell),
        "batch": claims.whole(cell.cell.batch),
        "a": _level(comparison.level_a),
        "b": _level(comparison.level_b),
        "margin": claims.percent(verdict.margin),
    }
    ratio = claims.judged(verdict)
    if ratio is not None:
        slots |= {"ratio": claims.ratio(ratio), "value": claims.bare_ratio(ratio)}
    if base is not None:
        slots["base"] = claims.bare_rate(cell, base)
    n = ratio.n if ratio is not None else 0
    return claims.claim(
        key=f"{shelf}.{comparison.cell_a}.{comparison.cell_b}",
        shelf=shelf,
        section=section,
        sentence=claims.worded(frames[kind], slots),
        short=claims.worded(frames["short" if kind == "clear" else f"short_{kind}"], slots),
        evidence=evidence.of_comparison(verdict, n, flagged=bool(disturbed)),
        note=evidence.trials_each(n),
        estimate=ratio if compared else None,
        style="times",
        verdict=verdict,
        table="t-throughput",
        weight=claims.size(ratio) if compared else claims.fewer_first(cell.cell.devices),
        trials=[trial.trial for trial in parts.measured_of(*involved)],
        caveats=[
            *caveats.of_verdict(verdict),
            *disturbed,
            *(caveats.of_margin(parts, *involved) if compared else ()),
        ],
    )


def _level(level: str) -> Slot:
    """A level by its name; the level without a name is the default one."""
    return claims.code(level) if level else Term(text="default")
