"""Which findings stand in the box, and in which order."""

import msgspec
import pytest

from study.article.box import MOST, all_findings, headlines, importance, subject


def test_order_is_size_times_evidence(make):
    """A large claim on weak evidence comes after a smaller one on strong evidence."""
    findings = (
        make.finding("large-weak", weight=1.2, evidence="weak"),
        make.finding("small-strong", weight=0.5, evidence="strong"),
        make.finding("middle", weight=1.0, evidence="moderate"),
    )

    box = headlines(make.analysis(findings=findings))

    assert [finding.key for finding in box] == ["middle", "small-strong", "large-weak"]


def test_unsettled_claims_come_last(make):
    """What is not shown comes after everything that is, however large."""
    findings = (
        make.finding("open", weight=9.0, evidence="not_shown"),
        make.finding("tiny", weight=0.01, evidence="weak"),
    )

    box = headlines(make.analysis(findings=findings))

    assert [finding.key for finding in box] == ["tiny", "open"]


def test_loss_counts_like_gain(make):
    """A negative weight is as large as a positive one."""
    lost, gained = make.finding("lost", weight=-2.0), make.finding("gained", weight=1.0)

    assert importance(lost) < importance(gained)


def test_at_most_six(make):
    """The box holds six findings, the most important ones."""
    findings = tuple(make.finding(f"f{i}", weight=float(i)) for i in range(9))

    box = headlines(make.analysis(findings=findings))

    assert [finding.key for finding in box] == ["f8", "f7", "f6", "f5", "f4", "f3"]


def test_only_headlines(make):
    """A finding that asks for no place gets none."""
    findings = (make.finding("quiet", weight=9.0, headline=False), make.finding("loud", weight=0.1))

    box = headlines(make.analysis(findings=findings))

    assert [finding.key for finding in box] == ["loud"]


def test_one_finding_a_subject_and_section(make, scene):
    """Two claims on the same workload, task and scaling share one place in a section."""
    two = f"1-{make.cell_id(make.cell('gpt', 'train', 'ddp', 2))}"
    four = f"1-{make.cell_id(make.cell('gpt', 'train', 'ddp', 4))}"
    findings = (
        make.finding("at-two", weight=0.5, trials=(two,)),
        make.finding("at-four", weight=1.0, trials=(four,)),
        make.finding("elsewhere", weight=0.1, trials=(two,), section="checks"),
    )

    box = headlines(scene.with_analysis(findings=findings).analysis)

    assert [finding.key for finding in box] == ["at-four", "elsewhere"]


@pytest.mark.parametrize("change", [{"size": "small"}, {"strategy": "fsdp"}, {"precision": "bf16"}])
def test_another_size_strategy_or_precision_is_another_subject(make, change):
    """Two claims that differ in what was run both have a place."""
    cells = [make.cell("gpt", "train", "ddp", 2)]
    cells.append(msgspec.structs.replace(cells[0], **change))
    summaries = [make.cell_summary(cell, 100.0, cell_id=str(i)) for i, cell in enumerate(cells)]
    trials = tuple(
        make.trial(cell, 1, 100.0, cell_id=str(i), trial=f"trial-{i}") for i, cell in enumerate(cells)
    )
    findings = tuple(make.finding(f"f{i}", trials=(f"trial-{i}",)) for i in range(2))

    box = headlines(make.analysis(cells=tuple(summaries), trials=trials, findings=findings))

    assert len(box) == 2


def test_training_leads_then_inference(make, scene):
    """The first claims about training and inference open the box, whatever else weighs more."""
    measured = {
        "train": make.cell("gpt", "train", "ddp", 2),
        "infer": make.cell("gpt", "infer", "single", 1, 1),
        "check": make.cell("sleep", "check", "ddp", 2),
    }
    trial = {task: f"1-{make.cell_id(cell)}" for task, cell in measured.items()}
    findings = (
        make.finding("check", weight=9.0, trials=(trial["check"],)),
        make.finding("infer", weight=5.0, trials=(trial["infer"],)),
        make.finding("train", weight=1.0, trials=(trial["train"],)),
    )

    box = headlines(scene.with_analysis(findings=findings).analysis)

    assert [finding.key for finding in box] == ["train", "infer", "check"]


@pytest.mark.parametrize("scaling", ["strong", "weak"])
def test_subject_is_read_off_the_trials(make, scaling):
    """Model, task, strategies and precisions are the cells', the scaling is that of their series."""
    cells = [make.cell("gpt", "train", "single", 1), make.cell("gpt", "train", "ddp", 2)]
    summaries = [make.cell_summary(cell, 100.0) for cell in cells]
    series = [make.series("gpt", "train", "ddp", {1: 100.0, 2: 150.0}, scaling=scaling)]
    desk = make.analysis_of(summaries, series)
    finding = make.finding("any", trials=tuple(f"1-{make.cell_id(cell)}" for cell in cells))

    assert subject(finding, desk) == ("gpt tiny", "train", scaling, "ddp single", "fp32")


def test_base_alone_belongs_to_no_scaling(make, scene):
    """The base serves strong and weak series alike, so a claim about it alone has no scaling."""
    finding = make.finding("base", trials=(f"1-{make.cell_id(make.cell('gpt', 'train', 'single', 1))}",))

    assert subject(finding, scene.analysis)[:3] == ("gpt tiny", "train", "")


def test_a_box_that_would_be_empty_holds_what_was_found_otherwise(scene, make):
    """A study of the instrument alone, or with too few trials to compare, opens with what it has."""
    analysis = msgspec.structs.replace(
        scene.analysis,
        findings=tuple(
            msgspec.structs.replace(finding, headline=False, section="checks")
            for finding in scene.analysis.findings
        ),
    )

    found = headlines(analysis)

    assert found
    assert len(found) <= MOST
    assert [f.headline for f in all_findings(analysis)][: len(found)] == [True] * len(found)
