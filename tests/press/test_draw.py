# ruff: noqa: S106, E501, S314 - colour tokens are no passwords; cases on long lines; XML of our own making
"""Charts: well-formed, in both schemes, the same bytes everywhere, and no label on another or off the sheet."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import msgspec
import pytest

from study.domain.figure import Axis, Band, Bar, Figure, Line, Panel, Points, Rule, Span, Table, Whisker
from study.domain.text import name, said
from study.press.draw import Drawing, draw
from study.press.language import language
from study.press.tokens import SHADES, TEXT, text_token

SVG = "{http://www.w3.org/2000/svg}"
FIGURES = ("speedup_figure", "memory_figure", "thermal_figure", "strategies_figure")
WIDTHS = (False, True)
EVERY = pytest.mark.parametrize(
    ("which", "narrow", "code"), list(itertools.product(FIGURES, WIDTHS, ("en", "pl")))
)


def drawn(sample: ModuleType, which: str, narrow: bool, code: str) -> Drawing:
    """One of the sample's figures."""
    return draw(getattr(sample, which)(), language(code), narrow=narrow)


@EVERY
def test_no_label_leaves_the_sheet_or_touches_another(
    sample: ModuleType, which: str, narrow: bool, code: str
) -> None:
    """By the extents of the drawn texts, all are readable."""
    drawing = drawn(sample, which, narrow, code)

    for text in drawing.texts:
        assert text.left >= 0, text
        assert text.right <= drawing.width, text
        assert text.top >= 0, text
        assert text.bottom <= drawing.height, text
    for one, other in itertools.combinations(drawing.texts, 2):
        assert not one.touches(other), (one, other)


@EVERY
def test_a_chart_is_well_formed_and_carries_both_schemes(
    sample: ModuleType, which: str, narrow: bool, code: str
) -> None:
    """Classes with a colour to fall back on, one style element, names for those who listen."""
    drawing = drawn(sample, which, narrow, code)

    root = ElementTree.fromstring(drawing.svg)
    elements = list(root.iter())
    style = [e.text or "" for e in elements if e.tag == f"{SVG}style"]
    assert not any("style" in e.attrib for e in elements)
    assert len(style) == 1
    assert "@media(prefers-color-scheme:dark)" in style[0]
    assert root.attrib["role"] == "img"
    assert root.attrib["{http://www.w3.org/XML/1998/namespace}lang"] == code
    named = root.attrib["aria-labelledby"].split()
    assert [e.attrib.get("id") for e in root if e.tag in (f"{SVG}title", f"{SVG}desc")] == named
    assert int(root.attrib["width"]) == drawing.width == (358 if narrow else 820)
    for element in elements:
        for kind, prefix in (("fill", "f"), ("stroke", "k")):
            colour = element.attrib.get(kind, "none")
            if colour.startswith("#"):
                token = next(t for t, shade in SHADES.items() if shade.light == colour)
                assert f"{prefix}-{token}" in element.attrib["class"].split()
                assert f".{prefix}-{token}{{{kind}:{SHADES[token].dark}}}" in style[0]


@EVERY
def test_a_chart_is_plain_enough_for_git(sample: ModuleType, which: str, narrow: bool, code: str) -> None:
    """Two decimals, one drawn thing a line, no trace of the machine, and small."""
    text = drawn(sample, which, narrow, code).svg.decode()

    assert not re.search(r"\d\.\d{3}", re.sub(r"<style>.*?</style>", "", text))
    assert max(line.count("<path") + line.count("<text") for line in text.splitlines()) <= 1
    assert "metadata" not in text
    assert "xlink" not in text
    assert "DejaVu" not in text
    assert len(text) < 60_000


def test_every_mark_is_drawn(sample: ModuleType) -> None:
    """Each kind of mark leaves something of its colour on the sheet, wide and narrow."""
    estimate = sample.estimate(2.0, 0.5)
    axes = {"x": Axis(title=said("x"), start=0.0, end=4.0), "y": Axis(title=said("y"), start=0.0, end=4.0)}
    marks = (
        Line(x=(0.0, 4.0), y=(1.0, 2.0), token="s1", label=said("a line")),
        Line(x=(0.0, 4.0), y=(1.0, 2.0), token="s1", dashed=True, marker="none", end_label=said("an end")),
        Band(x=(0.0, 4.0), low=(1.0, 1.0), high=(2.0, 3.0), token="s2"),
        *(Points(x=(1.0,), y=(1.0,), token="s3", marker=m, label=said("points")) for m in ("circle", "square", "diamond", "triangle")),
        Points(x=(1.0,), y=(1.0,), token="s3", hollow=True, small=True),
        Whisker(at=2.0, estimate=estimate, token="s4", value_label=said("up")),
        Whisker(at=2.0, estimate=estimate, token="s4", along="x", hollow=True, value_label=said("across")),
        Whisker(at=3.0, estimate=sample.estimate(2.0, None, 2), token="s4"),
        Bar(at=1.0, value=3.0, token="n1", value_label=said("a bar")),
        Bar(at=2.0, value=3.0, token="n1", along="y", hatched=True, value_label=said("hatched")),
        Rule(at=2.5, along="x", token="cap", label=said("a limit")),
        Rule(at=2.5, along="y", token="cap", dashed=False, label=said("another limit")),
        Span(low=1.0, high=2.0, token="n2", label=said("why")),
    )  # fmt: skip
    for mark, narrow in itertools.product(marks, WIDTHS):
        blank = draw(figure(Panel(title=said("p"), marks=(), **axes)), language("en"), narrow=narrow)
        drawing = draw(figure(Panel(title=said("p"), marks=(mark,), **axes)), language("en"), narrow=narrow)
        new = set(drawing.svg.decode().splitlines()) - set(blank.svg.decode().splitlines())
        assert any(f"f-{mark.token}" in line or f"k-{mark.token}" in line for line in new), mark
        words = {t.text for t in drawing.texts}
        for field in ("label", "end_label", "value_label"):
            label = getattr(mark, field, None)
            assert label is None or label.frame in words, mark


def test_a_bar_reaches_from_zero_to_its_value(sample: ModuleType) -> None:
    """The lengths of bars are to one another as their values are."""
    svg = ElementTree.fromstring(draw(sample.memory_figure(), language("en"), narrow=False).svg)

    lengths = []
    for path in svg.iter(f"{SVG}path"):
        if (
            path.attrib.get("class") in ("f-s1", "k-cap")
            and " L " in path.attrib["d"]
            and path.attrib["d"].endswith("z")
        ):
            xs = [float(x) for x in re.findall(r"[ML] (\S+) \S+", path.attrib["d"])]
            lengths.append(max(xs) - min(xs))

    assert len(lengths) == 4
    assert [length / lengths[0] for length in lengths] == pytest.approx(
        [v / 107 for v in (107, 38.6, 33.9, 30.8)], abs=1e-3
    )


def test_many_labels_at_one_place_are_pushed_apart(sample: ModuleType) -> None:
    """Nine lines that end together are told apart by nine readable labels."""
    lines = tuple(
        Line(x=(1.0, 4.0), y=(1.0, 3.0 + i / 100), token="s1", end_label=said("{n}", n=name(f"series {i}")))
        for i in range(9)
    )
    crowded = figure(Panel(title=said("p"), x=Axis(title=said("x")), y=Axis(title=said("y")), marks=lines))
    for narrow in WIDTHS:
        drawing = draw(crowded, language("en"), narrow=narrow)

        ends = [t for t in drawing.texts if t.text.startswith("series")]
        assert len(ends) == 9
        assert not any(a.touches(b) for a, b in itertools.combinations(ends, 2))


def test_crowded_device_counts_keep_readable_ticks() -> None:
    """On 1, 2, 4, 8 ... 64 the labels that would touch are left out, never the last."""
    counts = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
    line = Line(x=counts, y=counts, token="s1")
    panel = Panel(
        title=said("p"),
        x=Axis(title=said("Devices"), style="integer", ticks=counts),
        y=Axis(title=said("")),
        marks=(line,),
    )

    drawing = draw(figure(panel), language("en"), narrow=True)

    assert not any(a.touches(b) for a, b in itertools.combinations(drawing.texts, 2))
    assert "64" in {t.text for t in drawing.texts}


@pytest.mark.parametrize("narrow", WIDTHS)
def test_hostile_labels_are_drawn_as_text(hostile: ModuleType, narrow: bool) -> None:
    """No label breaks the drawing or the XML, asks for mathematics, or leaves the sheet."""
    marks = tuple(
        Line(x=(0.0, 1.0), y=(0.0, float(i)), token="s1", end_label=said("{x}", x=name(payload)))
        for i, payload in enumerate(hostile.PAYLOADS)
    )
    categories = tuple(name(payload) for payload in hostile.PAYLOADS)
    bars = tuple(
        Bar(at=float(i), value=1.0 + i, token="s1", value_label=said("{x}", x=name(p)))
        for i, p in enumerate(hostile.PAYLOADS)
    )
    panels = (
        Panel(title=said("{x}", x=name(hostile.PAYLOADS[0])), x=Axis(title=said("{x}", x=name("$\\frac{$"))), y=Axis(title=said("y")), marks=marks),
        Panel(title=said("p"), x=Axis(title=said("")), y=Axis(title=said(""), categories=categories), marks=bars),
    )  # fmt: skip

    drawing = draw(figure(*panels), language("en"), narrow=narrow)

    tags = {e.tag.removeprefix(SVG) for e in ElementTree.fromstring(drawing.svg).iter()}
    assert tags <= {
        "svg",
        "title",
        "desc",
        "style",
        "defs",
        "g",
        "path",
        "use",
        "text",
        "clipPath",
        "rect",
        "pattern",
    }
    assert all(t.left >= 0 and t.right <= drawing.width for t in drawing.texts)
    assert all(len(t.text) <= 80 for t in drawing.texts)


def test_the_same_figure_has_the_same_bytes_everywhere() -> None:
    """Neither time zone, locale, hash seed nor the order of drawing leaves a trace."""
    program = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1]); import sample_article as s;"
        "from study.press.draw import draw; from study.press.language import language;"
        f"names = {FIGURES!r}; names = names if sys.argv[2] == 'forth' else tuple(reversed(names));"
        "made = {n: hashlib.sha256(draw(getattr(s, n)(), language(c), narrow=w).svg).hexdigest()"
        " for n in names for w in (False, True) for c in ('en', 'pl')};"
        "print(sorted(made.items()))"
    )
    settings = (
        {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "0"},
        {"TZ": "Asia/Tokyo", "LC_ALL": "pl_PL.UTF-8", "PYTHONHASHSEED": "4242"},
    )

    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, str(Path(__file__).parent), order],
            env={**os.environ, **setting},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for setting, order in zip(settings, ("forth", "back"), strict=True)
    ]

    assert outputs[0] == outputs[1]


def test_colours_can_be_read() -> None:
    """Contrast on the card is at least 3 for marks and 4.5 for letters, in both schemes (WCAG 2.2)."""
    for scheme in ("light", "dark"):
        card = getattr(SHADES["card"], scheme)
        for token in ("s1", "s2", "s3", "s4", "n1", "cap", "muted", "ink"):
            assert contrast(getattr(SHADES[token], scheme), card) >= 3.0, (token, scheme)
            assert contrast(getattr(SHADES[text_token(token)], scheme), card) >= 4.5, (token, scheme)
    assert set(TEXT.values()) <= set(SHADES)


def figure(*panels: Panel) -> Figure:
    """A figure around panels."""
    table = Table(key="t-x", caption=said("t"), columns=(), rows=())
    return Figure(
        key="fig-x",
        title=said("t"),
        subtitle=said("s"),
        caption=said("c"),
        alt=said("a"),
        panels=panels,
        table=table,
    )


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2.2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_the_standard() -> None:
    """Black on white is 21, a colour on itself 1."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#0067a8", "#0067a8") == 1.0


def test_a_figure_is_taller_when_its_rows_need_it(sample: ModuleType) -> None:
    """Forty categories get forty readable rows."""
    categories = tuple(name(f"row {i}") for i in range(40))
    marks = tuple(
        Whisker(at=float(i), estimate=sample.estimate(1.0, 0.1), token="s1", along="x") for i in range(40)
    )
    tall = figure(
        Panel(
            title=said("p"),
            x=Axis(title=said("")),
            y=Axis(title=said(""), categories=categories),
            marks=marks,
        )
    )
    for narrow in WIDTHS:
        drawing = draw(tall, language("en"), narrow=narrow)

        assert drawing.height > 1000
        assert sum(t.text.startswith("row") for t in drawing.texts) == 40


def test_the_sample_is_frozen(sample: ModuleType) -> None:
    """Drawing changes nothing in what it draws."""
    made = sample.speedup_figure()
    before = msgspec.json.encode(made)

    draw(made, language("en"), narrow=False)

    assert msgspec.json.encode(made) == before
