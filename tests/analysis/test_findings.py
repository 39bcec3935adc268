"""The shelf of findings: its contract, its frames, and what is said in which case."""

import ast
import importlib
import string

import msgspec
import pytest
from fakes.records import (
    cell_id,
    edited,
    failed,
    fake_run,
    interrupted,
    of_sentinel,
    out_of_memory,
    quick_truths,
    skipped,
    slowed,
    timed_out,
)

from study.analysis import analyse, caveats, claims, evidence, words
from study.analysis.desk import computed, findings
from study.analysis.scaling_claims import SENTENCES
from study.domain.errors import BadShelfFile
from study.domain.fact import require_reasons
from study.domain.record import CountedEvent, Measured
from study.domain.shelf import PageFacts, facts, module_names, source_of
from study.domain.text import Est, Name, Num, Term, Text

SHELF = module_names("findings")
FRAMES = {
    **{name: importlib.import_module(module).FRAMES for name, module in SHELF.items()},
    "caveats": caveats.FRAMES,
    "evidence": evidence.FRAMES,
}
TABLES = {
    "t-steady",
    "t-fig-drift",
    "t-scaling",
    "t-throughput",
    "t-latency",
    "t-failures",
    "t-truth",
    "t-parallel",
    "",
}
FIGURES = {"fig-drift", "fig-speedup", "fig-efficiency", "fig-throughput", "fig-steps", "fig-latency", ""}


def changed(truth, rate=None, cv=None, **changes):
    """The truth at another rate and spread, with its cell changed."""
    return msgspec.structs.replace(
        truth,
        rate=rate or truth.rate,
        cv=truth.cv if cv is None else cv,
        cell=msgspec.structs.replace(truth.cell, **changes),
    )


def strong(speedup, cv=0.002, blocks=5, margin=0.02, **run):
    """The finding on two devices of a strong series with this true speed-up."""
    single, _, two, *_ = quick_truths()
    truths = [changed(single, cv=cv), changed(two, rate=single.rate * speedup, cv=cv)]
    found = analyse(*fake_run(truths=truths, blocks=blocks, margin=margin, **run)).findings
    return next(f for f in found if f.shelf in ("training-scales", "oversubscription"))


def all_series(speedup, cv, **run):
    """Strong and weak training and inference and the check, all with this speed-up on two devices."""
    truths = quick_truths()
    chosen = []
    for one, two in ((0, 2), (3, 4), (5, 6), (7, 8), (9, 10)):
        chosen += [changed(truths[one], cv=cv), changed(truths[two], truths[one].rate * speedup, cv)]
    return fake_run(truths=chosen, steps=3, **run)


def slowing(run, records):
    """The same rates by trials whose steps get slower by a fifth from their first to their last."""

    def ramp(reading):
        steps = len(reading.step_ns)
        weights = [1 + 0.2 * step / steps for step in range(steps)]
        window = sum(reading.step_ns)
        slower = [round(window * weight / sum(weights)) for weight in weights]
        return msgspec.structs.replace(
            reading,
            step_ns=(*slower[:-1], slower[-1] + window - sum(slower)),
            warmup_step_ns=(slower[0],) * 3,
        )

    return run, [
        msgspec.structs.replace(
            record,
            outcome=msgspec.structs.replace(
                record.outcome, readings=tuple(ramp(reading) for reading in record.outcome.readings)
            ),
        )
        for record in records
    ]


def studies():
    """Studies that between them reach every verdict and every file of the shelf."""
    single, wrapped, two, _, weak, _, served, _, images, *_ = quick_truths()
    run, records = fake_run()
    yield run, records
    yield fake_run(blocks=1)
    yield fake_run(blocks=1, cores=1)
    yield fake_run(cv=0.3, margin=0.001, foreign_cpu_share=0.4)
    yield fake_run(foreign_cpu_share=None, margin=0.004, cv=0.02)
    for cores in (1, 2):
        for speedup in (0.8, 1.0, 1.0119, 1.022, 1.84, 2.4, 4.0):
            for spread in (0.0005, 0.004, 0.03):
                yield all_series(speedup, spread, cores=cores)
        yield all_series(1.5, 0.001, cores=cores, blocks=2)
    yield fake_run(truths=[wrapped, two])
    for lone in (two, weak, served, images):
        more = changed(
            lone, devices=4, batch=2 * lone.cell.batch if lone.scaling == "weak" else lone.cell.batch
        )
        yield fake_run(truths=[lone, more], cores=4)
    for rate in (4000, 4040, 4085, 4090, 8000):
        for spread in (0.0005, 0.004, 0.05):
            other = {"rate": rate, "cv": spread}
            yield fake_run(
                truths=[changed(single, variant="a", cv=spread), changed(single, variant="b", **other)]
            )
            yield fake_run(truths=[changed(single, cv=spread), changed(single, precision="bf16", **other)])
            yield fake_run(truths=[changed(single, cv=spread), changed(wrapped, **other), two])
    for changes in ({"variant": "b"}, {"precision": "bf16"}):
        yield fake_run(truths=[single, changed(single, **changes)], blocks=2)
    same = [3000.0, 4000.0, 5000.0, 4500.0, 3500.0]
    ids = [cell_id(truth.cell) for truth in (single, two)]
    yield fake_run(truths=[single, two], rates=dict.fromkeys(ids, same), margin=0.0001)
    spoil = (failed, out_of_memory, timed_out, skipped, excluded, interrupted)
    yield run, [spoil[r.order % 6](r) if r.block > 1 else r for r in records]
    yield run, [spoil[r.order % 6](r) if r.block == 1 else r for r in records]
    yield run, [failed(records[0]), *records[1:]]
    yield from side_by_side()
    session = msgspec.structs.replace(run.sessions[0], started_utc="2026-01-05T09:05:00Z")
    yield msgspec.structs.replace(run, sessions=(*run.sessions, session)), records
    yield fake_run(drift=lambda block: 1 - 0.02 * block)
    yield slowing(*fake_run(steps=100))
    yield run, [compiling(record) for record in records]
    for blocks in (2, 5):
        group = changed(served, strategy="tp", devices=2, batch=8)
        yield fake_run(truths=[served, group], blocks=blocks)
    yield run, [failed(r) for r in records]
    yield run, records[:7]
    yield msgspec.structs.replace(run, status="partial"), records[:50]
    yield run, []
    yield edited(run, records, {run.plan.series[0].members[-1]})
    yield from under_watch()


def spread(rates, cv=0.002, **changes):
    """Training on one device and under these strategies on two, each at its rate."""
    single, _, two, *_ = quick_truths()
    ways = [changed(two, rate=rate, cv=cv, strategy=name, **changes) for name, rate in rates.items()]
    return [changed(single, cv=cv), *ways]


def side_by_side():
    """Strategies on the same devices: every verdict on the first, and every kind of next."""
    for cv in (0.0005, 0.004, 0.05):
        for rate in (5000, 5050, 5105, 6000, 7000):
            yield fake_run(truths=spread({"ddp": 5000, "tensor": rate, "fsdp": 3000}, cv))
    yield fake_run(truths=spread({"ddp": 5000, "tensor": 6000, "fsdp": 5990}))
    yield fake_run(truths=spread({"ddp": 5000, "tensor": 7000, "fsdp": 6000}), blocks=2)
    yield fake_run(truths=spread({"ddp": 5000, "tensor": 7000, "fsdp": 6000}))


def under_watch():
    """Studies with a sentinel that agrees, disagrees, decides nothing, is silent, or stands alone."""
    truth = changed(quick_truths()[0], cv=0.001)
    yield fake_run(sentinel=truth, drift=lambda block: 1 - 0.02 * block)
    run, records = fake_run(sentinel=truth, cv=0.001)
    yield run, slowed(records, -0.04, lambda record: not of_sentinel(record))
    yield run, slowed(records, -0.04, of_sentinel)
    yield fake_run(sentinel=changed(truth, cv=0.05))
    yield fake_run(sentinel=truth, blocks=1)
    run, records = fake_run(truths=[truth], sentinel=truth, blocks=2)
    yield run, slowed(records, -0.2, of_sentinel)


def excluded(record):
    """The same attempt, had its ranks counted no work."""
    readings = tuple(msgspec.structs.replace(r, work=0) for r in record.outcome.readings)
    return msgspec.structs.replace(record, outcome=Measured(readings=readings))


def compiling(record):
    """The same attempt, had code been compiled in every rank's window."""
    event = CountedEvent(name="compilation", warmup=0, window=1)
    readings = (msgspec.structs.replace(r, events=(event,)) for r in record.outcome.readings)
    return msgspec.structs.replace(record, outcome=Measured(readings=tuple(readings)))


def texts(parts):
    """Everything that is said about a study, whatever the rules block."""
    for finding in findings(parts):
        yield from (finding.sentence, finding.short, finding.evidence_note, *finding.caveats)


def frames_of(text):
    """The frame, and that for other counts."""
    return [text.frame, *([text.plural] if text.plural else [])]


STUDIES = tuple(studies())
ALL = [(analyse(*each), computed(*each)) for each in STUDIES]
TEXTS = [text for _, parts in ALL for text in texts(parts)]
SAID = {frame for text in TEXTS for frame in frames_of(text)}


@pytest.mark.parametrize("name", SHELF)
def test_every_file_states_its_facts(name):
    """FACTS is one literal with a summary, a section and a rank."""
    stated = facts("findings", name, PageFacts)

    assert stated.summary.endswith(".")
    assert stated.section in ("one_device", "more_devices", "checks", "limits")


@pytest.mark.parametrize("name", SHELF)
def test_every_file_says_in_its_first_line_what_it_is_for(name):
    """A docstring of the module and one of `find`."""
    tree = ast.parse(source_of(SHELF[name]).read_text(encoding="utf-8"))
    finder = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "find")

    assert ast.get_docstring(tree)
    assert ast.get_docstring(finder)


@pytest.mark.parametrize("name", SHELF)
def test_every_file_finds_something_in_some_study(name):
    """No file of the shelf is dead: each has its say in at least one of the studies."""
    assert any(finding.shelf == name for analysis, _ in ALL for finding in analysis.findings)


@pytest.mark.parametrize(("owner", "key"), [(owner, key) for owner in FRAMES for key in FRAMES[owner]])
def test_frames_hold_no_forbidden_words_and_no_digits(owner, key):
    """No comparative, praise, cause, time to train or digit stands in a frame."""
    frame = FRAMES[owner][key]

    for look in (words.comparative, words.cause, words.time_to_train, words.digit):
        assert look(frame) == ""


@pytest.mark.parametrize(("owner", "key"), [(owner, key) for owner in FRAMES for key in FRAMES[owner]])
def test_frames_are_whole_sentences(owner, key):
    """A frame begins with a capital or a slot and ends with a full stop, or with a reason."""
    frame = FRAMES[owner][key]

    assert frame[0].isupper() or frame[0] == "{"
    if owner != "evidence":
        assert frame.endswith((".", "{reason}"))


@pytest.mark.parametrize(("owner", "key"), [(owner, key) for owner in FRAMES for key in FRAMES[owner]])
def test_every_frame_is_said_in_some_study(owner, key):
    """There is no frame that no data can reach."""
    assert FRAMES[owner][key] in SAID


def test_slots_match_placeholders():
    """Every sentence has exactly the slots that its frame names, and its plural's."""
    for text in TEXTS:
        for frame in frames_of(text):
            named = {name for _, name, _, _ in string.Formatter().parse(frame) if name}
            assert named == set(text.slots)


def test_every_text_comes_from_the_frames_of_its_file():
    """A finding says what its file lists, so that translators have all of it."""
    shared = {*caveats.FRAMES.values(), *evidence.FRAMES.values()}
    for analysis, _ in ALL:
        for finding in analysis.findings:
            own = {*FRAMES[finding.shelf].values(), *shared}
            for text in (finding.sentence, finding.short, finding.evidence_note, *finding.caveats):
                assert set(frames_of(text)) <= own


def test_slots_are_numbers_names_and_terms():
    """No slot is itself a sentence: sentences are not glued together."""
    for text in TEXTS:
        assert isinstance(text, Text)
        assert all(isinstance(slot, Num | Est | Name | Term) for slot in text.slots.values())


def test_findings_keep_the_contract():
    """Keys are unique and begin with the shelf's name; tables, figures, trials and reasons are in order."""
    for analysis, _ in ALL:
        keys = [finding.key for finding in analysis.findings]
        assert len(set(keys)) == len(keys)
        watching = analysis.sentinel.trials if analysis.sentinel else ()
        known = {trial.trial for trial in (*analysis.trials, *watching)}
        for finding in analysis.findings:
            assert finding.key.startswith(finding.shelf)
            assert finding.table in TABLES
            assert finding.figure in FIGURES
            assert finding.trials
            assert set(finding.trials) <= known
            assert (finding.big is None) == (finding.big_style == "plain")
            assert finding.big in (None, finding.estimate)
            settled = finding.verdict is None or finding.verdict.kind in ("clear", "small", "same")
            assert (finding.big is None) == (finding.estimate is None or not settled)
            assert not (finding.headline and finding.verdict and finding.verdict.kind == "not_compared")
            require_reasons(finding, finding.unknown)
            assert finding.weight >= 0


def test_findings_stand_in_the_order_of_rank():
    """One device, then more, then checks, then limits."""
    for analysis, _ in ALL:
        ranks = [(facts("findings", f.shelf, PageFacts).rank, f.key) for f in analysis.findings]
        assert ranks == sorted(ranks)


def test_no_study_breaks_a_rule_by_its_words():
    """Generated sentences pass the desk's own rules in every study."""
    for analysis, parts in ALL:
        failing = {rule.id for rule in analysis.rules if not rule.passed}
        assert failing.isdisjoint(
            {"HB1", "HB3", "HB5", "HB7", "ML3", "ML5", "KJ1", "KJ2", "MY2", "S1", "S4", "S6", "S7", "S13"}
        )
        assert len(findings(parts)) >= len(analysis.findings)


@pytest.mark.parametrize(
    ("speedup", "cv", "kind", "level"),
    [
        (1.62, 0.002, "clear", "strong"),
        (0.80, 0.002, "clear", "strong"),
        (1.00, 0.002, "same", "moderate"),
        (1.01, 0.001, "small", "moderate"),
        (1.022, 0.003, "small", "weak"),
        (1.00, 0.04, "open", "not_shown"),
    ],
)
def test_the_verdict_decides_sentence_and_evidence(speedup, cv, kind, level):
    """Each verdict has its frame and its level."""
    finding = strong(speedup, cv)

    frame = "strong_within" if finding.verdict.also_same else f"strong_{kind}"
    assert (finding.verdict.kind, finding.evidence) == (kind, level)
    assert finding.sentence.frame == FRAMES["training-scales"][frame]


def test_the_sentence_names_scaling_batch_strategy_and_base():
    """Strong scaling, global batch 8, ddp, and the absolute rate of one device."""
    slots = strong(1.62).sentence.slots

    assert slots["batch"] == Num(value=8.0, style="integer")
    assert slots["strategy"] == Name(text="ddp", code=True)
    assert slots["devices"] == Num(value=2.0, style="integer")
    assert slots["workload"] == Name(text="gpt tiny")
    assert (slots["base"].style, slots["base"].unit, slots["base"].show) == ("rate", "tokens", "value")
    assert "strong scaling" in strong(1.62).sentence.frame


def test_weak_scaling_names_the_batch_per_device(quick):
    """Sixteen images a device, not the global thirty-two."""
    found = next(f for f in analyse(*quick).findings if f.key.startswith("training-scales.resnet"))

    assert found.sentence.slots["batch"].value == 16
    assert "batch per device" in found.sentence.frame
    assert (found.verdict.kind, found.evidence) == ("clear", "strong")


@pytest.mark.parametrize("task", ["train", "infer"])
@pytest.mark.parametrize("scaling", ["strong", "weak"])
@pytest.mark.parametrize("kind", SENTENCES)
def test_there_is_a_sentence_for_every_verdict(task, scaling, kind):
    """Both tasks, both scalings, all verdicts; scaling and batch are named in each."""
    shelf = {"train": "training-scales", "infer": "inference-scales"}[task]
    frame = FRAMES[shelf][f"{scaling}_{kind}"]

    assert f"({scaling} scaling, {{strategy}})" in frame
    assert ("global batch" if scaling == "strong" else "batch per device") in frame


def test_what_happened_in_a_window_is_told_with_the_claim():
    """A compilation inside one trial's window is part of the rates, and lowers the evidence."""
    run, records = fake_run(truths=quick_truths()[:3], blocks=6)

    told, plain = (
        {caveat.frame for finding in analyse(run, of).findings for caveat in finding.caveats}
        for of in ([compiling(record) for record in records], records)
    )

    assert caveats.FRAMES["events"] in told - plain


def test_fewer_than_three_trials_give_the_rate_and_no_comparison():
    """Two trials: the rate as a point, no ratio, no evidence."""
    finding = strong(1.62, blocks=2)

    assert finding.sentence.frame == FRAMES["training-scales"]["strong_too_few"]
    assert "speedup" not in finding.sentence.slots
    assert (finding.evidence, finding.headline, finding.verdict.kind) == ("none", False, "not_compared")
    assert finding.sentence.slots["rate"].estimate.refusal


def test_three_trials_are_moderate():
    """Strong evidence needs five."""
    assert strong(1.62, blocks=3).evidence == "moderate"
    assert strong(1.62, blocks=3).evidence_note.slots["n"].value == 3


@pytest.mark.parametrize(
    ("run", "frame"),
    [
        ({"foreign_cpu_share": 0.11}, "foreign"),
        ({"foreign_cpu_share": None}, "foreign_unknown"),
        ({"cores": 1}, None),
    ],
)
def test_disturbed_trials_are_moderate_at_best(run, frame):
    """Others on the processor, or nobody knows, or too few cores."""
    finding = strong(1.62, **run)

    assert (finding.verdict.kind, finding.evidence) == ("clear", "moderate")
    if frame:
        assert caveats.FRAMES[frame] in [text.frame for text in finding.caveats]


def test_a_tenth_of_the_processor_in_other_hands_is_no_flag():
    """The threshold is more than ten percent."""
    assert strong(1.62, foreign_cpu_share=0.10).evidence == "strong"


def test_oversubscribed_points_are_no_scaling():
    """More threads than cores: told under checks, in its own words, and never in the box."""
    finding = strong(1.2, cores=1)

    assert (finding.shelf, finding.section, finding.headline) == ("oversubscription", "checks", False)
    assert finding.sentence.slots["threads"].value == 2
    assert finding.sentence.slots["cores"].value == 1


def test_superlinear_is_marked_and_not_strong():
    """An interval above n carries the caveat and is moderate at best."""
    finding = strong(2.4)

    assert caveats.FRAMES["superlinear"] in [text.frame for text in finding.caveats]
    assert finding.evidence == "moderate"


def test_superlinear_does_not_lead_the_page():
    """Its weight is below that of a small plain speed-up, however large its ratio."""
    assert strong(2.4).weight < strong(1.1).weight


def test_an_interval_with_n_inside_is_not_distinguishable_from_linear():
    """Just above or below two devices' two."""
    assert caveats.FRAMES["linear"] in [text.frame for text in strong(2.0).caveats]
    assert caveats.FRAMES["linear"] not in [text.frame for text in strong(1.62).caveats]


def test_an_impossible_speedup_is_not_stated():
    """Four times on two devices: the rate alone, and why."""
    finding = strong(4.0)

    assert finding.sentence.frame == FRAMES["training-scales"]["strong_implausible"]
    assert finding.estimate.unit == "tokens/s"


def test_open_comparisons_say_how_many_blocks_would_settle_them():
    """A whole sentence with a count beside the claim."""
    (caveat,) = (t for t in strong(1.0, 0.04).caveats if t.frame == caveats.FRAMES["settle"])

    assert caveat.slots["n"].value == strong(1.0, 0.04).verdict.repeats_needed


def test_hopeless_comparisons_say_so():
    """Equal on average under a margin of nothing: beyond a thousand blocks no number is named."""
    assert caveats.FRAMES["never"] in SAID


def test_a_narrow_margin_is_advised_against_and_kept():
    """Trials that spread by 2 % under a margin of 0.4 %: the advice is printed, the margin stays."""
    finding = strong(1.5, 0.02, margin=0.004)

    (advice,) = (t for t in finding.caveats if t.frame == caveats.FRAMES["margin"])
    assert advice.slots["margin"].value == 0.004
    assert finding.verdict.margin == 0.004


def test_the_largest_count_of_a_series_asks_for_the_box():
    """Two and four devices: only four."""
    single, _, two, *_ = quick_truths()
    truths = [single, two, changed(two, rate=10_000.0, devices=4)]

    found = analyse(*fake_run(truths=truths, cores=4)).findings

    scales = {f.sentence.slots["devices"].value: f.headline for f in found if f.shelf == "training-scales"}
    assert scales == {2.0: False, 4.0: True}


@pytest.mark.parametrize(("factor", "frame"), [(1.0, "contained"), (1.012, "within"), (1.05, "missed")])
def test_the_check_says_whether_the_interval_contains_the_truth(factor, frame):
    """At the truth, off by less than the margin, and off by more."""
    *_, single, two = quick_truths()
    truths = [changed(single, cv=0.001), changed(two, rate=two.rate * factor, cv=0.001)]

    (finding,) = (f for f in analyse(*fake_run(truths=truths)).findings if f.shelf == "known-truth")

    assert finding.sentence.frame == FRAMES["known-truth"][frame]
    assert finding.sentence.slots["truth"].value == pytest.approx(1 / 0.55)


def test_failures_of_one_cell_are_one_finding_that_names_it():
    """Three trials of a cell that ran out of memory: counted against the plan, under the cell's label."""
    run, records = fake_run()
    cell = run.plan.cells[2].id
    spoilt = [out_of_memory(r) if r.cell_id == cell and r.block > 2 else r for r in records]

    (finding,) = (f for f in analyse(run, spoilt).findings if f.shelf == "failures")

    slots = finding.sentence.slots
    assert finding.sentence.plural == FRAMES["failures"]["one_cell_many"]
    assert (slots["n"].value, slots["planned"].value) == (3, 55)
    assert slots["cell"] == Name(text="gpt tiny, training, ddp, ×2, batch 8")
    assert len(finding.trials) == 3


def test_failures_of_all_kinds_are_one_finding_with_a_count_for_each():
    """Four failed, one ran out of time and one was interrupted, in several cells: the table has the rest."""
    run, records = fake_run()
    lost = {1: failed, 2: failed, 3: failed, 4: failed, 5: timed_out, 6: interrupted}
    spoilt = [lost[r.order](r) if r.order in lost else r for r in records]

    (finding,) = (f for f in analyse(run, spoilt).findings if f.shelf == "failures")

    ways = {text.frame: text.slots["n"].value for text in finding.caveats}
    assert ways == {
        FRAMES["failures"]["failed"]: 4,
        FRAMES["failures"]["timed_out"]: 1,
        FRAMES["failures"]["interrupted"]: 1,
    }
    assert finding.sentence.slots["cells"].value == 6
    assert set(finding.trials) == {r.trial for r in records if r.order in lost}


def test_a_run_without_failures_says_nothing_of_them(quick):
    """No finding, not one of zero."""
    assert not [f for f in analyse(*quick).findings if f.shelf == "failures"]


def test_no_sentence_holds_a_raw_id():
    """Cells are named by their labels; their ids are for files and keys."""
    for analysis, _ in ALL:
        ids = {cell.cell_id for cell in analysis.cells}
        for finding in analysis.findings:
            for text in (finding.sentence, finding.short, *finding.caveats):
                assert not any(isinstance(s, Name) and s.text in ids for s in text.slots.values())


def test_titles_keep_the_verdict():
    """The short form of every verdict is its own; what is not shown to exceed the margin says so."""
    frames = {}
    for analysis, _ in ALL:
        for finding in analysis.findings:
            if finding.shelf == "training-scales":
                kind = "within" if finding.verdict.also_same else finding.verdict.kind
                frames.setdefault(kind, set()).add(finding.short.frame)

    shorts = FRAMES["training-scales"]
    assert frames == {
        "clear": {shorts["short_strong"], shorts["short_weak"]},
        **{kind: {shorts[f"short_{kind}"]} for kind in ("small", "within", "same", "open", "not_compared")},
    }


def test_no_ratio_titles_the_chart_of_absolute_rates():
    """The chart of rates is titled by a rate."""
    titles = {f.shelf for analysis, _ in ALL for f in analysis.findings if f.figure == "fig-throughput"}

    assert titles == {"one-device"}


def test_fewer_devices_come_first_where_there_is_no_size_to_go_by():
    """Latency on one device outweighs that on two, even with less evidence; any ratio outweighs both."""
    dots = {"strong": 3, "moderate": 2, "weak": 1}
    one, two, hundred = (claims.fewer_first(n) for n in (1, 2, 100))

    assert one * dots["weak"] > two * dots["strong"] > hundred * dots["strong"] > 0
    assert claims.fewer_first(100_000) >= 0
    weights = {
        f.trials[0].split(".")[3]: f.weight for f in analyse(*fake_run()).findings if f.shelf == "latency"
    }
    assert weights["x1"] > weights["x2"] > 0


def test_steadiness_is_told_by_counts_of_trials():
    """Fifty-five trials of which every one slows down: none steady, all drifting or without a level."""
    analysis = analyse(*slowing(*fake_run(steps=100)))

    (finding,) = (f for f in analysis.findings if f.shelf == "steadiness")
    counts = {name: int(slot.value) for name, slot in finding.sentence.slots.items() if name != "tolerance"}
    assert counts["measured"] == len(analysis.trials)
    assert counts["steady"] == 0
    assert counts["drifting"] + counts["none"] > 0.9 * counts["measured"]
    assert sum(counts[name] for name in ("steady", "drifting", "none", "open")) == counts["measured"]


def test_a_claim_about_cells_that_were_shown_not_to_be_steady_is_moderate_at_most():
    """The same rates with level steps are strong."""
    level, sloping = (
        {f.key: f for f in analyse(*study).findings if f.section == "more_devices" and f.verdict}
        for study in (fake_run(steps=100), slowing(*fake_run(steps=100)))
    )

    assert "strong" in {finding.evidence for finding in level.values()}
    assert "strong" not in {finding.evidence for finding in sloping.values()}
    for key, finding in sloping.items():
        assert any("not to be steady" in caveat.frame for caveat in finding.caveats), key
        assert finding.estimate == level[key].estimate


def test_steps_that_show_nothing_are_held_against_no_claim():
    """Twenty steps are too few to show steadiness, and too few to show its absence."""
    analysis = analyse(*fake_run())

    assert {cell.steadiness for cell in analysis.cells} == {"not_shown"}
    assert "strong" in {f.evidence for f in analysis.findings if f.section == "more_devices"}


def test_the_wrapped_cell_is_told_by_its_cost_alone(quick):
    """The throughput of ddp on one device is no finding of its own."""
    truths = quick_truths()

    keys = [f.key for f in analyse(*quick).findings if f.shelf == "one-device"]

    assert f"one-device.{cell_id(truths[0].cell)}" in keys
    assert f"one-device.{cell_id(truths[1].cell)}" not in keys


def test_unsteadiness_is_a_limit_of_every_study_that_measured_something():
    """It is said once, under limits."""
    for analysis, _ in ALL:
        said = [f for f in analysis.findings if f.shelf == "steadiness"]
        assert len(said) == int(any(trial.rate is not None for trial in analysis.trials))


def test_two_findings_with_one_key_are_refused(monkeypatch):
    """A file that stands on the shelf twice is named by the key that it doubles."""
    names = {"steadiness": SHELF["steadiness"], "again": SHELF["steadiness"]}
    monkeypatch.setattr("study.analysis.desk.module_names", lambda shelf: names)
    monkeypatch.setattr(
        "study.analysis.desk.facts", lambda *_: PageFacts(summary="s.", section="limits", rank=1)
    )

    with pytest.raises(BadShelfFile, match="2 findings have the key steadiness"):
        findings(computed(*fake_run(blocks=1)))


def test_a_file_without_find_is_refused(monkeypatch):
    """The error names the module and what it lacks."""
    names = {"evidence": "study.analysis.evidence"}
    monkeypatch.setattr("study.analysis.desk.module_names", lambda shelf: names)
    monkeypatch.setattr(
        "study.analysis.desk.facts", lambda *_: PageFacts(summary="s.", section="limits", rank=1)
    )

    with pytest.raises(BadShelfFile, match=r"study\.analysis\.evidence: it offers no find\(parts\)"):
        findings(computed(*fake_run(blocks=1)))


def parallel(rates, spoil=lambda record: record, cv=0.002, **run):
    """The findings on strategies side by side."""
    made, records = fake_run(truths=spread(rates, cv), **run)
    found = analyse(made, [spoil(record) for record in records]).findings
    return [finding for finding in found if finding.shelf == "model-parallelism"]


def test_the_largest_of_several_strategies_is_named_with_its_rate():
    """Tensor is first, and is judged against ddp; the next is told apart from it by intervals apart."""
    (found,) = parallel({"ddp": 5000, "tensor": 7000, "fsdp": 6000})

    slots = found.sentence.slots
    assert [slots[name].text for name in ("first", "a", "b")] == ["tensor", "tensor", "ddp"]
    assert 1.38 < slots["ratio"].estimate.value < 1.42
    assert (found.verdict.family, found.headline, found.table) == ("strategies", True, "t-parallel")
    said = {caveat.frame: caveat.slots for caveat in found.caveats}
    assert said[FRAMES["model-parallelism"]["told_apart"]]["second"].text == "fsdp"
    assert 1.7 < said[FRAMES["model-parallelism"]["against_one"]]["speedup"].estimate.value < 1.8


def test_strategies_whose_intervals_overlap_are_not_told_apart():
    """Tensor and fsdp at nearly one rate: both beyond ddp, and no order between them."""
    (found,) = parallel({"ddp": 5000, "tensor": 6000, "fsdp": 5995})

    frames = [caveat.frame for caveat in found.caveats]
    assert FRAMES["model-parallelism"]["not_told_apart"] in frames


def test_where_ddp_is_first_the_next_is_judged_against_it():
    """The verdict is then on the next, and nothing more is said of the two."""
    (found,) = parallel({"tensor": 3000, "ddp": 5000, "fsdp": 4000})

    slots = found.sentence.slots
    assert [slots[name].text for name in ("first", "a", "b")] == ["ddp", "fsdp", "ddp"]
    assert slots["ratio"].estimate.high < 1
    assert not {"told_apart", "not_told_apart"} & {
        key for key, frame in FRAMES["model-parallelism"].items() for c in found.caveats if c.frame == frame
    }


def test_a_reference_that_failed_leaves_the_others_ranked_and_not_compared():
    """Ddp has no rate: the largest is named, and no ratio is given; one strategy alone says nothing."""
    without = [
        parallel(rates, lambda record: failed(record) if record.cell.strategy == "ddp" else record)
        for rates in ({"ddp": 5000, "tensor": 7000, "fsdp": 6000}, {"ddp": 5000, "tensor": 7000})
    ]

    (found,), none = without
    assert found.sentence.frame == FRAMES["model-parallelism"]["not_compared"]
    assert (found.estimate, found.headline) == (None, False)
    assert none == []


def test_the_most_devices_that_have_cores_lead():
    """Of two and four devices on two cores, those on two ask for a place in the box."""
    ways = {"ddp": 5000, "tensor": 7000}
    truths = [*spread(ways), *spread(ways, devices=4)[1:]]

    found = analyse(*fake_run(truths=truths)).findings

    leads = {f.sentence.slots["devices"].value: f.headline for f in found if f.shelf == "model-parallelism"}
    assert leads == {2.0: True, 4.0: False}
