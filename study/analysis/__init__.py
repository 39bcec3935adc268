"""The desk: turns readings into numbers with doubt, and numbers into findings. It measures nothing."""

from collections.abc import Sequence

from study.domain.record import Record
from study.domain.run import Decision, Run
from study.domain.summary import Analysis
from study.domain.trial import Plan

__all__ = ["analyse", "decide", "next_block"]


def analyse(run: Run, records: Sequence[Record]) -> Analysis:
    """Everything that an article about `run` may say. The order of the records does not matter.

    Raises:
        BadShelfFile: a file on the shelf of findings does not keep the shelf's contract.
    """
    from study.analysis.desk import analyse as at_the_desk

    return at_the_desk(run, records)


def decide(plan: Plan, records: Sequence[Record], spent_s: float) -> Decision:
    """Whether the intervals are as narrow as the plan's protocol asks, or one more block is needed.

    Every trial of the plan has a record; `spent_s` is how long they took. Equal arguments, equal decision.
    """
    from study.analysis.enough import decide as at_the_desk

    return at_the_desk(plan, records, spent_s)


def next_block(plan: Plan, decision: Decision, records: Sequence[Record]) -> tuple[str, ...]:
    """The cells of the block that was decided on: those that it is for and all they are compared with."""
    from study.analysis.enough import companions

    return companions(plan, decision, records)
