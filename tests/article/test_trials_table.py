"""The table of all trials."""

import msgspec

from study.article.trials_table import all_trials
from study.domain.figure import Missing


def test_all_trials_in_order(scene, say):
    """Every trial stands in the table, in the order of the run, the failed one too."""
    table = all_trials(scene.material())

    orders = [int(say(row[0])) for row in table.rows]
    assert orders == sorted(orders)
    assert len(table.rows) == len(scene.analysis.trials)


def test_a_measured_trial(scene, say):
    """A measured trial shows rate, steps, window and the share of other programs."""
    row = all_trials(scene.material()).rows[0]

    spoken = [say(entry) for entry in row[4:10]]
    assert spoken == ["measured", "990", "tokens/s", "40", "1.6", "3%"]


def test_a_failed_trial_has_reasons_and_no_zero(scene, say):
    """A failed trial has no number: its rate is missing with a reason."""
    row = all_trials(scene.material()).rows[-1]

    assert say(row[4]) == "failed"
    assert all(isinstance(entry, Missing) for entry in (row[5], *row[7:9]))
    assert say(row[5].reason) == "The trial has no rate."
    assert [say(entry) for entry in row[10:]] == ["rank 1 raised", "1-resnet-tiny.train.ddp.x2.b16"]


def test_a_share_that_was_not_recorded(scene, say):
    """A share that nobody recorded is a dash with the reason."""
    first, *rest = scene.analysis.trials
    blind = msgspec.structs.replace(
        first, foreign_cpu_share=None, unknown={"foreign_cpu_share": "No reading."}
    )

    row = all_trials(scene.with_analysis(trials=(blind, *rest)).material()).rows[0]

    assert say(row[9].reason) == "No reading."


def test_what_happened_in_a_window_is_told(scene, say):
    """A measured trial in whose window memory grew keeps its rate and says so."""
    first, *others = scene.analysis.trials
    noisy = msgspec.structs.replace(first, window_events=("compilation", "memory growth"))
    analysis = msgspec.structs.replace(scene.analysis, trials=(noisy, *others))

    row = all_trials(scene.but(analysis=analysis).material()).rows[0]

    assert say(row[10]) == "In its window: compilation, growth of a device's memory."
    assert say(row[5]) == "990"
