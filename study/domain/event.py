"""What the lab tells while it works; the hallway shows it."""

from typing import Literal

from study.domain.fact import Fact
from study.domain.record import Record
from study.domain.run import Decision


class Started(Fact, frozen=True, kw_only=True, tag_field="kind", tag="started"):
    """The run begins: trials in all, those done before, those chosen now, predicted seconds for these."""

    trials: int
    done: int
    chosen: int
    predicted_s: float | None


class TrialStarted(Fact, frozen=True, kw_only=True, tag_field="kind", tag="trial_started"):
    """A trial is about to be launched."""

    trial: str
    cell_id: str
    position: int
    block: int
    left_s: float | None
    role: Literal["cell", "sentinel"] = "cell"


class TrialEnded(Fact, frozen=True, kw_only=True, tag_field="kind", tag="trial_ended"):
    """An attempt ended and its record is stored; `again`: another one of this trial follows at once."""

    record: Record
    position: int
    left_s: float | None
    again: bool = False


class Decided(Fact, frozen=True, kw_only=True, tag_field="kind", tag="decided"):
    """After a block it was decided whether to measure on; `trials` is how many are planned in all now."""

    decision: Decision
    trials: int
    left_s: float | None


class Ended(Fact, frozen=True, kw_only=True, tag_field="kind", tag="ended"):
    """The run ended."""

    why: Literal["complete", "partial", "interrupted"]


Event = Started | TrialStarted | TrialEnded | Decided | Ended
