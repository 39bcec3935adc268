"""A verdict, its sentence and its evidence."""

from typing import Literal

from study.domain.estimate import Estimate
from study.domain.fact import Fact
from study.domain.text import Style, Text
from study.domain.verdict import Verdict

Evidence = Literal["strong", "moderate", "weak", "not_shown", "none"]
Section = Literal["one_device", "more_devices", "checks", "limits"]


class Finding(Fact, frozen=True, kw_only=True):
    """A claim: number and sentence together.

    `big` and `big_style` are the number that the findings box shows large; null if the claim has
    none, or is not settled. `headline` asks for a place in the box; `weight` orders it (practical size,
    larger first; a small weight without size puts fewer devices first). `short` is a fragment-free short
    sentence for a figure's title. `trials` are the records that it rests on, `scope` and `why_not` say
    what it covers and what it does not.
    """

    key: str
    shelf: str
    section: Section
    sentence: Text
    short: Text
    evidence: Evidence
    evidence_note: Text
    estimate: Estimate | None
    big: Estimate | None
    big_style: Style
    big_unit: str
    verdict: Verdict | None
    table: str
    figure: str
    headline: bool
    weight: float
    trials: tuple[str, ...]
    caveats: tuple[Text, ...] = ()
    unknown: dict[str, str] = {}
