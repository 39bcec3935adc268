"""Polish: its typography and its terms, over the whole catalog, and how its sentences come out."""

import re

import pytest

from study.domain.estimate import Estimate
from study.domain.text import Est, Listing, Name, Num, Slot, Term, Text, counted, name, said
from study.press import say
from study.press.language import CATALOGS, language

N = "\u00a0"
LONE_LETTER = re.compile(r"(?<![^\s(„])[aiouwzAIOUWZ] ")
SLOT = re.compile(r"{\w+}")

SAME = {"Model", "Python", "PyTorch", "CUDA", "cuDNN", "NCCL", "{unit}/s"}
"""Words and signs of units that are the same in both languages."""

NOT_OUR_TERMS = "trening|inferenc|batch|speed-?up|throughput"
"""Words for which the field's Polish has better ones: uczenie, wnioskowanie, partia, przyspieszenie."""


@pytest.fixture(scope="module")
def pairs() -> list[tuple[str, str]]:
    """Every English sentence with each of its Polish forms, as they stand in the catalog."""
    from babel.messages.pofile import read_po

    with (CATALOGS / "pl" / "LC_MESSAGES" / "study.po").open("rb") as file:
        catalog = read_po(file)
    return [
        (message.id[0], form) if message.pluralizable else (message.id, message.string)
        for message in catalog
        if message.id
        for form in (message.string if message.pluralizable else [message.string])
    ]


def test_no_line_ends_on_a_word_of_one_letter(pairs: list[tuple[str, str]]) -> None:
    """Whatever is said in Polish, a lone letter is followed by a space that does not break."""
    speech = language("pl")
    told = [speech.translation(english) or polish for english, polish in pairs]

    assert [text for text in told if LONE_LETTER.search(text)] == []


def test_signs_are_polish(pairs: list[tuple[str, str]]) -> None:
    """Quotation marks are „…”, dashes are not hyphens, and there is no run of dots or spaces."""
    wrong = re.compile(r'"|“|\'| - |\.\.\.|  | [.,;:)]')

    assert [polish for _, polish in pairs if wrong.search(polish)] == []


def test_a_sentence_ends_as_in_english(pairs: list[tuple[str, str]]) -> None:
    """A full stop is neither lost nor added, so that sentences can stand side by side."""
    abbreviations = ("p.p.",)

    assert [
        polish
        for english, polish in pairs
        if polish not in abbreviations and english.endswith(".") != polish.endswith(".")
    ] == []


def test_only_names_are_the_same_in_both_languages(pairs: list[tuple[str, str]]) -> None:
    """A translation that equals its original was forgotten, unless it has no words or is a name."""
    copied = {english for english, polish in pairs if english == polish}

    assert {text for text in copied if re.search(r"[^\W\d_]", SLOT.sub("", text))} <= SAME


def test_terms_are_those_of_the_field(pairs: list[tuple[str, str]]) -> None:
    """One thing has one name, and it is not an English one."""
    wrong = re.compile(NOT_OUR_TERMS, re.IGNORECASE)

    assert [polish for _, polish in pairs if wrong.search(SLOT.sub("", polish))] == []


@pytest.mark.parametrize(
    ("n", "polish"),
    [
        (0, "po 0 prób, na tej maszynie"),
        (1, "po 1 próbie, na tej maszynie"),
        (2, "po 2 próby, na tej maszynie"),
        (5, "po 5 prób, na tej maszynie"),
        (12, "po 12 prób, na tej maszynie"),
        (21, "po 21 prób, na tej maszynie"),
        (22, "po 22 próby, na tej maszynie"),
        (112, "po 112 prób, na tej maszynie"),
    ],
)
def test_a_count_takes_its_form(n: int, polish: str) -> None:
    """1, then 2 to 4 except the teens, then the rest."""
    text = counted("{n} trial each, on this machine", "{n} trials each, on this machine", n)

    assert say(text, "pl") == polish


def test_a_claim_reads_as_a_polish_sentence() -> None:
    """The name of a model does not decline, digits and the interval are Polish."""
    frame = (
        "{opening} of {workload} on {devices} devices is {speedup} times that of one device ({base}), with "
        "the global batch held at {batch} (strong scaling, {strategy})."
    )

    assert say(Text(frame=frame, slots=claimed()), "pl") == (
        "Przepustowość uczenia gpt tiny: przyspieszenie na 2 urządzeniach wynosi 1,62 (95% PU 1,55–1,70) "
        f"względem jednego urządzenia (25{N}612{N}tokenów/s) przy stałej globalnej wielkości partii 8 "
        "(skalowanie silne, ddp)."
    )


def test_what_is_measured_is_named_inside_a_sentence_too() -> None:
    """What opens one sentence stands in the middle of another, without a capital."""
    frame = (
        "Whether {throughput} of {workload} on {devices} devices differs from that of one device ({base}) "
        "is not settled, with the batch per device held at {batch} (weak scaling, {strategy}): the ratio "
        "is {speedup}."
    )

    assert say(Text(frame=frame, slots=claimed()), "pl") == (
        "Pozostaje nierozstrzygnięte, czy przepustowość uczenia gpt tiny na 2 urządzeniach różni się od "
        f"przepustowości na jednym (25{N}612{N}tokenów/s) przy stałej wielkości partii 8 na urządzenie "
        "(skalowanie słabe, ddp); stosunek wynosi 1,62 (95% PU 1,55–1,70)."
    )


def claimed() -> dict[str, Slot]:
    """The slots of a claim about a speed-up in training."""
    held = Estimate(value=1.6234, low=1.5512, high=1.7012, n=5, unit="", method="t_log")
    base = Estimate(value=25_612.0, low=None, high=None, n=5, unit="tokens/s", method="exact")
    return {
        "opening": Term(text="Training throughput"),
        "throughput": Term(text="training throughput"),
        "workload": name("gpt tiny"),
        "devices": Num(value=2, style="integer"),
        "speedup": Est(estimate=held, style="ratio"),
        "base": Est(estimate=base, style="rate", unit="tokens", show="value"),
        "batch": Num(value=8, style="integer"),
        "strategy": Name(text="ddp", code=True),
    }


@pytest.mark.parametrize(
    ("n", "polish"),
    [
        (1, f"Z{N}55 zaplanowanych prób 1 nie dała przepustowości."),
        (3, f"Z{N}55 zaplanowanych prób 3 nie dały przepustowości."),
        (12, f"Z{N}55 zaplanowanych prób 12 nie dało przepustowości."),
    ],
)
def test_a_verb_agrees_with_its_count(n: int, polish: str) -> None:
    """English has one sentence for every count where Polish has three, because its verb has three forms."""
    frame = "Of {planned} planned trials, {n} gave no rate."

    assert say(counted(frame, frame, n, planned=Num(value=55, style="integer")), "pl") == polish


def test_a_unit_of_work_stands_in_the_genitive() -> None:
    """A unit is the same word beside a number and in a title."""
    rate = Num(value=24.64, style="rate", unit="images")

    assert say(rate, "pl") == f"24,6{N}obrazów/s"
    assert say(said("Rates counted in {unit}", unit=Term(text="images")), "pl") == "Liczba obrazów na sekundę"
    assert say(said("{unit}/s", unit=Term(text="tokens")), "pl") == "tokenów/s"


def test_a_row_does_not_break_after_its_conjunction() -> None:
    """The „i” before the last thing stays with it."""
    assert say(Listing(items=(name("a"), name("b"))), "pl") == f"a i{N}b"


@pytest.mark.parametrize(
    ("recorded", "polish"),
    [
        ("The strategy single uses one device.", "Strategia single używa jednego urządzenia."),
        ("It needs 4 devices; this machine has 2.", "Potrzebne urządzenia: 4; na tej maszynie: 2."),
        ("the driver answered NVMLError_Unknown", "sterownik odpowiedział: NVMLError_Unknown"),
        ("the driver answered {name}", "sterownik odpowiedział: {name}"),
        (
            "The global batch of 7 cannot be shared equally by 2 groups of devices.",
            f"Partii o{N}globalnej wielkości 7 nie da się rozdzielić po równo dla 2 grup urządzeń.",
        ),
        (
            "The option micro_batches is 1; with 2 stages it must be 2 at least.",
            f"Opcja micro_batches ma wartość 1; przy stages{N}={N}2 musi wynosić co najmniej 2.",
        ),
    ],
)
def test_a_sentence_that_was_recorded_is_told_by_its_pattern(recorded: str, polish: str) -> None:
    """Records hold finished English sentences; one that fits a pattern is said in Polish."""
    assert say(Term(text=recorded), "pl") == polish
    assert say(Term(text=recorded), "en") == recorded


@pytest.mark.parametrize(
    "recorded",
    [
        "One replica on one device is the cell of the strategy single.",
        "The strategy single uses one device. It is a pity.",
        "The option micro_batches is 1; with 2 stages it must be 3 at least.",
        "the driver answered ",
        f"the driver answered {'x' * 400}",
    ],
)
def test_what_fits_no_pattern_stays_as_it_was_written(recorded: str) -> None:
    """A person's reason, and a text too long for a sentence, are shown as they are."""
    assert language("pl").translation(recorded) is None
