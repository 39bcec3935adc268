"""The section on data and reproduction."""

import msgspec
import pytest

from study.article.sections.data import commands, section
from study.domain.article import Commands, Downloads, TableBlock


@pytest.mark.parametrize(
    ("source", "command"), [("file", "study run example.toml"), ("preset", "study run example")]
)
def test_the_command_repeats_the_study(scene, source, command):
    """A preset is repeated by its name, a file by the file that the article shows, however it was typed."""
    session = msgspec.structs.replace(scene.run.sessions[0], argv=("study", "run", "--json", "example"))

    run = scene.with_run(sessions=(session,), source=source).run

    assert commands(run) == (command, f"study render runs/example/{run.id}")


def test_downloads_commands_and_seed(scene, words_in):
    """Downloads, commands, digest and seed are all there."""
    found = section(scene.material())

    assert {Downloads, Commands} <= {type(block) for block in found.blocks}
    assert "7f3a9c1" in words_in(found)
    assert "seed 1234" in words_in(found)


def test_skipped_cells_are_grouped_by_reason(scene, say):
    """Cells that were not planned are listed under their reason."""
    one = scene.run.plan.skipped[0]
    other = msgspec.structs.replace(one, id="another")
    plan = msgspec.structs.replace(scene.run.plan, skipped=(one, other))

    blocks = section(scene.with_run(plan=plan).material()).blocks

    (table,) = [block.table for block in blocks if isinstance(block, TableBlock)]
    assert [[say(entry) for entry in row] for row in table.rows] == [
        ["it needs more devices than there are", "2", "gpt-tiny.train.ddp.x8.b8, another"]
    ]


def test_what_the_command_line_had_set_is_set_again(scene):
    """A precision and more blocks than the file says; both are part of the command that repeats it."""
    asked = msgspec.structs.replace(scene.run.plan.protocol, blocks=9, precision=0.05)
    run = scene.with_run(plan=msgspec.structs.replace(scene.run.plan, protocol=asked)).run

    assert commands(run)[0].endswith(" --blocks 9 --precision 0.05")
    assert "--" not in commands(scene.run)[0]
