"""What the person waiting sees: cells in words, results, what failed and why, the page at the end."""

import io
from pathlib import Path

import msgspec
import pytest
from fakes.records import edited, failed, fake_run, quick_truths
from rich.console import Console

from study.archive import RunFolder
from study.cli import progress, run
from study.cli.cell_words import trial_words
from study.cli.render import page_of
from study.domain.event import Ended, Started, TrialEnded, TrialStarted


def folder(cells_of: str = "") -> tuple[RunFolder, tuple]:
    """A run that is not on disk, and its records; `cells_of` keeps one workload."""
    truths = [t for t in quick_truths() if not cells_of or t.cell.workload == cells_of]
    made, records = fake_run(truths=truths, blocks=2)
    return RunFolder(Path("runs/fake-quick") / made.id, made), records


def shown(view: progress._View, width: int) -> str:
    """The live view as a terminal of that width has it."""
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=False).print(view.render())
    return out.getvalue()


def test_a_cell_in_words_names_its_factors() -> None:
    """One device, two under a strategy."""
    words = trial_words(folder()[0].run.plan)

    assert "gpt tiny, training, 1 device, fp32, batch 8" in words.values()
    assert "gpt tiny, training, 2 devices under ddp, fp32, batch 8" in words.values()


def test_no_two_cells_have_the_same_words() -> None:
    """Variants, threads and options that vary are named, those that do not are not."""
    single = quick_truths()[0]
    changes = (
        {},
        {"variant": "b"},
        {"threads_per_device": 2},
        {"options": {**single.cell.options, "sequence": 128}},
        {"options": {**single.cell.options, "sequence": 256}},
    )
    truths = [
        msgspec.structs.replace(single, cell=msgspec.structs.replace(single.cell, **change))
        for change in changes
    ]

    words = list(trial_words(fake_run(truths=truths)[0].plan).values())

    assert len(set(words)) == 5
    assert "batch 8, variant b, 1 thread a device" in words[1]
    assert "2 threads a device" in words[2]
    assert words[3].endswith("sequence 128")
    assert "depth" not in " ".join(words)


def test_pipelines_of_two_schedules_are_told_apart() -> None:
    """By the schedule, behind the strategy."""
    two = quick_truths()[2]
    cells = [
        msgspec.structs.replace(two.cell, strategy="pipeline", strategy_options={"schedule": schedule})
        for schedule in ("gpipe", "1f1b")
    ]
    truths = [msgspec.structs.replace(two, cell=cell) for cell in cells]

    words = trial_words(fake_run(truths=truths)[0].plan)

    assert [said.split(", ")[2] for said in words.values()] == [
        "2 devices under pipeline (gpipe)",
        "2 devices under pipeline (1f1b)",
    ]


def test_the_sentinel_is_called_by_its_name() -> None:
    """Also where the study measures the same cell."""
    plan = folder()[0].run.plan
    plan = msgspec.structs.replace(plan, sentinel=plan.cells[0])

    words = trial_words(plan)

    assert words["sentinel", plan.cells[0].id].startswith("the sentinel: gpt tiny, training")
    assert not words["cell", plan.cells[0].id].startswith("the sentinel")


@pytest.mark.parametrize("width", [80, 120])
def test_the_live_view_fits_the_terminal(width: int) -> None:
    """Results stand whole beside names that may give way; failures are counted, the last with its reason."""
    held, records = folder()
    view = progress._View(held)
    for position, record in enumerate(records[:5], start=1):
        view.note(TrialEnded(record=record, position=position, left_s=100.0))
    view.note(TrialEnded(record=failed(records[5], "it broke"), position=6, left_s=90.0))
    trial = held.run.plan.trials[6]
    view.note(
        TrialStarted(trial=trial.id, cell_id=trial.cell_id, position=7, block=trial.block, left_s=3000.0)
    )

    text = shown(view, width)

    assert all(len(line) <= width for line in text.splitlines())
    assert f"7/{len(held.run.plan.trials)}, block 1/2" in text
    assert "50 min left" in text
    assert "tokens/s" in text or "images/s" in text
    assert "failed so far: 1; the last, " in text
    assert "it broke" in text.replace("\n", " ")
    assert f"now: {trial_words(held.run.plan)['cell', trial.cell_id]}" in text


@pytest.mark.parametrize(("share", "told"), [(0.4, True), (0.05, False), (None, False)])
def test_other_programs_are_told_while_something_can_be_done(share: float | None, told: bool) -> None:
    """On a line of its own, so that results stand whole at 80 columns."""
    held, records = folder()
    surroundings = msgspec.structs.replace(records[0].surroundings, foreign_cpu_share=share)
    view = progress._View(held)
    view.note(
        TrialEnded(
            record=msgspec.structs.replace(records[0], surroundings=surroundings), position=1, left_s=1.0
        )
    )

    assert ("other programs took 40% of the processor during the last trial" in shown(view, 80)) == told


def test_another_program_on_a_device_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever waits can still end it, before more trials are excluded."""
    held, records = folder()
    surroundings = msgspec.structs.replace(records[0].surroundings, foreign_processes=2)
    record = msgspec.structs.replace(records[0], surroundings=surroundings)

    progress._plain(held)(TrialEnded(record=record, position=1, left_s=None))

    assert "(excluded, since another program used its device)" in capsys.readouterr().err


def test_at_the_end_nothing_is_now() -> None:
    """And nothing failed, so that is not said."""
    view = progress._View(folder()[0])
    view.note(Started(trials=4, done=0, chosen=4, predicted_s=None))
    view.note(Ended(why="complete"))

    text = shown(view, 80)

    assert "now:" not in text
    assert "failed so far" not in text
    assert "time left not known yet" in text


def test_a_run_of_over_a_minute_rings_the_bell_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A short one does not, nor does one whose words go to a file."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    run._ring(-1e9)
    assert capsys.readouterr().err == "\a"
    from time import monotonic

    run._ring(monotonic())
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    run._ring(-1e9)
    assert capsys.readouterr().err == ""


def test_the_page_that_is_promised_is_the_page_that_is_made(study, sleepy: Path) -> None:
    """The last line of a run names the command and the file that it writes."""
    done = study("run", "sleepy.toml")
    *_, last = done.stdout.splitlines()
    assert study("render").returncode == 0

    assert last.startswith("Now make the page: study render  (it will be site/studies/sleepy/")
    promised = last.partition("(it will be ")[2].rstrip(")")
    assert (sleepy.parent / promised).is_file()


def test_another_archive_is_named_in_the_command(tmp_path: Path) -> None:
    """With quotes where a shell needs them."""
    made, _ = folder()

    hint = run._render_hint(RunFolder(tmp_path / "my runs" / "fake-quick" / made.run.id, made.run))

    assert f"study render --runs '{tmp_path}/my runs'" in hint
    assert str(page_of(Path("site"), "fake-quick", made.run.id)) in hint


def test_records_of_cells_taken_out_do_not_count_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither among the measured nor among the failed."""
    made, records = edited(*fake_run(blocks=2), set())
    plan = msgspec.structs.replace(made.plan, trials=made.plan.trials[1:])
    made = msgspec.structs.replace(made, plan=plan)
    with RunFolder(tmp_path, made) as held:
        held.save(failed(records[0]), {})
        held.save(records[1], {})

        code = run._report(held, "complete", as_json=False)

    assert code == 0
    assert "1 measured." in capsys.readouterr().out
