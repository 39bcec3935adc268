"""The number formatter, by table: what is held on the left, what is printed on the right."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.domain.errors import OurFault
from study.domain.estimate import Estimate
from study.domain.text import Style
from study.press.language import language
from study.press.numbers import places_of_half_width, rounded

N, M = "\u00a0", "\u2212"


def estimate(value: float, low: float | None, high: float | None, n: int = 5) -> Estimate:
    """An estimate with these ends."""
    return Estimate(value=value, low=low, high=high, n=n, unit="", method="t_log")


@pytest.mark.parametrize(
    ("value", "style", "unit", "english", "polish"),
    [
        (0.0, "plain", "", "0", "0"),
        (1.005, "ratio", "", "1.01", "1,01"),
        (2.675, "ratio", "", "2.68", "2,68"),
        (-0.001, "ratio", "", "0.00", "0,00"),
        (-0.5, "ratio", "", f"{M}0.50", f"{M}0,50"),
        (12.345, "ratio", "", "12.3", "12,3"),
        (3.06, "times", "", "3.06×", "3,06×"),
        (0.93, "percent", "", "93%", "93%"),
        (0.9917, "percent", "", "99.2%", "99,2%"),
        (0.0004, "percent", "", "0%", "0%"),
        (-0.102, "percent", "", f"{M}10.2%", f"{M}10,2%"),
        (0.032, "percent_points", "", f"3.2{N}percentage points", f"3,2{N}p.p."),
        (1234.0, "integer", "", "1,234", "1234"),
        (12345.0, "integer", "", "12,345", f"12{N}345"),
        (1234567.0, "integer", "", "1,234,567", f"1{N}234{N}567"),
        (25612.0, "rate", "tokens", f"25,612{N}tokens/s", f"25{N}612{N}tokenów/s"),
        (24.64, "rate", "images", f"24.6{N}images/s", f"24,6{N}obrazów/s"),
        (1.5, "seconds", "", f"1.5{N}s", f"1,5{N}s"),
        (0.3, "seconds", "", f"0.3{N}s", f"0,3{N}s"),
        (1.2345, "seconds", "", f"1.23{N}s", f"1,23{N}s"),
        (0.2311, "milliseconds", "", f"231{N}ms", f"231{N}ms"),
        (0.0005, "duration", "", f"500{N}µs", f"500{N}µs"),
        (0.25, "duration", "", f"250{N}ms", f"250{N}ms"),
        (59.94, "duration", "", f"59.9{N}s", f"59,9{N}s"),
        (59.96, "duration", "", f"1{N}min", f"1{N}min"),
        (200.0, "duration", "", f"3{N}min{N}20{N}s", f"3{N}min{N}20{N}s"),
        (3599.7, "duration", "", f"1{N}h", f"1{N}h"),
        (97_300.0, "duration", "", f"27{N}h{N}2{N}min", f"27{N}h{N}2{N}min"),
        (48 * 2.0**30, "bytes", "", f"48{N}GiB", f"48{N}GiB"),
        (1536.0, "bytes", "", f"1.50{N}KiB", f"1,50{N}KiB"),
        (1395.0, "megahertz", "", f"1,395{N}MHz", f"1395{N}MHz"),
        (83.25, "watt", "", f"83.3{N}W", f"83,3{N}W"),
        (84.1, "plain", "°C", f"84.1{N}°C", f"84,1{N}°C"),
        (1e18, "plain", "", f"1.00{N}×{N}10¹⁸", f"1,00{N}×{N}10¹⁸"),
        (2.5e-9, "plain", "", f"2.50{N}×{N}10⁻⁹", f"2,50{N}×{N}10⁻⁹"),
    ],
)
def test_a_number_alone(value: float, style: Style, unit: str, english: str, polish: str) -> None:
    """A number without an interval has the places of its style and the signs of its language."""
    said = [language(code).numbers.number(value, style, unit) for code in ("en", "pl")]

    assert said == [english, polish]


@pytest.mark.parametrize(
    ("held", "style", "unit", "english", "polish"),
    [
        # Half-width 0.075, two significant digits: three places, capped at two for a ratio.
        (estimate(1.6234, 1.5512, 1.7012), "ratio", "", ("1.62", "1.55–1.70"), ("1,62", "1,55–1,70")),
        # GUM 7.2.6: 0.0996 rounds to 0.10, whose second digit is in the second place.
        (estimate(5.1234, 5.0238, 5.2230), "plain", "", ("5.12", "5.02–5.22"), ("5,12", "5,02–5,22")),
        # 1500 has its second significant digit at the hundreds.
        (
            estimate(25_612, 24_112, 27_112),
            "rate",
            "tokens",
            (f"25,600{N}tokens/s", "24,100–27,100"),
            (f"25{N}600{N}tokenów/s", f"24{N}100–27{N}100"),
        ),
        (estimate(0.93, 0.909, 0.951), "percent", "", ("93.0%", "90.9–95.1%"), ("93,0%", "90,9–95,1%")),
        (
            estimate(0.02, -0.021, 0.061),
            "ratio",
            "",
            ("0.02", f"{M}0.02 to 0.06"),
            ("0,02", f"od {M}0,02 do 0,06"),
        ),
        (
            estimate(-0.102, -0.1135, -0.0905),
            "percent",
            "",
            (f"{M}10.2%", f"{M}11.4 to {M}9.1%"),
            (f"{M}10,2%", f"od {M}11,4 do {M}9,1%"),
        ),
        # A cap at two places would print 1.00: what the interval excludes must stay visible.
        (estimate(1.0042, 1.0021, 1.0063), "ratio", "", ("1.004", "1.002–1.006"), ("1,004", "1,002–1,006")),
        (estimate(0.0012, 0.0002, 0.0022), "percent", "", ("0.12%", "0.02–0.22%"), ("0,12%", "0,02–0,22%")),
        (
            estimate(0.2311, 0.2290, 0.2332),
            "milliseconds",
            "",
            (f"231.1{N}ms", "229.0–233.2"),
            (f"231,1{N}ms", "229,0–233,2"),
        ),
        (
            estimate(90.0, 84.0, 96.0),
            "duration",
            "",
            (f"1.50{N}min", "1.40–1.60"),
            (f"1,50{N}min", "1,40–1,60"),
        ),
        (
            estimate(1395, 1381, 1409),
            "megahertz",
            "",
            (f"1,395{N}MHz", "1,381–1,409"),
            (f"1395{N}MHz", "1381–1409"),
        ),
    ],
)
def test_an_estimate(
    held: Estimate, style: Style, unit: str, english: tuple[str, str], polish: tuple[str, str]
) -> None:
    """The half-width decides the place, and value and ends share it."""
    said = [tuple(language(code).numbers.estimate(held, style, unit)) for code in ("en", "pl")]

    assert said == [english, polish]


@pytest.mark.parametrize(
    ("held", "neutral", "shown"),
    [
        # The truth is 1.8182: to two places its interval would begin with it.
        ((1.8372, 1.8234, 1.8504), 1 / 0.55, ("1.837", "1.823–1.850")),
        # So close to the truth that more places than two significant digits are needed.
        ((1.83, 1.8184, 1.842), 1 / 0.55, ("1.8300", "1.8184–1.8420")),
        # It contains the truth; both ends stay on their sides.
        ((1.82, 1.8166, 1.8234), 1 / 0.55, ("1.820", "1.817–1.823")),
        ((1.9, 1.85, 1.95), 1 / 0.55, ("1.90", "1.85–1.95")),
        # An end that is the neutral value itself is not pushed off it.
        ((1.9, 1.8, 2.0), 1.8, ("1.90", "1.80–2.00")),
    ],
)
def test_a_neutral_value_decides_the_places(
    held: tuple[float, float, float], neutral: float, shown: tuple[str, str]
) -> None:
    """The reader sees on which side of a given value both ends of an interval lie."""
    found = language("en").numbers.estimate(estimate(*held), "ratio", neutral=neutral)

    assert tuple(found) == shown


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (0.95, "95%"),
        (0.975, "97.5%"),
        (1 - 0.05 / 3, "98.33%"),
        (0.9875, "98.75%"),
        (0.9995, "99.95%"),
        (0.99995, "99.995%"),
    ],
)
def test_a_level_is_shown_as_it_is(level: float, shown: str) -> None:
    """However many comparisons share a family, a level is never rounded up to certainty."""
    assert language("en").numbers.level(level) == shown


def test_an_interval_of_no_width_has_the_places_of_its_style() -> None:
    """Equal ends, as of an exact count, do not ask for infinitely many digits."""
    held = estimate(4.0, 4.0, 4.0)

    assert tuple(language("en").numbers.estimate(held, "plain")) == ("4", "4–4")


def test_ticks_share_their_places_and_count_in_thousands() -> None:
    """An axis has one precision and one unit."""
    numbers = language("en").numbers

    assert numbers.ticks((0.0, 0.5, 1.0), "plain", "") == (["0.0", "0.5", "1.0"], "")
    assert numbers.ticks((0.6, 0.8, 1.0), "percent", "") == (["60", "80", "100"], "%")
    assert numbers.ticks((0.0, 20_000.0), "rate", "tokens") == (["0", "20k"], f"{N}tokens/s")
    assert numbers.ticks((0.0, 300.0, 900.0), "duration", "") == (["0", "5", "15"], f"{N}min")


def test_file_sizes_are_decimal() -> None:
    """Files are counted in powers of a thousand, as in a file manager."""
    numbers = language("en").numbers

    assert [numbers.file_size(n) for n in (0, 999, 1000, 61_240, 4_100_000)] == [
        f"0{N}B",
        f"999{N}B",
        f"1{N}kB",
        f"61.2{N}kB",
        f"4.10{N}MB",
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_refused(value: float) -> None:
    """A number that cannot be must not be printed as if it could."""
    with pytest.raises(OurFault, match="not finite"):
        language("en").numbers.number(value, "plain")


@given(st.decimals(min_value=Decimal("1e-9"), max_value=Decimal("1e9"), allow_nan=False))
def test_a_half_width_keeps_two_significant_digits(half: Decimal) -> None:
    """Whatever its size, rounding at the place found leaves exactly two digits (GUM 7.2.6)."""
    places = places_of_half_width(half)

    assert rounded(half, places).adjusted() == 1 - places
    assert abs(rounded(half, places) - half) <= Decimal(1).scaleb(-places) / 2


@pytest.mark.parametrize(
    ("half", "place"), [("0.0996", 2), ("0.0994", 3), ("0.15", 2), ("1500", -2), ("9.96", 0), ("99.6", -1)]
)
def test_the_place_of_a_half_width(half: str, place: int) -> None:
    """A carry moves the place: 0.0996 becomes 0.10 and not 0.100."""
    assert places_of_half_width(Decimal(half)) == place
