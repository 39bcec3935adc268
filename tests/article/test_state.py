"""What is said of the state in which ranks were: all of it from their readings."""

import msgspec
import pytest
from fakes.records import fake_run

from study.article.state import method
from study.domain.record import CountedEvent, Measured, Preheat

COLD = "the system shows no sensor"


def records(*changes):
    """As many measured records as there are changes, each with all its readings changed so."""
    _, found = fake_run()
    measured = [record for record in found if isinstance(record.outcome, Measured)]
    return tuple(
        msgspec.structs.replace(
            record,
            outcome=Measured(
                readings=tuple(msgspec.structs.replace(r, **change) for r in record.outcome.readings)
            ),
        )
        for record, change in zip(measured, changes, strict=False)
    )


@pytest.fixture
def told(scene, say):
    """What is said of records that were changed so."""

    def told(*changes):
        return " ".join(say(text) for text in method(scene.but(records=records(*changes)).material()))

    return told


BOUND = {"cpus": (0, 1), "pinned": True}
FREE = {"cpus": (0, 1, 2), "pinned": False, "not_pinned": "the study switches it off"}


def test_nothing_is_said_of_what_was_not_recorded(told):
    """Readings of before say nothing, and so does the page."""
    assert told({}, {}) == ""


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([BOUND, BOUND], "Every process was bound to certain processors, the same in every trial."),
        ([BOUND, BOUND], "A process had 2 logical processors."),
        ([BOUND, FREE], "In 1 trial of 2 every process was bound to certain processors"),
        ([BOUND, FREE], "The others were not bound: the study switches it off."),
        ([FREE, FREE], "Processes were not bound to processors: the study switches it off."),
        ([{**FREE, "not_pinned": ""}], "Processes were not bound to processors: a library undid it."),
    ],
)
def test_binding_is_told_as_it_was(told, changes, sentence):
    """In how many trials, to how many processors, and why not."""
    assert sentence in told(*changes)


def test_processors_are_counted_where_all_have_as_many(told):
    """Cells of different threads have no common number."""
    assert "A process had" not in told(BOUND, {"cpus": (0,), "pinned": True})
    assert "A process had 1 logical processor." in told({"cpus": (0,), "pinned": True})
    assert "A process had" not in told(FREE)


def heat(ended, seconds=90.0, unknown=None):
    """A reading's preheating."""
    return {"preheat": Preheat(seconds=seconds, ended=ended), "unknown": unknown or {}}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ([heat("off")], "Trials were not preheated: the study asks for none."),
        (
            [heat("no_sensor", unknown={"temperature_start_c": COLD})],
            "Trials were not preheated, since no temperature could be read: the system shows no sensor.",
        ),
        ([heat("level")], "moved by less than 1 °C a minute, for 300"),
        ([heat("level"), heat("limit")], "In 1 trial of 2 it still moved when that time was over."),
        (
            [heat("level"), heat("no_sensor")],
            "In 1 trial no temperature could be read, so it was not preheated.",
        ),
    ],
)
def test_preheating_is_told_as_it_went(scene, say, changes, sentence):
    """Off, blind, level, or at its limit: in words, and in how many trials."""
    plan = scene.run.plan
    heated = msgspec.structs.replace(plan, protocol=msgspec.structs.replace(plan.protocol, preheat_s=300.0))
    material = scene.with_run(plan=heated).but(records=records(*changes)).material()

    assert sentence in " ".join(say(text) for text in method(material))


def test_a_warm_up_that_had_to_go_on_is_told(told):
    """Where something was compiled before a window, the rule is said; else it is of no interest."""
    compiled = (CountedEvent(name="compilation", warmup=2, window=0),)

    assert "for at most 20 rounds more" in told({"events": compiled})
    assert "rounds" not in told({"events": ()})
