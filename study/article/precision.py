"""How many blocks each cell got and why measuring stopped, where the protocol asks for a precision."""

from collections import Counter
from collections.abc import Iterator

from study.article.material import Material
from study.article.words import count
from study.domain.run import PRECISE_COVERAGE, PRECISE_IN_A_ROW, PRECISE_TRIALS, Decision
from study.domain.summary import CellSummary
from study.domain.text import Listing, Name, Num, Text, counted, said


def method(material: Material) -> tuple[Text, ...]:
    """The rule by which blocks were added, how many were, and why no more; nothing if none was asked for."""
    return tuple(_method(material))


def limits(material: Material) -> tuple[Text, ...]:
    """Which cells are less precise than was asked for, by how much, and what it would have taken."""
    return tuple(_limits(material))


def _method(material: Material) -> Iterator[Text]:
    protocol = material.run.plan.protocol
    if protocol.precision is None:
        return
    share = Num(value=protocol.precision, style="percent")
    level = Num(value=material.analysis.level, style="percent")
    if protocol.precision_cells:
        globs = Listing(items=tuple(Name(text=glob, code=True) for glob in protocol.precision_cells))
        yield said(
            "After them blocks were added until half the {level} interval of each cell that matches {globs}"
            " was below {share} of its rate.",
            level=level,
            globs=globs,
            share=share,
        )
    else:
        yield said(
            "After them blocks were added until half the {level} interval of each cell was below {share} of"
            " its rate.",
            level=level,
            share=share,
        )
    yield said(
        "An added block held the cells that were not there yet and all cells that are compared with them, in"
        " a new random order; which of two cells was faster decided nothing."
    )
    yield said(
        "Stopping at the first narrow interval would favour those that are narrow by chance, so a cell needed"
        " {fewest} trials at least and an interval that was narrow after each of the last {times}; in"
        " simulations such an interval still holds the true rate in {covered} of studies or more.",
        fewest=count(PRECISE_TRIALS),
        times=count(PRECISE_IN_A_ROW),
        covered=Num(value=PRECISE_COVERAGE, style="percent"),
    )
    yield _blocks(material)
    if material.run.decisions:
        yield from _why(material, material.run.decisions[-1])


def _blocks(material: Material) -> Text:
    """From how few to how many blocks the cells got."""
    planned = Counter(trial.cell_id for trial in material.run.plan.trials if trial.role == "cell")
    least, most = min(planned.values()), max(planned.values())
    if least == most:
        return counted("In all every cell got {n} block.", "In all every cell got {n} blocks.", most)
    return said("In all the cells got {least} to {most} blocks.", least=count(least), most=count(most))


def _why(material: Material, decision: Decision) -> Iterator[Text]:
    protocol = material.run.plan.protocol
    match decision.verdict:
        case "reached":
            yield said("Measuring stopped when that was reached.")
        case "most_blocks":
            yield counted(
                "Measuring stopped before that was reached, since the study allows {n} block at most.",
                "Measuring stopped before that was reached, since the study allows {n} blocks at most.",
                protocol.most_blocks,
            )
        case "budget" if protocol.time_budget_s is not None:
            yield said(
                "Measuring stopped before that was reached, since another block would not have ended within"
                " the time of {budget} that the study allows.",
                budget=Num(value=protocol.time_budget_s, style="duration"),
            )
        case "out_of_reach":
            yield said(
                "Measuring stopped before that was reached, since the trials spread so much that it was out"
                " of reach of the blocks and the time that the study allows."
            )


def _limits(material: Material) -> Iterator[Text]:
    run = material.run
    if run.plan.protocol.precision is None:
        return
    share = Num(value=run.plan.protocol.precision, style="percent")
    last = run.decisions[-1] if run.decisions else None
    if last is None or last.verdict == "more":
        yield said("The run is not complete: whether {share} can be reached was not decided.", share=share)
        return
    if last.cells:
        yield counted(
            "{n} cell is less precise than the {share} that was asked for: {cells}.",
            "{n} cells are less precise than the {share} that was asked for: {cells}.",
            len(last.cells),
            share=share,
            cells=Listing(items=tuple(_width(material, cell_id) for cell_id in last.cells)),
        )
        if last.blocks_needed is not None:
            yield counted(
                "To reach it at least {n} block in all would be needed.",
                "To reach it at least {n} blocks in all would be needed.",
                last.blocks_needed,
            )
    if last.given_up:
        yield counted(
            "{n} cell gave no result in its last blocks and was not waited for.",
            "{n} cells gave no result in their last blocks and were not waited for.",
            len(last.given_up),
        )


def _width(material: Material, cell_id: str) -> Text:
    """A cell with half of its interval as a share of its rate, if it has one."""
    cell = next((each for each in material.analysis.cells if each.cell_id == cell_id), None)
    half = _half(cell) if cell else None
    name = Name(text=cell.label if cell else cell_id)
    if half is None:
        return said("{cell} (no interval)", cell=name)
    return said("{cell} (±{half})", cell=name, half=Num(value=half, style="percent"))


def _half(cell: CellSummary) -> float | None:
    rate = cell.rate
    if rate is None or rate.low is None or rate.high is None:
        return None
    return (rate.high - rate.low) / 2 / rate.value
