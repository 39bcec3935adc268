"""No sentence contradicts the interval printed in it, whatever the truth and the chance."""

import msgspec
import pytest
from fakes.records import fake_run, quick_truths

from study.analysis import analyse
from study.domain.text import Est

TRUTHS = [1.0 + step / 100 for step in range(11)]


def families(ratio, seed, cores=2, cv=0.008):
    """Three training series, a wrapper, two variants and two precisions, all with this true ratio."""
    single, wrapped, two, *_ = quick_truths(cv)
    truths = []
    for batch in (8, 16, 32):
        one = at(single, single.rate, batch=batch)
        truths += [one, at(two, single.rate * ratio, batch=batch)]
    truths += [at(wrapped, single.rate / ratio, batch=8)]
    truths += [at(single, single.rate, batch=64, variant=name) for name in ("a",)]
    truths += [at(single, single.rate * ratio, batch=64, variant="b")]
    truths += [at(single, single.rate * ratio, batch=16, precision="bf16")]
    return analyse(*fake_run(truths=truths, seed=seed, steps=2, cores=cores)).findings


def at(truth, rate, **changes):
    """The truth at another rate, with its cell changed."""
    return msgspec.structs.replace(truth, rate=rate, cell=msgspec.structs.replace(truth.cell, **changes))


def contradictions(finding):
    """Why what is printed and what is said do not go together; empty if they do."""
    verdict = finding.verdict
    for slot in finding.sentence.slots.values():
        if not isinstance(slot, Est) or slot.style != "ratio" or slot.show == "value":
            continue
        shown, band = slot.estimate, (1 / (1 + verdict.margin), 1 + verdict.margin)
        holds = {
            "clear": shown.low > band[1] or shown.high < band[0],
            "small": shown.low > 1 or shown.high < 1,
            "same": band[0] < shown.low and shown.high < band[1],
            "open": shown.low <= 1 <= shown.high,
        }
        inside = band[0] < shown.low and shown.high < band[1]
        if not holds[verdict.kind]:
            yield f"{verdict.kind} beside {shown.low} to {shown.high}"
        if verdict.kind == "small" and verdict.also_same != inside:
            yield f"within the margin: {verdict.also_same}, beside {shown.low} to {shown.high}"


@pytest.mark.parametrize("ratio", TRUTHS)
def test_no_sentence_contradicts_its_interval(ratio):
    """Ten studies for each true ratio from 1.0 to 1.1, of cores enough and too few."""
    shelves = set()
    for seed in range(10):
        for finding in families(ratio, seed, cores=1 + seed % 2, cv=0.002 + 0.002 * (seed % 5)):
            if finding.verdict is None:
                continue
            assert list(contradictions(finding)) == [], finding.key
            shelves.add(finding.shelf)

    assert shelves == {"training-scales", "oversubscription", "wrapper-cost", "variants", "precisions"}


def test_all_kinds_are_met():
    """The series reaches every verdict, so that none of them is safe by absence."""
    kinds = {
        (finding.verdict.kind, finding.verdict.also_same)
        for ratio in TRUTHS
        for seed in range(5)
        for finding in families(ratio, seed, cv=0.001 + 0.003 * (seed % 3))
        if finding.verdict
    }

    assert kinds == {("clear", False), ("small", False), ("small", True), ("same", False), ("open", False)}


def test_sentence_short_form_and_numbers_are_of_one_estimate():
    """The large number and the estimate are those of the sentence; what is open has no large number."""
    for seed in range(5):
        for finding in families(1.02, seed, cv=0.006):
            if finding.verdict is None:
                continue
            printed = [
                s.estimate for s in finding.sentence.slots.values() if getattr(s, "style", "") == "ratio"
            ]
            assert printed == [finding.estimate]
            assert finding.big in (finding.estimate, None)
            assert (finding.big is None) == (finding.verdict.kind == "open")
            alone = [s.estimate for s in finding.short.slots.values() if getattr(s, "style", "") == "ratio"]
            assert alone in ([], printed)


def test_superlinear_is_said_of_the_interval_that_is_printed():
    """Just above two devices: the caveat follows the simultaneous interval, not the pointwise one."""
    single, _, two, *_ = quick_truths()
    met = set()
    for rate in [8000 + 8 * step for step in range(25)]:
        truths = []
        for batch in (8, 16, 32):
            truths += [at(single, 4000.0, batch=batch), at(two, float(rate), batch=batch)]
        for finding in analyse(*fake_run(truths=truths, seed=rate, steps=2)).findings:
            if finding.shelf != "training-scales":
                continue
            frames = " ".join(c.frame for c in finding.caveats)
            marked = "superlinear" in frames, "not distinguishable" in frames
            low, high = finding.estimate.low, finding.estimate.high
            assert marked == (low > 2, low <= 2 <= high)
            met.add(marked)

    assert met >= {(True, False), (False, True)}
