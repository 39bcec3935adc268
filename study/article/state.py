"""In what state ranks and devices were when their windows opened: bound or not, hot or not, quiet or not.

All is said of the records: what a study asked for and what was done may differ.
"""

from collections.abc import Iterator, Sequence

from study.article.material import Material
from study.article.words import count, distinct
from study.domain.record import MOST_EXTRA_ROUNDS, Measured, Reading
from study.domain.text import Listing, Num, Term, Text, counted, said


def method(material: Material) -> tuple[Text, ...]:
    """What the readings tell; nothing of readings that were made before it was recorded."""
    trials = tuple(
        record.outcome.readings for record in material.records if isinstance(record.outcome, Measured)
    )
    return (*_quiet(trials), *_heat(material, trials), *_bound(trials))


def _quiet(trials: Sequence[tuple[Reading, ...]]) -> Iterator[Text]:
    """The warm-up went on for events; their counts say so where there were any."""
    if any(event.warmup for readings in trials for reading in readings for event in reading.events):
        yield said(
            "It goes on until a round of steps passed in which nothing was compiled, no device's memory grew"
            " and gradients were not arranged anew, for at most {most} rounds more.",
            most=Num(value=float(MOST_EXTRA_ROUNDS), style="integer"),
        )


def _heat(material: Material, trials: Sequence[tuple[Reading, ...]]) -> Iterator[Text]:
    """How trials were preheated: a trial is level if all its ranks with a sensor were."""
    protocol = material.run.plan.protocol
    known = [[r.preheat for r in readings if r.preheat is not None] for readings in trials]
    heated = [[one for one in each if one.ended != "off"] for each in known]
    if not any(known):
        return
    if not any(heated):
        yield said("Trials were not preheated: the study asks for none.")
        return
    told = [each for each in heated if any(one.ended != "no_sensor" for one in each)]
    if not told:
        why = distinct(
            Term(text=reading.unknown["temperature_start_c"])
            for readings in trials
            for reading in readings
            if "temperature_start_c" in reading.unknown
        )
        yield said(
            "Trials were not preheated, since no temperature could be read: {reasons}.",
            reasons=Listing(items=why),
        )
        return
    yield said(
        "Before its window each trial ran its own load until the temperature of its devices moved by less"
        " than {slope} °C a minute, for {time} at most.",
        slope=Num(value=protocol.preheat_slope_c_per_min),
        time=Num(value=protocol.preheat_s, style="seconds"),
    )
    if late := sum(any(one.ended == "limit" for one in each) for each in told):
        yield counted(
            "In {n} trial of {all} it still moved when that time was over.",
            "In {n} trials of {all} it still moved when that time was over.",
            late,
            all=count(len(told)),
        )
    if blind := len([each for each in heated if each not in told]):
        yield counted(
            "In {n} trial no temperature could be read, so it was not preheated.",
            "In {n} trials no temperature could be read, so they were not preheated.",
            blind,
        )


def _bound(trials: Sequence[tuple[Reading, ...]]) -> Iterator[Text]:
    """Where ranks were bound, to how many CPUs each; where not, why not."""
    known = [readings for readings in trials if all(reading.pinned is not None for reading in readings)]
    bound = [readings for readings in known if all(reading.pinned for reading in readings)]
    if not known:
        return
    widths = {len(reading.cpus or ()) for readings in bound for reading in readings}
    if bound and len(bound) == len(known):
        yield said("Every process was bound to certain processors, the same in every trial.")
    elif bound:
        yield counted(
            "In {n} trial of {all} every process was bound to certain processors, always the same ones.",
            "In {n} trials of {all} every process was bound to certain processors, always the same ones.",
            len(bound),
            all=count(len(known)),
        )
    if len(widths) == 1:
        yield counted(
            "A process had {n} logical processor.", "A process had {n} logical processors.", widths.pop()
        )
    if free := [readings for readings in known if readings not in bound]:
        why = distinct(
            Term(text=reading.not_pinned or "a library undid it")
            for readings in free
            for reading in readings
            if not reading.pinned
        )
        if bound:
            yield said("The others were not bound: {reasons}.", reasons=Listing(items=why))
        else:
            yield said("Processes were not bound to processors: {reasons}.", reasons=Listing(items=why))
