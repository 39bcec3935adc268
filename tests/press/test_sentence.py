"""Sentences: slots in frames, in two languages and two formats."""

import pytest

from study.domain.errors import BadUsage, OurFault
from study.domain.estimate import Estimate
from study.domain.text import Day, Est, Listing, Name, Num, Show, Slot, Term, Text, counted, name, said
from study.press import say
from study.press.language import known_languages, language
from study.press.sentence import html

N = "\u00a0"
HELD = Estimate(value=1.6234, low=1.5512, high=1.7012, n=5, unit="", method="t_log")
REFUSED = Estimate(value=1.6, low=None, high=None, n=2, unit="", method="none", refusal="too few")
COUNTED = Estimate(value=7.0, low=None, high=None, n=7, unit="", method="exact")


@pytest.mark.parametrize(
    ("slot", "english", "polish"),
    [
        (Num(value=0.93, style="percent"), "93%", "93%"),
        (Est(estimate=HELD, style="ratio"), "1.62 (95% CI 1.55–1.70)", "1,62 (95% PU 1,55–1,70)"),
        (
            Est(estimate=REFUSED, style="ratio"),
            f"1.60 (n{N}={N}2, no interval)",
            f"1,60 (n{N}={N}2, bez przedziału)",
        ),
        (Est(estimate=COUNTED, style="integer"), "7", "7"),
        (name("ResNet-50"), "ResNet-50", "ResNet-50"),
        (Name(text="a.b", code=True), "a.b", "a.b"),
        (Term(text="Findings"), "Findings", "Wnioski"),
        (Day(iso="2026-12-01"), f"1{N}December{N}2026", f"1{N}grudnia{N}2026"),
        (Day(iso="soon"), "soon", "soon"),
        (Listing(items=(name("a"), name("b"), name("c"))), "a, b and c", f"a, b i{N}c"),
        (said("Table {number}", number=Num(value=2, style="integer")), "Table 2", "Tabela 2"),
        (counted("{n} trial", "{n} trials", 1), "1 trial", "1 próba"),
        (counted("{n} trial", "{n} trials", 22), "22 trials", "22 próby"),
        (counted("{n} trial", "{n} trials", 12), "12 trials", "12 prób"),
        (counted("{n} trial", "{n} trials", 0), "0 trials", "0 prób"),
        (said("no slots"), "no slots", "no slots"),
    ],
)
def test_every_kind_of_slot(slot: Slot, english: str, polish: str) -> None:
    """Each slot is said as its language does; what has no translation stays English."""
    assert [say(slot, code) for code in ("en", "pl")] == [english, polish]


@pytest.mark.parametrize(
    ("show", "words"),
    [
        ("value", "1.62"),
        ("interval", "95% CI 1.55–1.70"),
        ("value_interval", "1.62 (95% CI 1.55–1.70)"),
        ("value_interval_n", f"1.62 (95% CI 1.55–1.70; n{N}={N}5)"),
    ],
)
def test_an_estimate_shows_what_is_asked(show: Show, words: str) -> None:
    """`show` chooses between value, interval and count."""
    assert say(Est(estimate=HELD, style="ratio", show=show)) == words


def test_a_simultaneous_level_is_named() -> None:
    """An interval that is not at 95% says its own level."""
    held = Estimate(value=1.6234, low=1.5512, high=1.7012, n=5, unit="", method="t_log", level=1 - 0.05 / 6)

    assert say(Est(estimate=held, style="ratio", show="interval")) == "99.17% CI 1.55–1.70"


def test_a_truth_stands_to_the_places_of_its_measure() -> None:
    """The interval has as many places as show that it misses the truth, and the truth has as many."""
    held = Estimate(value=1.8372, low=1.8234, high=1.8504, n=5, unit="", method="t_log")
    measure = Est(estimate=held, style="ratio", neutral=1 / 0.55)

    spoken = say(said("{t}, not {m}", t=Num(value=1 / 0.55, style="ratio", like=measure), m=measure))

    assert spoken == "1.818, not 1.837 (95% CI 1.823–1.850)"


def test_a_frame_without_words_needs_no_translation() -> None:
    """Sentences side by side stay in the language, each by itself."""
    row = Text(frame="{a} {b}", slots={"a": Term(text="Findings"), "b": said("Table {n}", n=Num(value=2))})

    assert html(row, language("pl")) == "Wnioski " + html(row.slots["b"], language("pl"))


def test_html_escapes_words_and_slots_and_marks_intervals() -> None:
    """Neither a frame nor a name can make markup."""
    text = said(
        "<b>{x}</b> {y} {z}", x=name("<i>"), y=Est(estimate=HELD, style="ratio"), z=Name(text="&", code=True)
    )

    assert html(text, language("en")) == (
        '&lt;b&gt;&lt;i&gt;&lt;/b&gt; 1.62 <span class="ci">(95% CI 1.55–1.70)</span> <code>&amp;</code>'
    )


def test_an_untranslated_sentence_is_english_and_says_so() -> None:
    """In a Polish page an English sentence has English digits and an English `lang`."""
    text = said("Not in the catalog: {x}", x=Num(value=1.5, style="ratio"))

    assert html(text, language("pl")) == (
        '<span lang="en">Not in the catalog: </span><span lang="en">1.50</span>'
    )


def test_a_name_from_right_to_left_is_isolated() -> None:
    """An Arabic or Hebrew name does not turn its neighbours around."""
    assert html(name("שלום"), language("en")) == "<bdi>שלום</bdi>"


@pytest.mark.parametrize("frame", ["{x.y}", "{0}", "{x!r}", "{x:>9}", "{missing}", "{", "}"])
def test_a_frame_can_only_name_its_slots(frame: str) -> None:
    """Frames reach no attributes, formats or slots that they were not given."""
    with pytest.raises(OurFault, match="frame"):
        say(Text(frame=frame, slots={"x": name("a")}))


def test_an_unknown_language_is_refused_with_those_there_are() -> None:
    """The remedy names the languages."""
    with pytest.raises(BadUsage, match="'xx'") as caught:
        say(said("x"), "xx")

    assert caught.value.remedy == "Choose from: en, pl."
    assert known_languages() == ["en", "pl"]


def test_polish_keeps_one_letter_words_on_the_line() -> None:
    """A preposition of one letter is followed by a space that does not break."""
    assert f"a{N}nie od zera" in say(
        said("The axis “{axis}” starts at {start}, not at zero.", axis=name("x"), start=Num(value=1.0)), "pl"
    )
