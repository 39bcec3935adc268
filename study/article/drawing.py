"""The figures of an article: everything on the shelf is drawn, and what cannot be drawn is named."""

import importlib
from collections.abc import Sequence

from study.domain.errors import BadShelfFile
from study.domain.figure import Figure
from study.domain.record import Record
from study.domain.run import Run
from study.domain.shelf import PageFacts, all_facts, module_names
from study.domain.summary import Analysis
from study.domain.text import Text

SECTIONS = ("one", "more", "steady", "checks")
"""The sections in which figures stand."""


def draw_all(
    run: Run, records: Sequence[Record], analysis: Analysis
) -> tuple[dict[str, tuple[Figure, ...]], dict[str, tuple[Text, ...]]]:
    """The figures by section, in order of rank; and by section a sentence for each that is left out.

    Raises:
        BadShelfFile: a file on the shelf does not keep the shelf's contract.
    """
    figures: dict[str, tuple[Figure, ...]] = {}
    left_out: dict[str, tuple[Text, ...]] = {}
    modules = module_names("figures")
    facts = all_facts("figures", PageFacts)
    for name in sorted(facts, key=lambda n: (facts[n].rank, n)):
        module = importlib.import_module(modules[name])
        if not callable(getattr(module, "draw", None)) or not isinstance(
            getattr(module, "MISSING", None), Text
        ):
            raise BadShelfFile(modules[name], "it has no function `draw`, or no sentence `MISSING`")
        section = facts[name].section
        if section not in SECTIONS:
            raise BadShelfFile(modules[name], f"its section is {section!r} and none of {', '.join(SECTIONS)}")
        figure = module.draw(run, records, analysis)
        if figure is None:
            left_out[section] = (*left_out.get(section, ()), module.MISSING)
        else:
            figures[section] = (*figures.get(section, ()), figure)
    return figures, left_out
