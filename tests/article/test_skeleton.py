"""The article as a whole: which sections it has, that its sentences are well formed, that it is stable."""

import hashlib
import re

import msgspec
import pytest

from study import __version__
from study.domain.article import Article, Listing, Paragraph
from study.domain.figure import Figure, Table
from study.domain.study import Protocol
from study.domain.text import Text, said

ORDER = [
    "machine",
    "method",
    "one",
    "more",
    "rates",
    "steady",
    "checks",
    "failures",
    "limits",
    "software",
    "data",
    "disclosure",
]


@pytest.fixture(params=["everything", "nothing", "partial", "cuda", "fixed window", "no question"])
def article(request, scene, empty_scene, make):
    """Articles about runs of several kinds."""
    match request.param:
        case "nothing":
            return empty_scene.article()
        case "partial":
            return scene.with_run(status="partial").article()
        case "cuda":
            plan = msgspec.structs.replace(scene.run.plan, accelerator="cuda")
            return scene.with_run(plan=plan, software=make.software(study_dirty=True)).article()
        case "fixed window":
            protocol = Protocol(blocks=1, window_steps=50, settle_s=2.0)
            plan = msgspec.structs.replace(scene.run.plan, protocol=protocol)
            return scene.with_run(plan=plan).article()
        case "no question":
            study = msgspec.structs.replace(scene.run.study, question="", disclosure="", authors=[])
            return scene.with_run(study=study).article()
    return scene.article()


def test_sections_in_order(scene):
    """A run with everything has every section, in the order of the skeleton."""
    article = scene.article()

    assert [section.key for section in article.sections] == ORDER


def test_byline(scene):
    """The byline comes from the study, the plan and the end of the last session."""
    article = scene.article()

    assert article.title == "What extra processes buy"
    assert article.authors == ("A. Author",)
    assert article.published == "2026-11-29"
    assert article.path == "example/20261128t100000z-example-cpu"
    assert (article.trials_measured, article.trials_planned) == (21, 24)
    assert article.machine == "example-cpu"


def test_the_article_names_the_results_and_the_tool_that_made_it(scene, make):
    """The digest is of the records whatever their order, and the version is of what generates the page."""
    one, two = (msgspec.structs.replace(scene.records[0], content_sha256=h) for h in ("aa", "bb"))
    older = scene.with_run(software=make.software(study="0.0.9"))

    first, second, other = (older.but(records=r).article() for r in ((one, two), (two, one), (one,)))

    assert first.digest == second.digest == hashlib.sha256(b"aa\nbb").hexdigest()
    assert other.digest != first.digest
    assert first.tool_version == __version__ != "0.0.9"


def test_published_without_an_end(scene):
    """A session that has no end is dated by its start."""
    session = msgspec.structs.replace(scene.run.sessions[0], ended_utc=None, unknown={"ended_utc": "it runs"})

    article = scene.with_run(sessions=(session,)).article()

    assert article.published == "2026-11-28"


def test_standfirst_is_the_question(scene, say):
    """The standfirst asks the study's question, and the box beneath answers."""
    article = scene.article()

    assert say(article.standfirst) == "Do two processes train faster than one?"


def test_standfirst_without_question_or_finding(scene, make, empty_scene, say):
    """Without a question the finding stands with its caveats; without either the count of trials does."""
    study = msgspec.structs.replace(scene.run.study, question="")
    finding = make.finding("two", caveats=(said("But beware."),))

    answered = scene.with_run(study=study).with_analysis(findings=(finding,)).article()
    bare = empty_scene.with_run(study=study).article()

    assert say(answered.standfirst) == "two is found. But beware."
    assert say(bare.standfirst) == "0 of 3 planned trials were measured; no finding rests on them."


def test_nothing_measured_still_says_so(empty_scene, say):
    """A run without a measurement composes an article that says so and names what is left out."""
    article = empty_scene.article()

    limits = next(section for section in article.sections if section.key == "limits")
    spoken = [say(item) for block in limits.blocks if hasattr(block, "items") for item in block.items]
    assert "Nothing was measured in this run." in [say(notice) for notice in article.notices]
    assert [section.key for section in article.sections] == [
        key for key in ORDER if key not in {"one", "more", "rates", "steady", "checks", "failures"}
    ]
    assert "There is no section on one device: no cell was measured." in spoken
    assert "There is no section on more devices: no cell on more than one device was measured." in spoken


def test_single_device_study_has_no_section_on_more(make, words_in):
    """A study of one device keeps its rates and says that nothing is known of more devices."""
    cells = [make.cell_summary(make.cell("gpt", "train", "single", 1), 1000.0)]
    scene = make.Scene(make.run(cells, []), (), make.analysis_of(cells, []))

    article = scene.article()

    keys = [section.key for section in article.sections]
    assert "one" in keys
    assert "more" not in keys
    assert "no cell on more than one device was measured" in words_in(article)


def test_placeholders_equal_slots(article, facts_in, slots_named):
    """Every frame of the article names exactly the slots that it is given."""
    texts = [fact for fact in facts_in(article) if isinstance(fact, Text)]

    assert len(texts) >= 90
    for text in texts:
        assert slots_named(text.frame) == set(text.slots), text.frame
        if text.count:
            assert slots_named(text.plural) == set(text.slots), text.plural


def test_no_number_is_typed_into_a_frame(article, facts_in):
    """No frame holds a digit: all numbers are in slots, for the press to format."""
    frames = [f for text in facts_in(article) if isinstance(text, Text) for f in (text.frame, text.plural)]

    assert [frame for frame in frames if re.search(r"\d", frame)] == []


def test_no_cause_and_no_comparison_of_its_own(article, facts_in):
    """The article states no cause and compares nothing: that is left to findings with a verdict."""
    frames = " ".join(text.frame.lower() for text in facts_in(article) if isinstance(text, Text))

    assert not re.search(r"\b(because|faster|slower|better|worse|due to|improves?|outperforms?)\b", frames)


def test_anchors_are_unique(article, facts_in):
    """No two tables, figures or sections share an anchor."""
    keys = [fact.key for fact in facts_in(article) if isinstance(fact, Table | Figure)]
    keys += [section.key for section in article.sections]

    assert len(keys) == len(set(keys))


def test_rows_fit_their_columns(article, facts_in):
    """Every row of every table has one entry a column, and column keys are unique within a table."""
    tables = [fact for fact in facts_in(article) if isinstance(fact, Table)]

    assert tables
    for table in tables:
        assert len({column.key for column in table.columns}) == len(table.columns)
        assert {len(row) for row in table.rows} <= {len(table.columns)}, table.key


def test_links_of_findings_lead_somewhere(scene, make, facts_in):
    """A finding that names a table or figure which the article lacks is not linked to it."""
    findings = (make.finding("lost", table="t-elsewhere", figure="fig-elsewhere"), *scene.analysis.findings)

    article = scene.with_analysis(findings=findings).article()

    keys = {fact.key for fact in facts_in(article.sections) if isinstance(fact, Table | Figure)}
    for finding in article.findings:
        assert finding.table in keys | {""}
        assert finding.figure in keys | {""}


def test_findings_stand_in_their_sections(scene):
    """Each finding, headline or not, is a paragraph of its section under its own key."""
    article = scene.article()

    prose = {
        block.finding: section.key
        for section in article.sections
        for block in section.blocks
        if isinstance(block, Paragraph) and block.finding
    }
    assert prose == {"two": "more", "truth": "checks", "alone": "one"}


def test_all_findings_are_known_and_the_box_is_marked(scene, make):
    """The article holds every finding; those of the box come first and they alone are headlines."""
    findings = tuple(make.finding(f"f{i}", weight=float(i)) for i in range(8))

    article = scene.with_analysis(findings=findings).article()

    assert [f.key for f in article.findings] == ["f7", "f6", "f5", "f4", "f3", "f2", "f0", "f1"]
    assert [f.headline for f in article.findings] == [True] * 6 + [False] * 2


def test_failures_and_steadiness_have_places_of_their_own(scene, make):
    """Findings on failures and on step times stand where these are shown; other limits under the limits."""
    findings = (
        make.finding("lost", section="limits", table="t-failures"),
        make.finding("steps", section="limits", table="", figure="fig-steps"),
        make.finding("odd", section="limits", table=""),
    )

    article = scene.with_analysis(findings=findings).article()

    prose = {
        block.finding: section.key
        for section in article.sections
        for block in section.blocks
        if isinstance(block, Paragraph) and block.finding
    }
    assert prose == {"lost": "failures", "steps": "steady", "odd": "limits"}


def test_a_caveat_of_the_whole_run_is_said_once(scene, make, say):
    """What three claims of a section share follows behind them once; what two share stays with each."""
    shared, own = said("The machine drifted."), said("A base is missing.")
    findings = tuple(
        make.finding(f"f{i}", caveats=(shared, own) if i < 2 else (shared,), headline=False) for i in range(3)
    )

    article = scene.with_analysis(findings=findings).article()

    more = next(section for section in article.sections if section.key == "more")
    prose = [" ".join(map(say, b.sentences)) for b in more.blocks if isinstance(b, Paragraph)]
    assert prose == [
        "f0 is found. A base is missing.",
        "f1 is found. A base is missing.",
        "f2 is found.",
        "The machine drifted.",
    ]


def test_composing_twice_gives_equal_articles(scene):
    """Equal arguments give an equal article, byte for byte."""
    first, second = scene.article(), scene.article()

    assert first == second
    assert msgspec.json.encode(first) == msgspec.json.encode(second)


def test_json_round_trip(article):
    """An article survives strict JSON unchanged."""
    raw = msgspec.json.encode(article)

    assert msgspec.json.decode(raw, type=Article) == article


def test_study_file_is_shown_whole(scene, facts_in):
    """The study file stands in the article as it was written."""
    article = scene.article()

    listings = [fact for fact in facts_in(article) if isinstance(fact, Listing)]
    assert [(listing.name, listing.text) for listing in listings] == [("example.toml", 'name = "example"\n')]


@pytest.mark.parametrize(
    ("tasks", "kicker"),
    [
        (["train", "infer"], "Scaling over devices · training and inference"),
        (["train"], "Scaling over devices · training"),
        (["infer"], "Scaling over devices · inference"),
        (["check"], "Scaling over devices · a check of the instrument"),
    ],
)
def test_kicker_names_the_tasks(make, say, tasks, kicker):
    """The kicker says what was measured."""
    cells = [make.cell_summary(make.cell("gpt", task, "single", 1), 10.0) for task in tasks]

    article = make.Scene(make.run(cells, []), (), make.analysis_of(cells, [])).article()

    assert say(article.kicker) == kicker
