"""The desk: turns readings into numbers with doubt, and numbers into findings. It measures nothing."""

from collections.abc import Sequence

from study.domain.record import Record
from study.domain.run import Run
from study.domain.summary import Analysis

__all__ = ["analyse"]


def analyse(run: Run, records: Sequence[Record]) -> Analysis:
    """Everything that an article about `run` may say. The order of the records does not matter.

    Raises:
        BadShelfFile: a file on the shelf of findings does not keep the shelf's contract.
    """
    from study.analysis.desk import analyse as at_the_desk

    return at_the_desk(run, records)
