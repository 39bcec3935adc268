"""The bar under the title: what a reader must know before the first number."""

from study.article.material import Material
from study.domain.text import Text, counted, said


def trials_measured(material: Material) -> int:
    """How many of the planned trials have a measured outcome."""
    return len({t.trial for t in material.analysis.trials if t.outcome == "measured"})


def notices(material: Material) -> tuple[Text, ...]:
    """Run unfinished, processors shared, rules broken, tool changed: each a sentence, none if all is well."""
    run, analysis = material.run, material.analysis
    broken = sum(not rule.passed and rule.effect == "block" for rule in analysis.rules)
    return tuple(_about_the_end(material)) + tuple(
        notice
        for notice, applies in (
            (
                said("Nothing was measured in this run."),
                trials_measured(material) == 0,
            ),
            (
                said(
                    "In some cells more threads ran than this machine has processor cores; those cells show"
                    " what sharing costs and not how devices scale."
                ),
                any(cell.oversubscribed for cell in analysis.cells),
            ),
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


def _about_the_end(material: Material) -> list[Text]:
    run = material.run
    planned, measured = len(run.plan.trials), trials_measured(material)
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
