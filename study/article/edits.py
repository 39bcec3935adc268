"""Which parts of a run are from which state of its study file, where the file was edited in between."""

from bisect import bisect_right

from study.domain.run import Run
from study.domain.summary import Analysis
from study.domain.text import Day, Listing, Name, Text, counted, said


def edits(run: Run, analysis: Analysis) -> tuple[Text, ...]:
    """One sentence for each edit that added trials, and one for the cells that were taken out; none without.

    A cell belongs to the state in which its first measured trial was planned.
    """
    if not run.states:
        return ()
    starts = [state.first_order for state in run.states]
    measured = sorted((t.order, t.cell_id) for t in analysis.trials if t.rate is not None)
    state_of = [(bisect_right(starts, order) - 1, cell_id) for order, cell_id in measured]
    first: dict[str, int] = {}
    for state, cell_id in state_of:
        first.setdefault(cell_id, state)
    added = sorted({state for state, _ in state_of if state > 0})
    return (
        *(_edit(run, analysis, state, first) for state in added),
        *_taken_out(run),
    )


def _edit(run: Run, analysis: Analysis, state: int, first: dict[str, int]) -> Text:
    """The cells that came with an edit; where none did, the edit added blocks."""
    since = Day(iso=run.states[state].since_utc[:10])
    new = tuple(Name(text=cell.label) for cell in analysis.cells if first.get(cell.cell_id) == state)
    if not new:
        return said(
            "The study file was edited during this run: blocks were added on {day}, with the same cells.",
            day=since,
        )
    return counted(
        "The study file was edited during this run: {n} cell was measured after the edit of {day}, apart"
        " from those measured before it: {cells}.",
        "The study file was edited during this run: {n} cells were measured after the edit of {day}, apart"
        " from those measured before it: {cells}.",
        len(new),
        day=since,
        cells=Listing(items=new),
    )


def _taken_out(run: Run) -> tuple[Text, ...]:
    """Cells with records that the newest file does not name; the planner gave each its reason."""
    gone = sum("Taken out of the study file" in cell.reason for cell in run.plan.skipped)
    if not gone:
        return ()
    return (
        counted(
            "{n} cell was taken out of the study file after trials of it had been recorded: they enter no"
            " number here, and stay among the raw records.",
            "{n} cells were taken out of the study file after trials of them had been recorded: they enter"
            " no number here, and stay among the raw records.",
            gone,
        ),
    )
