"""The bar under the title: what a reader must know before the first number."""

from statistics import fmean

from study.article.edits import edits
from study.article.material import Material, trials_planned
from study.domain.estimate import Estimate
from study.domain.summary import Analysis
from study.domain.text import Est, Num, Text, counted, said

FOREIGN_SHARE = 0.10
"""A mean share of the processors in other hands above which no rate can be called undisturbed."""

DRIFT = 0.01
"""A change over the run above which an absolute rate depends on when it was measured."""


def trials_measured(material: Material) -> int:
    """How many of the planned trials have a measured outcome."""
    return len({t.trial for t in material.analysis.trials if t.outcome == "measured"})


def notices(material: Material) -> tuple[Text, ...]:
    """Run unfinished, processors shared, rules broken, tool changed: each a sentence, none if all is well."""
    run, analysis = material.run, material.analysis
    foreign = _foreign_share(analysis)
    broken = sum(not rule.passed and rule.effect == "block" for rule in analysis.rules)
    return (
        tuple(_about_the_end(material))
        + edits(run, analysis)
        + tuple(
            notice
            for notice, applies in (
                (
                    said("Nothing was measured in this run."),
                    trials_measured(material) == 0,
                ),
                (
                    said(
                        "In some cells more threads ran than this machine has processor cores; those cells"
                        " show what sharing costs and not how devices scale."
                    ),
                    any(cell.oversubscribed for cell in analysis.cells),
                ),
                (
                    said(
                        "While trials ran, other programs took {share} of the machine's processor time on"
                        " average; every rate here may be disturbed.",
                        share=Num(value=foreign, style="percent"),
                    ),
                    foreign > FOREIGN_SHARE,
                ),
                *_about_drift(analysis),
                (
                    said(
                        "The tool's source held changes that were not committed, so its version does not say"
                        " exactly what measured."
                    ),
                    run.software.study_dirty is True,
                ),
                (
                    counted(
                        "The run breaks {n} rule of good reporting; the section on checks says which.",
                        "The run breaks {n} rules of good reporting; the section on checks says which.",
                        broken,
                    ),
                    broken > 0,
                ),
            )
            if applies
        )
    )


def _foreign_share(analysis: Analysis) -> float:
    """The mean share of the processors that others took while measured trials ran; zero if unknown."""
    known = [
        trial.foreign_cpu_share
        for trial in analysis.trials
        if trial.rate is not None and trial.foreign_cpu_share is not None
    ]
    return fmean(known) if known else 0.0


def _about_drift(analysis: Analysis) -> list[tuple[Text, bool]]:
    """A change over the session that is shown and beyond one per cent, by all cells or by the sentinel."""
    drift = analysis.drift
    if drift is not None and _is_shown(drift):
        notice = said(
            "The machine's pace changed by {drift} over the run; absolute rates hold for this stretch of"
            " time alone.",
            drift=Est(estimate=drift, style="percent"),
        )
        return [(notice, True)]
    seen = analysis.sentinel.drift if analysis.sentinel else None
    if seen is not None and _is_shown(seen):
        notice = said(
            "The sentinel, one fixed cell that is measured again and again, changed its rate by {drift} over"
            " the run; absolute rates hold for this stretch of time alone.",
            drift=Est(estimate=seen, style="percent"),
        )
        return [(notice, True)]
    return []


def _is_shown(drift: Estimate) -> bool:
    if drift.low is None or drift.high is None:
        return False
    return (drift.low > 0 or drift.high < 0) and abs(drift.value) > DRIFT


def _about_the_end(material: Material) -> list[Text]:
    run = material.run
    planned, measured = trials_planned(run), trials_measured(material)
    if run.status == "running":
        return [said("This run has not ended; the article shows what has been measured so far.")]
    if run.status != "partial":
        return []
    absent = counted(
        "This run is partial: {n} planned trial was not measured.",
        "This run is partial: {n} planned trials were not measured.",
        planned - measured,
    )
    if run.sessions and run.sessions[-1].end == "interrupted":
        return [absent, said("Its last session was interrupted and can be resumed.")]
    return [absent]
