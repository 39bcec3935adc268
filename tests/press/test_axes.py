# ruff: noqa: S106 - a colour token is not a password
"""Axes: ends, ticks, and the sentence about an axis that does not start at zero."""

from types import ModuleType

import msgspec
import pytest

from study.domain.errors import OurFault
from study.domain.figure import Axis, Bar, Line, Panel, Points, Whisker
from study.domain.text import said
from study.press import say
from study.press.axes import axis_notes, multiples, nice_step, part, scale, value_sides
from study.press.language import language

NUMBERS = language("en").numbers


def panel(*marks: object, x: Axis | None = None, y: Axis | None = None) -> Panel:
    """A panel with plain axes unless told otherwise."""
    plain = Axis(title=said("axis"))
    return Panel(title=said("panel"), x=x or plain, y=y or plain, marks=marks)  # type: ignore[arg-type]


def line(*y: float) -> Line:
    """A line over 0, 1, 2."""
    return Line(x=tuple(float(i) for i in range(len(y))), y=y, token="s1")


@pytest.mark.parametrize(
    ("span", "step"), [(10.0, 2.0), (1.0, 0.2), (0.7, 0.1), (1300.0, 250.0), (6e-5, 1e-5)]
)
def test_steps_are_one_two_five(span: float, step: float) -> None:
    """Ticks stand at round numbers."""
    assert nice_step(span, 5) == pytest.approx(step)


def test_multiples_have_no_binary_dust() -> None:
    """0.3 is a tick, 0.30000000000000004 is not."""
    assert multiples(0.0, 0.5, 0.1) == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


def test_bars_start_at_zero_whatever_is_asked() -> None:
    """A bar that does not start at zero lies."""
    bar = Bar(at=0.0, value=95.0, token="s1")

    made = scale(
        panel(bar, x=Axis(title=said("x"), start=90.0), y=Axis(title=said(""), categories=(said("a"),))),
        "x",
        NUMBERS,
    )

    assert made.start == 0.0
    assert made.end >= 95.0


def test_bars_are_never_drawn_on_a_logarithmic_axis() -> None:
    """A logarithm has no zero for a bar to start from."""
    bar = Bar(at=0.0, value=95.0, token="s1", along="y")

    assert not scale(panel(bar, y=Axis(title=said("y"), scale="log")), "y", NUMBERS).log


def test_a_value_axis_starts_at_zero_when_that_costs_little() -> None:
    """Zero is shown unless the values are crowded far above it."""
    assert scale(panel(line(2.0, 10.0)), "y", NUMBERS).start == 0.0
    assert scale(panel(line(9.0, 10.0)), "y", NUMBERS).start > 0.0


def test_a_cut_axis_is_declared_with_its_start() -> None:
    """The caption says where an axis starts if not at zero."""
    figure = make_figure(
        panel(line(1400.0, 1700.0), y=Axis(title=said("Clock"), style="megahertz", start=1200.0))
    )

    assert [say(note) for note in axis_notes(figure, NUMBERS)] == [
        "The axis “Clock” starts at 1,200\u00a0MHz, not at zero."
    ]


def test_an_axis_from_zero_and_an_axis_of_counts_need_no_note() -> None:
    """One device is where a line over devices begins; that is no cut."""
    figure = make_figure(panel(line(0.0, 4.0), x=Axis(title=said("Devices"), style="integer", start=1.0)))

    assert axis_notes(figure, NUMBERS) == ()


def test_a_logarithmic_axis_is_declared() -> None:
    """The reader is told that distances are ratios."""
    figure = make_figure(panel(line(1.0, 100.0), y=Axis(title=said("Ratio"), scale="log")))

    assert [say(note) for note in axis_notes(figure, NUMBERS)] == ["The axis “Ratio” is logarithmic."]


def test_a_logarithmic_axis_places_ratios_evenly() -> None:
    """Ten stands half-way between one and a hundred."""
    made = scale(
        panel(line(1.0, 100.0), y=Axis(title=said("y"), scale="log", start=1.0, end=100.0)), "y", NUMBERS
    )

    assert part(10.0, made) == pytest.approx(0.5)
    assert set(made.ticks) >= {1.0, 10.0, 100.0}


def test_values_along_x_are_on_the_x_axis() -> None:
    """With categories on one axis the values are on the other."""
    held = Whisker(at=0.0, estimate=sample_estimate(), token="s1", along="x")

    assert value_sides(panel(held, y=Axis(title=said(""), categories=(said("a"),)))) == ("x",)
    assert value_sides(panel(line(1.0, 2.0))) == ("y",)


def test_few_counts_are_their_own_ticks() -> None:
    """Devices 1, 2 and 4 are named, and not 1.5."""
    marks = Points(x=(1.0, 2.0, 4.0), y=(1.0, 2.0, 3.0), token="s1")

    assert scale(panel(marks, x=Axis(title=said("Devices"), style="integer")), "x", NUMBERS).ticks == (
        1.0,
        2.0,
        4.0,
    )


def test_minutes_have_round_minutes() -> None:
    """A time axis ticks at whole minutes, not at multiples of 500 s."""
    marks = Line(x=(0.0, 1790.0), y=(0.0, 1.0), token="s1", marker="none")

    assert scale(panel(marks, x=Axis(title=said("t"), style="duration")), "x", NUMBERS).ticks == tuple(
        300.0 * i for i in range(7)
    )


def test_an_empty_panel_is_refused() -> None:
    """A chart of nothing is a mistake of ours, and named."""
    with pytest.raises(OurFault, match="nothing to show"):
        scale(panel(), "y", NUMBERS)


def make_figure(made: Panel) -> object:
    """A figure around one panel; the notes look at nothing else."""

    class Around(msgspec.Struct):
        panels: tuple[Panel, ...]

    return Around((made,))


def sample_estimate() -> object:
    """Any estimate."""
    from study.domain.estimate import Estimate

    return Estimate(value=1.0, low=0.9, high=1.1, n=5, unit="", method="t_log")


def test_every_figure_of_the_sample_has_scales(sample: ModuleType) -> None:
    """Ticks are inside the ends, and values too."""
    for figure in (
        sample.speedup_figure(),
        sample.memory_figure(),
        sample.thermal_figure(),
        sample.strategies_figure(),
    ):
        for one in figure.panels:
            for side in ("x", "y"):
                made = scale(one, side, NUMBERS)
                assert made.start < made.end
                assert all(made.start <= tick <= made.end for tick in made.ticks)
