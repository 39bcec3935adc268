"""Bad input gets one clear sentence with place and remedy, exit code 2, no traceback; nothing is written."""

from pathlib import Path

import pytest
from fakes.command import Study


def refused(done, *words: str) -> None:
    """The refusal is one sentence and a remedy on stderr, and says all of `words`."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    problem, remedy = done.stderr.rstrip("\n").split("\n", 1)
    assert problem.startswith("study: ")
    assert remedy.startswith("       ")
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("blocks = 3", "blokcs = 3", ["protocol.blokcs", 'Did you mean "blocks"?']),
        ("blocks = 3", 'blocks = "three"', ["protocol.blocks", "expected `int`, got `str`"]),
        ("devices = [1, 2]", "devices = 0", ["matrix[0].devices"]),
        ('"sleep"', '"slepe"', ["matrix[0].workload", 'Did you mean "sleep"?']),
        ("step_ms = 10.0", "step_msec = 10.0", ["matrix[0].options.step_msec", 'Did you mean "step_ms"?']),
        ("[protocol]", "[protocol", ["not valid TOML", "line"]),
        ('name = "sleepy"', "", ["the key name is missing"]),
    ],
)
@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_study_file_that_says_what_it_cannot(  # noqa: PLR0917  fixtures and parameters
    study: Study, sleepy: Path, command: str, before: str, after: str, words: list[str]
) -> None:
    """File, key path and a way out."""
    sleepy.write_text(sleepy.read_text().replace(before, after, 1))

    refused(study(command, "sleepy.toml"), "sleepy.toml", *words)

    assert sorted(path.name for path in sleepy.parent.iterdir()) == ["sleepy.toml"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "quik"), ["'quik'", 'Did you mean "quick"?']),
        (("run", "nowhere.toml"), ["no study file called 'nowhere.toml'"]),
        (("run", "sleepy.toml", "--only", "gpt*"), ["No cell", "'gpt*'", "study plan"]),
        (("run", "sleepy.toml", "--launcher", "locl"), ['no launcher "locl"', 'Did you mean "local"?']),
        (("render",), ["there is no run to render", "`study run`"]),
        (("render", "elsewhere"), ["elsewhere", "no run there"]),
        (("validate",), ["runs", "no run there"]),
    ],
)
def test_a_command_line_that_asks_for_what_is_not_there(
    study: Study, sleepy: Path, arguments: tuple[str, ...], words: list[str]
) -> None:
    """What is missing, and what there is."""
    refused(study(*arguments), *words)

    assert sorted(path.name for path in sleepy.parent.iterdir()) == ["sleepy.toml"]


def test_an_archive_that_cannot_be_written(study: Study, sleepy: Path) -> None:
    """A file stands where the archive should be."""
    (sleepy.parent / "runs").write_text("not a folder")

    refused(study("run", "sleepy.toml"), "runs", "--runs")


@pytest.mark.parametrize("content", [b'{"schema":1,', b"", b'{"schema":9}'])
def test_a_torn_or_foreign_record_is_named_and_left_alone(study: Study, sleepy: Path, content: bytes) -> None:
    """Neither rendering nor resuming nor validating goes on as if it were not there."""
    assert study("run", "sleepy.toml", "--only", "*single*").returncode == 0
    (torn, *_) = sorted(sleepy.parent.glob("runs/*/*/trials/*.json"))
    torn.write_bytes(content)

    for arguments in (("render",), ("run", "sleepy.toml")):
        refused(study(*arguments), torn.name)
    validated = study("validate")

    assert validated.returncode == 2
    assert torn.name in validated.stdout
    assert torn.read_bytes() == content
    assert not (sleepy.parent / "site").exists()
