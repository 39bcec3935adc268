"""The command `study`: finds a command's module by name, and turns errors into sentences and exit codes."""

import importlib
import os
import sys
from typing import Any

import click

from study import __version__
from study.domain.errors import StudyError

COMMANDS = ("run", "render", "plan", "check", "list", "validate")


class Commands(click.Group):
    """A group whose commands are modules of `study.cli`, imported only when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"study.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f' Did you mean "{close[0]}"?' if close else ""
            raise click.UsageError(f'There is no command "{args[0]}".{hint}', ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`study run` followed by `study render` measures this machine and makes a page about it.",
)
@click.version_option(__version__, prog_name="study")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def app(debug: bool) -> None:
    """Measure how PyTorch training and inference scale over devices, and publish what was found.

    Exit codes: 0 done; 1 done, but some trials failed; 2 bad usage or bad input; 3 the machine is not
    ready; 4 a fault of ours; 130 interrupted.
    """


def main(argv: list[str] | None = None) -> Any:
    """Run the command line and exit with its code."""
    arguments = sys.argv[1:] if argv is None else argv
    debug = "--debug" in arguments or bool(os.environ.get("STUDY_DEBUG"))
    # --debug may stand anywhere, so that it can be added to the end of a command that failed
    rest = [argument for argument in arguments if argument != "--debug"]
    try:
        code = app.main(rest, prog_name="study", standalone_mode=False)
    except StudyError as error:
        sys.exit(_refuse(error.problem, error.remedy, error.exit_code, debug=debug))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        if debug:
            raise
        click.echo("study: interrupted.", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # the reader of our output is gone (`study list | head`): nothing is left to say, or to whom
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        remedy = "Check the path, its permissions and the space on the disk."
        sys.exit(_refuse(f"{where}{error.strerror or error}.", remedy, 2, debug=debug))
    except Exception as error:  # the one place where a fault of ours becomes a sentence
        problem = f"A fault of study itself: {type(error).__name__}: {error}"
        remedy = "Run it again with --debug for the traceback, and report it with the command you typed."
        sys.exit(_refuse(problem, remedy, 4, debug=debug))
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(problem: str, remedy: str, code: int, *, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    click.echo(f"study: {problem}", err=True)
    if remedy:
        click.echo(f"       {remedy}", err=True)
    return code
