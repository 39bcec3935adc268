"""What exists is documented: commands, keys of a study file, everything on a shelf; and the examples work."""

import re
import sys
import typing
from pathlib import Path

import msgspec
import pytest
from fakes.command import Study as Command

from study.cli.app import COMMANDS
from study.domain import shelf
from study.domain.shelf import StrategyFacts
from study.domain.study import Exclude, Matrix, Protocol, Study
from study.planning import preset_names
from study.planning.study_file import decode

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()
STUDY_FILE = (ROOT / "docs" / "study-file.md").read_text()
ADDING = (ROOT / "docs" / "adding-a-workload.md").read_text()


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language in a Markdown text."""
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command: str) -> None:
    """As it is typed."""
    assert f"study {command}" in README


@pytest.mark.parametrize("shelf_name", ["workloads", "strategies", "accelerators", "launchers"])
def test_everything_on_a_shelf_is_in_the_readme(shelf_name: str) -> None:
    """By its name."""
    for name in shelf.module_names(shelf_name):
        assert f"`{name}`" in README


def test_every_preset_is_in_the_readme() -> None:
    """By its name."""
    for preset in preset_names():
        assert f"`{preset}`" in README


@pytest.mark.parametrize("fact", [Study, Protocol, Matrix, Exclude])
def test_every_key_of_a_study_file_is_documented(fact: type) -> None:
    """A row of a table for each key, and none for a key that does not exist."""
    for key in typing.get_type_hints(fact):
        assert re.search(rf"^\| `{key}`", STUDY_FILE, flags=re.MULTILINE), key


def test_no_key_is_documented_that_does_not_exist() -> None:
    """A key that was renamed leaves its row."""
    known = {key for fact in (Study, Protocol, Matrix, Exclude) for key in typing.get_type_hints(fact)}

    assert set(re.findall(r"^\| `(\w+)`", STUDY_FILE, flags=re.MULTILINE)) == known


@pytest.mark.parametrize(("fact", "heading"), [(Protocol, "`[protocol]`"), (Matrix, "`[[matrix]]`")])
def test_the_documented_defaults_are_the_defaults(fact: type, heading: str) -> None:
    """Where a default is a number or a text, the table under its heading gives it."""
    (table,) = (part for part in STUDY_FILE.split("\n## ") if part.startswith(heading))
    for field in msgspec.structs.fields(fact):
        if isinstance(field.default, int | float | str) and field.default:
            (row,) = re.findall(rf"^\| `{field.name}`.*$", table, flags=re.MULTILINE)
            shown = f"{field.default:g}" if isinstance(field.default, float) else str(field.default)
            shown = shown.lower() if isinstance(field.default, bool) else shown
            assert shown in row.split("|")[3], row


def test_every_option_of_a_strategy_is_documented_with_its_default_and_its_words() -> None:
    """An entry of the list for each option, with the strategies that have it, and no entry more."""
    entries = re.findall(
        r"^- `(\w+)` \((.*?); of (.*?)\): (.*?)(?=^- |\n\n)", STUDY_FILE, re.MULTILINE | re.DOTALL
    )
    strategies = shelf.all_facts("strategies", StrategyFacts)
    options = {name: default for facts in strategies.values() for name, default in facts.options.items()}

    assert [name for name, *_ in entries] == list(dict.fromkeys(name for name, *_ in entries))
    assert {name for name, *_ in entries} == set(options)
    for name, default, owners, words in entries:
        having = {strategy for strategy, facts in strategies.items() if name in facts.options}
        assert default.strip("`") == msgspec.json.encode(options[name]).decode(), name
        assert set(re.findall(r"`([\w-]+)`", owners)) == having, name
        for strategy in having:
            assert all(f'`"{word}"`' in words for word in strategies[strategy].choices.get(name, ())), name


@pytest.mark.parametrize("text", blocks(README, "toml") + blocks(STUDY_FILE, "toml"))
def test_every_study_file_shown_can_be_planned(tmp_path: Path, study: Command, text: str) -> None:
    """On this machine, as it stands."""
    (tmp_path / "shown.toml").write_text(text)

    done = study("plan", "shown.toml")

    assert done.returncode == 0, done.stderr
    assert "Cells:" in done.stdout


def test_the_glossary_has_every_word_of_the_domain() -> None:
    """The nouns of the record and of the plan."""
    glossary = (ROOT / "docs" / "glossary.md").read_text().lower()

    for word in (
        "study",
        "cell",
        "block",
        "trial",
        "attempt",
        "run",
        "series",
        "reading",
        "record",
        "outcome",
        "sentinel",
        "state",
        "seam",
        "mesh",
        "strategy option",
        "micro-batch",
        "schedule",
        "heartbeat",
        "ceiling",
        "peak",
    ):
        assert f"**{word}**" in glossary


@pytest.mark.torch
@pytest.mark.slow
def test_the_workload_shown_runs_from_another_distribution(tmp_path: Path, study: Command) -> None:
    """The whole example: found through its entry point, planned, measured, rendered."""
    package = tmp_path / "extension"
    facts = package / "shown-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: shown\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[study.workloads]\nlstm = shown_lstm\n")
    (code,) = blocks(ADDING, "python")
    (package / "shown_lstm.py").write_text(code)
    (text,) = (block for block in blocks(ADDING, "toml") if "[[matrix]]" in block)
    decode(text, "shown")
    short = "[protocol]\nblocks = 3\nwindow_steps = 5\nwarmup_s = 0.0\n\n[[matrix]]"
    (tmp_path / "lstm.toml").write_text(text.replace("[[matrix]]", short, 1))

    ran = study("run", "lstm.toml", PYTHONPATH=str(package))
    rendered = study("render")

    assert (ran.returncode, rendered.returncode) == (0, 0), ran.stderr + rendered.stderr
    (article,) = tmp_path.glob("site/studies/lstm/*/article.md")
    assert "sequences/s" in article.read_text()


def test_no_line_of_the_documents_is_about_a_file_that_does_not_exist() -> None:
    """Relative links of README, CHANGELOG and docs lead somewhere."""
    for path in [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_the_documents_name_the_oldest_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same version as the package asks for."""
    asked = re.search(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())

    assert asked is not None
    assert f"Python {asked.group(1)} or newer" in README
    assert sys.version_info >= tuple(int(part) for part in asked.group(1).split("."))
