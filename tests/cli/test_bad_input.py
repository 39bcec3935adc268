"""Bad input gets one clear sentence with place and remedy, exit code 2, no traceback; nothing is written."""

import shutil
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

    assert sorted(path.name for path in sleepy.parent.iterdir()) == ["sleepy.toml", "tmp"]


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

    assert sorted(path.name for path in sleepy.parent.iterdir()) == ["sleepy.toml", "tmp"]


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


def test_a_dry_run_has_no_document(study: Study, sleepy: Path) -> None:
    """Nothing is measured, so there is nothing to tell; it says so instead of printing something else."""
    done = study("run", "sleepy.toml", "--dry-run", "--json")

    assert done.returncode == 2
    assert "--dry-run measures nothing" in done.stderr


def test_a_copy_of_a_run_is_named_when_rendering(study: Study, sleepy: Path) -> None:
    """Two folders of one run would be two articles at one address."""
    assert study("run", "sleepy.toml", "--only", "*single*").returncode == 0
    (run,) = sleepy.parent.glob("runs/*/*")
    shutil.copytree(run, run.with_name("copy"))

    refused(study("render"), str(Path("runs/sleepy") / run.name), "runs/sleepy/copy", "hold the same run")


def test_rendering_one_run_does_not_drop_the_others(study: Study, sleepy: Path) -> None:
    """Their pages stay until somebody renders them all, or gives another folder."""
    assert study("run", "sleepy.toml").returncode == 0
    assert study("run", "sleepy.toml").returncode == 0
    assert study("render").returncode == 0
    first, _ = sorted(sleepy.parent.glob("runs/*/*"))
    pages = sorted(sleepy.parent.glob("site/studies/*/*/index.html"))

    refused(study("render", str(first)), "of runs that you did not name", "--site")

    assert sorted(sleepy.parent.glob("site/studies/*/*/index.html")) == pages
    assert study("render", str(first), "--site", "alone").returncode == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [('"margin": 0.02', '"margin": 0.0001'), ('"cpu_model": "', '"cpu_model": "Fantasy ')],
)
def test_a_plan_or_machine_that_was_edited_afterwards_is_refused(
    study: Study, sleepy: Path, before: str, after: str
) -> None:
    """The margin is set before any data, and stays."""
    assert study("run", "sleepy.toml", "--only", "*single*").returncode == 0
    (path,) = sleepy.parent.glob("runs/*/*/run.json")
    path.write_text(path.read_text().replace(before, after))

    refused(study("render"), "run.json", "changed after it was written")
    assert study("validate").returncode == 2
    assert "damaged" in study("list", "runs").stdout
