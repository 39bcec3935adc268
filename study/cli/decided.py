"""What was decided after a block, in words for a terminal."""

import fnmatch

from study.cli.plan import many
from study.domain.run import PRECISE_TRIALS, Decision
from study.domain.trial import Plan


def line(decision: Decision, plan: Plan) -> str:
    """The decision in one line, the same on the live view, as a plain line and at the end."""
    asked, share = _asked(plan), f"{(plan.protocol.precision or 0) * 100:.4g} %"
    left = len(decision.cells)
    after = f"after block {decision.after_block}"
    if decision.verdict == "more" and decision.after_block < PRECISE_TRIALS:
        words = f"a precision needs {PRECISE_TRIALS} trials of a cell at least; one more block"
    elif decision.verdict == "more":
        verb = "is" if left == 1 else "are"
        words = f"{left} of {many(asked, 'cell')} {verb} not surely within ±{share}; one more block"
    elif decision.verdict == "reached":
        precise = asked - len(decision.given_up)
        words = f"{precise} of {many(asked, 'cell')} {'is' if precise == 1 else 'are'} within ±{share}"
    else:
        verb = "is" if left == 1 else "are"
        why = {
            "budget": "the time budget has no room for another block",
            "most_blocks": f"{plan.protocol.most_blocks} blocks are the most that the protocol allows",
            "out_of_reach": _out_of_reach(decision),
        }[decision.verdict]
        words = f"{left} of {many(asked, 'cell')} {verb} still wider than ±{share}; {why}"
    lost = len(decision.given_up)
    noted = f" ({many(lost, 'cell')} gave no result and {'is' if lost == 1 else 'are'} not waited for)"
    return f"{after}: {words}{noted if lost else ''}"


def why_it_ended(decision: Decision, plan: Plan) -> str:
    """The last decision as a sentence of its own."""
    return f"Measuring stopped {line(decision, plan)}."


def _out_of_reach(decision: Decision) -> str:
    if decision.blocks_needed is None:
        return "more blocks than can be counted would be needed"
    return f"at least {decision.blocks_needed} blocks in all would be needed, which is out of reach"


def _asked(plan: Plan) -> int:
    """Of how many cells the precision is asked."""
    globs = plan.protocol.precision_cells or ["*"]
    return sum(any(fnmatch.fnmatchcase(cell.id, glob) for glob in globs) for cell in plan.cells)
