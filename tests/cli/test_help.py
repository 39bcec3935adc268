"""Every command has help, and asking for it loads nothing heavy."""

import importlib
import subprocess
import sys
from pathlib import Path

import click
import pytest
from fakes.command import Study

from study.cli.app import COMMANDS

RUNS = Path(__file__).parent.parent.parent / "runs"
HEAVY = ("torch", "pandas", "matplotlib", "scipy", "jinja2", "numpy", "rich", "psutil")


def loaded(*arguments: str) -> set[str]:
    """Which heavy libraries a command has loaded by its end."""
    code = (
        "import sys\n"
        "from study.cli import main\n"
        "try:\n"
        f"    main({list(arguments)!r})\n"
        "except SystemExit:\n"
        "    pass\n"
        f"print('LOADED', [m for m in {HEAVY!r} if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("LOADED"))
    return {name for name in HEAVY if f"'{name}'" in line}


@pytest.mark.parametrize("arguments", [("--help",), *((command, "--help") for command in COMMANDS)])
def test_asking_for_help_loads_no_heavy_library(arguments: tuple[str, ...]) -> None:
    """Not even the libraries that the command itself will need."""
    assert loaded(*arguments) == set()


def test_plan_loads_no_torch_and_no_library_of_the_press() -> None:
    """It runs where torch is not installed."""
    assert loaded("plan", "quick") <= {"psutil"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_and_each_of_its_options(command: str) -> None:
    """A sentence for the command, and one for every option."""
    found = importlib.import_module(f"study.cli.{command}").command

    assert found.help
    assert found.help.strip().endswith(".")
    assert found.short_help
    for parameter in found.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{command}: {parameter.name} has no help"
            assert parameter.help.endswith((".", "pl."))


@pytest.mark.parametrize("arguments", [("list",), ("validate", str(RUNS)), ("render", "--runs", str(RUNS))])
def test_only_run_and_check_load_torch(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Everything else works where torch is not installed."""
    site = ("--site", str(tmp_path)) if arguments[0] == "render" else ()

    assert "torch" not in loaded(*arguments, *site)


def test_the_help_of_the_group_lists_every_command_and_the_exit_codes(study: Study) -> None:
    """What there is, and how scripts can tell what happened."""
    done = study("--help")

    for command in COMMANDS:
        assert f"  {command} " in done.stdout
    assert "130 interrupted" in done.stdout


def test_a_misspelt_command_gets_the_nearest_one(study: Study) -> None:
    """Exit code 2, as for all bad usage."""
    done = study("rendr")

    assert done.returncode == 2
    assert 'There is no command "rendr". Did you mean "render"?' in done.stderr


def test_the_version_is_told(study: Study) -> None:
    """One line with the name."""
    from study import __version__

    assert study("--version").stdout == f"study, version {__version__}\n"
