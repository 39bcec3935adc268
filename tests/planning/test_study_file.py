"""A study file is decoded strictly, and every refusal names the place and a way out."""

import pytest

from study.domain.errors import BadStudyFile, BadUsage
from study.planning.study_file import decode, load_study, preset_names

GOOD = """
name = "mine"
title = "Mine"

[[matrix]]
workload = "gpt"
task = "train"
size = "tiny"
"""


def test_a_file_without_the_optional_keys_takes_their_documented_defaults() -> None:
    """Five blocks, strong scaling, fp32, one thread a device."""
    study = decode(GOOD, "mine.toml")

    assert study.protocol.blocks == 5
    assert study.matrix[0].scaling == "strong"
    assert study.matrix[0].precision == "fp32"
    assert study.matrix[0].threads_per_device == 1


@pytest.mark.parametrize(
    ("extra", "place", "remedy"),
    [
        ("", "", ""),
        ("qestion = 'x'", "mine.toml: qestion: there is no such key", 'Did you mean "question"?'),
        (
            "[protocol]\nblokcs = 3",
            "mine.toml: protocol.blokcs: there is no such key",
            'Did you mean "blocks"?',
        ),
        (
            "[protocol]\nblocks = 'five'",
            "mine.toml: protocol.blocks: expected `int`, got `str`",
            "Change the value",
        ),
        ("[protocol]\nblocks = 0", "mine.toml: protocol.blocks: expected `int` >= 1", "Change the value"),
        (
            "[protocol]\nmargin = 2.0",
            "mine.toml: protocol.margin: expected `float` < 0.5",
            "Change the value",
        ),
        ("authors = 'one'", "mine.toml: authors: expected `array`, got `str`", "Change the value"),
        ("[[exclude]]\nwhere = {}", "mine.toml: exclude[0]: the key because is missing", "Add because"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_place_and_a_remedy(
    extra: str, place: str, remedy: str
) -> None:
    """The sentence says file, key path and what was wrong; the remedy the nearest right name."""
    text = f"{extra}\n{GOOD}" if not extra.startswith("[") else f"{GOOD}\n{extra}"
    if not extra:
        assert decode(text, "mine.toml").name == "mine"
        return

    with pytest.raises(BadStudyFile) as refused:
        decode(text, "mine.toml")

    assert refused.value.problem.startswith(place)
    assert remedy in refused.value.remedy
    assert refused.value.exit_code == 2


def test_an_option_written_as_a_key_of_the_matrix_is_sent_to_options() -> None:
    """`sequence = 128` under [[matrix]] is the commonest misplacement."""
    with pytest.raises(BadStudyFile) as refused:
        decode(GOOD + "sequence = 128\n", "mine.toml")

    assert refused.value.problem == "mine.toml: matrix[0].sequence: there is no such key"
    assert "options = { sequence = ... }" in refused.value.remedy


@pytest.mark.parametrize("levels", ["0", "[1, 0]", "-2", "1.5", "true", '"all"'])
def test_a_device_count_that_is_no_positive_whole_number_is_refused(levels: str) -> None:
    """Zero devices, minus two and one and a half are no counts."""
    with pytest.raises(BadStudyFile) as refused:
        decode(GOOD + f"devices = {levels}\n", "mine.toml")

    assert refused.value.problem.startswith("mine.toml: matrix[0].devices")


def test_a_name_that_could_leave_the_archive_is_refused() -> None:
    """A study's name becomes a folder."""
    with pytest.raises(BadStudyFile) as refused:
        decode(GOOD.replace('"mine"', '"../mine"'), "mine.toml")

    assert refused.value.problem.startswith("mine.toml: name")


def test_what_is_not_toml_is_refused_with_the_line() -> None:
    """The line and column come from the parser."""
    with pytest.raises(BadStudyFile) as refused:
        decode("name = \n", "mine.toml")

    assert "not valid TOML" in refused.value.problem
    assert "line 1" in refused.value.problem


def test_a_file_that_is_not_text_is_refused(tmp_path) -> None:
    """A picture, say."""
    path = tmp_path / "picture.toml"
    path.write_bytes(b"\x89PNG\xff\xfe")

    with pytest.raises(BadStudyFile) as refused:
        load_study(str(path))

    assert "not UTF-8 text" in refused.value.problem


def test_a_misspelt_preset_gets_the_nearest_one() -> None:
    """`quik` means quick."""
    with pytest.raises(BadUsage) as refused:
        load_study("quik")

    assert "'quik'" in refused.value.problem
    assert 'Did you mean "quick"?' in refused.value.remedy


def test_a_missing_file_is_called_a_file() -> None:
    """What ends in .toml was meant as a path."""
    with pytest.raises(BadUsage) as refused:
        load_study("nowhere/mine.toml")

    assert refused.value.problem == "There is no study file called 'nowhere/mine.toml'."


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_is_a_study_named_like_its_file(preset: str) -> None:
    """The name on the command line is the name in the archive."""
    study, text = load_study(preset)

    assert study.name == preset
    assert text.startswith("#")


@pytest.mark.parametrize(
    ("before", "after", "problem", "remedy"),
    [
        ('"train"', '"trian"', "matrix[0].task: 'trian' is no task", 'Did you mean "train"?'),
        (
            '"gpt"',
            '"gpt"\nscaling = "weka"',
            "matrix[0].scaling: 'weka' is no scaling",
            'Did you mean "weak"?',
        ),
        ('"gpt"', '"gpt"\ndevices = "two"', "matrix[0].devices: 'two' is no devices", "auto"),
        ('"mine"', '"My study"', "name: not a name that can be a folder", "two-cards"),
        ("[[matrix]]", "[other]", "other: there is no such key", "matrix"),
    ],
)
def test_a_word_that_is_none_of_few_gets_the_nearest(
    before: str, after: str, problem: str, remedy: str
) -> None:
    """Not the parser's own phrase, but what may stand there."""
    with pytest.raises(BadStudyFile) as refused:
        decode(GOOD.replace(before, after, 1), "mine.toml")

    assert refused.value.problem.startswith(f"mine.toml: {problem}")
    assert remedy in refused.value.remedy


def test_a_study_without_a_matrix_is_told_to_add_one() -> None:
    """In the notation that it needs."""
    with pytest.raises(BadStudyFile) as refused:
        decode('name = "mine"\ntitle = "Mine"\n', "mine.toml")

    assert "there is no matrix" in refused.value.problem
    assert "[[matrix]]" in refused.value.remedy


def test_another_format_is_recognised() -> None:
    """A JSON file, say, is syntactically wrong everywhere."""
    with pytest.raises(BadStudyFile) as refused:
        decode('{"name": "mine"}', "mine.json")

    assert "another format" in refused.value.remedy


def test_a_folder_is_not_a_study_file(tmp_path) -> None:
    """It exists, so "there is no such file" would be wrong."""
    with pytest.raises(BadUsage, match="is a folder"):
        load_study(str(tmp_path))
