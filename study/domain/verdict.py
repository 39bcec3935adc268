"""What a comparison allows to say."""

from typing import Literal

from study.domain.estimate import Estimate
from study.domain.fact import Fact

VerdictKind = Literal["clear", "small", "same", "open", "not_compared"]


class Verdict(Fact, frozen=True, kw_only=True):
    """The outcome of comparing A with B by the ratio of their rates, A over B.

    `ratio` carries the simultaneous interval of its family (level 1 - 0.05/m), which decides; whether
    the two are the same is decided by `equivalence`, at 1 - 0.10/m (two one-sided tests).
    `p_adjusted` is Holm's within the family. `repeats_needed` is about how many blocks would settle
    an open one. `margin` was set in the plan. `direction` is A's, seen from B.
    """

    kind: VerdictKind
    direction: Literal["faster", "slower", "neither"]
    ratio: Estimate | None
    margin: float
    p: float | None
    p_adjusted: float | None
    family: str
    family_size: int
    repeats_needed: int | None
    reason: str = ""
    also_same: bool = False
    equivalence: Estimate | None = None
    unknown: dict[str, str] = {}
