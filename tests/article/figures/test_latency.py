"""The figure of decoding latency."""

import msgspec
import pytest

from study.article.figures.latency import draw, median_s
from study.domain.figure import Missing, Points, Whisker
from study.domain.record import Measured, Numerics, Reading


def reading(rank, first, later, steps):
    """What a rank measured while it decoded, in milliseconds."""
    ms = 1_000_000
    return Reading(
        rank=rank,
        device="cpu",
        threads=1,
        start_method="forkserver",
        window_start_ns=0,
        window_end_ns=sum(steps) * ms,
        warmup_step_ns=(),
        step_ns=tuple(ms * t for t in steps),
        work=1,
        work_unit="tokens",
        loss_first=None,
        loss=(),
        first_token_ns=tuple(ms * t for t in first),
        token_ns=tuple(ms * t for t in later),
        parameters=None,
        peak_memory_bytes=None,
        cpu_ns=1,
        numerics=Numerics(
            matmul_tf32=None,
            convolution_tf32=None,
            reduced_precision_accumulation=None,
            deterministic=False,
        ),
    )


def test_tokens_and_requests_apart(scene, say):
    """Time to a token and time to a request have panels of their own, in seconds, from zero."""
    tokens, requests = draw(scene.run, scene.records, scene.analysis).panels

    values = [m.estimate.value for m in tokens.marks if isinstance(m, Whisker)]
    assert values == pytest.approx([0.02, 0.005])
    assert [m.estimate.value for m in requests.marks if isinstance(m, Whisker)] == pytest.approx([0.2, 0.24])
    assert (tokens.x.start, requests.x.start) == (0.0, 0.0)


def test_measures_are_named_and_look_different(scene, say):
    """Each measure has a label, a colour and a shape of its own, and the panel a legend."""
    requests = draw(scene.run, scene.records, scene.analysis).panels[1]

    points = [m for m in requests.marks if isinstance(m, Points)]
    assert requests.legend
    assert [say(m.label) for m in points] == ["median", "90% quantile"]
    assert len({(m.token, m.marker) for m in points}) == 2


def test_a_refused_quantile_has_its_reason(scene, say):
    """A quantile that too few requests carry is a dash with the reason."""
    table = draw(scene.run, scene.records, scene.analysis).table

    refused = table.rows[0][5]
    assert table.columns[5].key == "request_p99_ms"
    assert isinstance(refused, Missing)
    assert say(refused.reason) == "A trial has fewer requests than this percentile needs."


def test_all_three_quantiles(make):
    """Where requests suffice, the highest quantile is drawn too."""
    full = make.latency(request_p99_s=make.estimate(0.4), unknown={})
    cells = [make.cell_summary(make.cell("gpt", "infer", "single", 1, 1), 10.0, latency=full)]

    figure = draw(make.run(cells, []), (), make.analysis_of(cells, []))

    whiskers = [m for m in figure.panels[1].marks if isinstance(m, Whisker)]
    assert [w.estimate.value for w in whiskers] == pytest.approx([0.2, 0.24, 0.4])
    assert len({w.at for w in whiskers}) == 3


def test_every_trial_s_median_is_a_point(scene, make):
    """A trial stands at the median of its steps as the slowest rank had them; other attempts do not.

    This cell is no set of replicas, so its ranks wait for one another.
    """
    cell = make.cell("gpt", "infer", "single", 1, 1)
    ranks = (
        reading(0, (20, 22, 24), (5, 5, 5), (100, 100, 190)),
        reading(1, (20, 30, 10), (4, 6, 4), (90, 120, 90)),
    )
    record = msgspec.structs.replace(
        scene.records[0],
        trial=f"1-{make.cell_id(cell)}",
        cell_id=make.cell_id(cell),
        outcome=Measured(readings=ranks),
    )
    abandoned = msgspec.structs.replace(record, attempt=7)

    tokens, requests = draw(scene.run, (record, abandoned), scene.analysis).panels

    rings = [m for panel in (tokens, requests) for m in panel.marks if isinstance(m, Points) and m.small]
    assert [m.x for m in rings] == [pytest.approx((ms / 1000,)) for ms in (24, 5, 120)]


def test_replicas_answer_requests_of_their_own(make, say):
    """Where each process serves its own batches, a trial's median is over those of all, and that is said."""
    ranks = [reading(0, (20, 20), (5, 5), (100, 110)), reading(1, (30, 40), (6, 6), (200, 300))]

    def read(of):
        return of.step_ns

    cells = [make.cell_summary(make.cell("gpt", "infer", s, n, 8), 10.0, latency=make.latency())
             for s, n in (("single", 1), ("ddp", 2))]  # fmt: skip
    alone, both = (draw(make.run(c, []), (), make.analysis_of(c, [])) for c in (cells[:1], cells))

    assert median_s(ranks, read, apart=True) == pytest.approx(0.155)
    assert median_s(ranks, read, apart=False) == pytest.approx(0.25)
    assert "all processes are pooled" in say(both.caption)
    assert "all processes are pooled" not in say(alone.caption)


def test_a_request_is_a_batch_of_requests(scene, say):
    """Column, caption and panel say that what is timed is a batch."""
    figure = draw(scene.run, scene.records, scene.analysis)

    titles = [say(column.title) for column in figure.table.columns]
    assert "Batches of requests" in titles
    assert not any(title.startswith("Request") for title in titles)
    assert "batches of requests" in say(figure.table.caption)
    assert say(figure.panels[1].title) == "Time to a whole batch of requests"
