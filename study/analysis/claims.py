"""How findings are put together: slots for their sentences, and the fields that all of them fill alike."""

import math
import string
from collections.abc import Mapping, Sequence

from study.analysis import reasons
from study.analysis.parts import Parts
from study.domain.estimate import Estimate
from study.domain.finding import Evidence, Finding, Section
from study.domain.strategy_words import strategy_words
from study.domain.summary import CellSummary
from study.domain.text import Est, Name, Num, Slot, Style, Text
from study.domain.trial import Cell
from study.domain.verdict import Verdict


def worded(frame: str, slots: Mapping[str, Slot]) -> Text:
    """The sentence of a frame with those slots that it names.

    Raises:
        KeyError: the frame names a slot that is not there.
    """
    return Text(frame=frame, slots={name: slots[name] for name in placeholders(frame)})


def placeholders(frame: str) -> tuple[str, ...]:
    """The names of the slots in a frame."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(frame) if name is not None)


def size(value: Estimate | None) -> float:
    """The practical size of a ratio: the distance of its logarithm from zero."""
    return abs(math.log(value.value)) if value is not None else 0.0


def fewer_first(devices: int) -> float:
    """The weight of a claim without practical size: below any other, and fewer devices before more.

    Each further device divides by four, which is more than evidence, of three levels, can make up for.
    """
    return 0.001 * 4.0 ** (1 - devices)


def judged(verdict: Verdict | None) -> Estimate | None:
    """The ratio with the interval that its verdict rests on: sentence and verdict cannot contradict."""
    if verdict is None:
        return None
    return verdict.equivalence if verdict.kind == "same" else verdict.ratio


def ratio(value: Estimate) -> Est:
    """A ratio with its interval."""
    return Est(estimate=value, style="ratio")


def bare_ratio(value: Estimate) -> Est:
    """A ratio alone, for titles."""
    return Est(estimate=value, style="ratio", show="value")


def share(value: Estimate) -> Est:
    """A share as a percentage, alone, for titles."""
    return Est(estimate=value, style="percent", show="value")


def rate(cell: CellSummary, value: Estimate) -> Est:
    """An absolute rate with its interval, in the cell's unit of work."""
    return Est(estimate=value, style="rate", unit=cell.unit)


def bare_rate(cell: CellSummary, value: Estimate) -> Est:
    """An absolute rate alone."""
    return Est(estimate=value, style="rate", unit=cell.unit, show="value")


def milliseconds(value: Estimate) -> Est:
    """A time with its interval."""
    return Est(estimate=value, style="milliseconds")


def bare_milliseconds(value: Estimate) -> Est:
    """A time alone, for titles."""
    return Est(estimate=value, style="milliseconds", show="value")


def percent(value: float) -> Num:
    """A share as a percentage."""
    return Num(value=value, style="percent")


def whole(value: int) -> Num:
    """A count."""
    return Num(value=float(value), style="integer")


def workload(cell: Cell) -> Name:
    """Workload and size: "gpt tiny"."""
    return Name(text=f"{cell.workload} {cell.size}".strip())


def code(text: str) -> Name:
    """An identifier."""
    return Name(text=text, code=True)


def strategy(parts: Parts, cell: Cell) -> Name:
    """The strategy with those options that a reader has to know among the cells of the run."""
    return code(strategy_words(cell, (other.cell for other in parts.cells)))


def claim(
    *,
    key: str,
    shelf: str,
    section: Section,
    sentence: Text,
    short: Text,
    evidence: Evidence,
    note: Text,
    trials: Sequence[str],
    table: str,
    figure: str = "",
    estimate: Estimate | None = None,
    style: Style = "plain",
    unit: str = "",
    verdict: Verdict | None = None,
    headline: bool = False,
    weight: float = 0.0,
    caveats: Sequence[Text] = (),
) -> Finding:
    """A finding whose large number, if it has one, is its estimate.

    What is not settled has no large number, and what was not compared is no headline.
    """
    unknown: dict[str, str] = {}
    big = estimate
    if estimate is None:
        unknown |= {"estimate": reasons.NOT_A_CLAIM_OF_SIZE, "big": reasons.NOT_A_CLAIM_OF_SIZE}
    if verdict is None:
        unknown["verdict"] = reasons.NO_COMPARISON
    elif verdict.kind in ("open", "not_compared"):
        big = None
        unknown["big"] = reasons.NOT_SETTLED if verdict.kind == "open" else reasons.NOT_COMPARED
    return Finding(
        key=key,
        shelf=shelf,
        section=section,
        sentence=sentence,
        short=short,
        evidence=evidence,
        evidence_note=note,
        estimate=estimate,
        big=big,
        big_style=style if big is not None else "plain",
        big_unit=unit if big is not None else "",
        verdict=verdict,
        table=table,
        figure=figure,
        headline=headline and (verdict is None or verdict.kind != "not_compared"),
        weight=weight,
        trials=tuple(trials),
        caveats=tuple(caveats),
        unknown=unknown,
    )
