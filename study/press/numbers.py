"""Digits: the one place where a number becomes text, for prose, tables, charts and the terminal alike.

Rounding follows the GUM (JCGM 100:2008, 7.2.6): the half-width of an interval to two significant digits, the
estimate to the same decimal place; half up, on the decimal that the float prints as, because the
binary value behind 2.675 would surprise the reader who checks by hand.
"""

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import NamedTuple

from study.domain.errors import OurFault
from study.domain.estimate import Estimate
from study.domain.text import Est, Style

NBSP = "\u00a0"
MINUS = "\u2212"

_EXACT = Context(prec=80, rounding=ROUND_HALF_UP)
_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_KIBI = Decimal(1024)


class Signs(NamedTuple):
    """A language's signs. `grouped_from` is the number of integer digits from which groups are marked."""

    decimal: str
    group: str
    grouped_from: int
    percent: str


class Measure(NamedTuple):
    """How a style is shown: the held value times `factor`, then `suffix`.

    `most_places` caps the decimal places unless that would hide on which side of `neutral` ("no
    difference") a bound lies; `least_places` is what a column's numbers have in common.
    """

    factor: Decimal
    suffix: str
    most_places: int | None = None
    neutral: Decimal | None = None
    least_places: int | None = None


class Shown(NamedTuple):
    """An estimate in digits: its value with its unit, and its interval, or an empty string without one."""

    value: str
    interval: str


class Numbers:
    """The number formatter of one language.

    `word` translates a unit ("tokens"); `between` joins the ends of an interval of which one is
    negative ("−0.02 to 0.06"), where a dash would read as a sign.
    """

    def __init__(self, signs: Signs, word: Callable[[str], str], between: Callable[[str, str], str]) -> None:
        self._signs = signs
        self._word = word
        self._between = between

    def number(
        self,
        value: float,
        style: Style,
        unit: str = "",
        *,
        tight: bool = False,
        column: Measure | None = None,
    ) -> str:
        """A value without an interval. `tight` abbreviates the unit; a `column` has it in its head.

        Seconds that stand alone are settings: no zeros that would claim a precision.
        """
        if style == "duration" and abs(value) >= 59.95:
            return self._clock(exact(value))
        measure = column or self.measure(style, unit, value, tight=tight)
        shown = _EXACT.multiply(exact(value), measure.factor)
        if style == "seconds" and column is None and rounded(shown, 2) == shown:
            return self._digits(_without_zeros(shown)) + measure.suffix
        if measure.least_places is not None and not _is_extreme(shown):
            return self._digits(rounded(shown, measure.least_places)) + self._suffix(measure, style, column)
        return self._plain(shown, style) + self._suffix(measure, style, column)

    def estimate(
        self,
        estimate: Estimate,
        style: Style,
        unit: str = "",
        *,
        tight: bool = False,
        column: Measure | None = None,
        neutral: float | None = None,
    ) -> Shown:
        """An estimate and its interval, both to the decimal place that the interval deserves.

        `neutral` is the value with which the interval is compared in place of the style's own: the ends
        have as many places as show on which side of it they lie.
        """
        if estimate.low is None or estimate.high is None:
            return Shown(self.number(estimate.value, style, unit, tight=tight, column=column), "")
        measure = column or self.measure(style, unit, estimate.value, tight=tight)
        value, low, high = (
            _EXACT.multiply(exact(x), measure.factor) for x in (estimate.value, estimate.low, estimate.high)
        )
        places = self._places(estimate, measure, neutral)
        if style == "integer":
            places = min(places or 0, 0)
        suffix = self._suffix(measure, style, column)
        shown = self._plain(value, style) if places is None else self._digits(rounded(value, places))
        interval = self._interval(low, high, _places_of(value, style) if places is None else places)
        closed = suffix if style == "percent" else ""
        return Shown(shown + suffix, interval + closed)

    def beside(
        self,
        value: float,
        style: Style,
        unit: str,
        *,
        like: Est,
        tight: bool = False,
        column: Measure | None = None,
    ) -> str:
        """A value to the places of an estimate that stands beside it, such as a truth beside its measure."""
        measure = column or self.measure(style, unit, like.estimate.value, tight=tight)
        places = self._places(like.estimate, measure, like.neutral)
        if places is None:
            return self.number(value, style, unit, tight=tight, column=column)
        shown = rounded(_EXACT.multiply(exact(value), measure.factor), places)
        return self._digits(shown) + self._suffix(measure, style, column)

    def level(self, level: float) -> str:
        """A confidence level as it is: 95%, 97.5%, 99.95%."""
        missing = _EXACT.multiply(_EXACT.subtract(Decimal(1), exact(level)), Decimal(100))
        places = 2 if missing >= Decimal("0.1") or missing <= 0 else 1 - missing.adjusted()
        shown = _without_zeros(rounded(_EXACT.subtract(Decimal(100), missing), places))
        return self._digits(shown) + self._signs.percent

    def ticks(self, values: Sequence[float], style: Style, unit: str) -> tuple[list[str], str]:
        """The digits of an axis's ticks, all to the same place, and the unit that one of them may carry."""
        largest = max((abs(v) for v in values), default=0.0)
        measure = self.measure(style, unit, largest, tight=True)
        shown = [_EXACT.multiply(exact(v), measure.factor) for v in values]
        thousands = style in ("plain", "integer", "rate") and largest >= 10_000
        if thousands:
            shown = [_EXACT.divide(v, Decimal(1000)) for v in shown]
        places = max((_needed_places(v) for v in shown), default=0)
        digits = [self._digits(rounded(v, places)) for v in shown]
        if thousands:
            digits = [text if value == 0 else text + "k" for text, value in zip(digits, shown, strict=True)]
        return digits, measure.suffix

    def measure(self, style: Style, unit: str, reference: float, *, tight: bool = False) -> Measure:
        """Factor, unit and cap of a style; `reference` decides between ms, s and min, or MiB and GiB."""
        if style == "duration":
            return _measure_of_duration(abs(reference))
        if style == "bytes":
            return _measure_of_bytes(abs(reference))
        if style == "percent_points":
            name = self._word("pp" if tight else "percentage points")
            return Measure(Decimal(100), NBSP + name, 1, Decimal(0))
        if style == "rate":
            return Measure(Decimal(1), NBSP + self._word(unit) + "/s")
        fixed = {
            "percent": Measure(Decimal(100), self._signs.percent, 1, Decimal(0)),
            "ratio": Measure(Decimal(1), self._unit(unit), 2, Decimal(1)),
            "times": Measure(Decimal(1), "×", 2, Decimal(1)),
            "seconds": Measure(Decimal(1), NBSP + "s"),
            "milliseconds": Measure(Decimal(1000), NBSP + "ms"),
            "megahertz": Measure(Decimal(1), NBSP + "MHz"),
            "watt": Measure(Decimal(1), NBSP + "W"),
        }
        return fixed.get(style, Measure(Decimal(1), self._unit(unit)))

    def file_size(self, count: int) -> str:
        """A file's size in decimal units, as file managers show it."""
        power = min((len(str(count)) - 1) // 3, 3)
        shown = _EXACT.divide(Decimal(count), Decimal(1000**power))
        return self._plain(shown, "plain") + NBSP + ("B", "kB", "MB", "GB")[power]

    def column(self, values: Sequence[float], style: Style, unit: str) -> tuple[Measure | None, str]:
        """One measure for a table's column, and the unit for its head; signs stay with their numbers.

        Shares and ratios have the same places all the way down, so that 81% does not stand beside 59.4%.
        """
        if style == "duration" or not values:
            return None, ""
        measure = self.measure(style, unit, max(abs(v) for v in values), tight=True)
        if style in ("percent", "times", "ratio"):
            shown = [_EXACT.multiply(exact(v), measure.factor) for v in values]
            whole = style == "percent" and all(rounded(v, 1) == rounded(v, 0) for v in shown)
            measure = measure._replace(least_places=0 if whole else measure.most_places)
        return measure, "" if style in ("percent", "times") else measure.suffix.strip()

    def _places(self, estimate: Estimate, measure: Measure, neutral: float | None) -> int | None:
        """The decimal places of an interval's ends; null if it has none or no width."""
        if estimate.low is None or estimate.high is None:
            return None
        low, high = (_EXACT.multiply(exact(x), measure.factor) for x in (estimate.low, estimate.high))
        if neutral is not None:
            measure = measure._replace(neutral=_EXACT.multiply(exact(neutral), measure.factor))
        places = _places_of_interval(low, high, measure)
        if places is None or measure.least_places is None:
            return places
        return max(places, measure.least_places)

    def _suffix(self, measure: Measure, style: Style, column: Measure | None) -> str:
        return measure.suffix if column is None or style in ("percent", "times") else ""

    def _unit(self, unit: str) -> str:
        return NBSP + self._word(unit) if unit else ""

    def _plain(self, shown: Decimal, style: Style) -> str:
        """Digits of a value without an interval, to the places that its style has by custom."""
        if style != "integer" and _is_extreme(shown):
            return self._power_of_ten(shown)
        result = rounded(shown, _places_of(shown, style))
        if style in ("percent", "percent_points") and result == result.to_integral_value():
            result = rounded(result, 0)
        return self._digits(result)

    def _digits(self, value: Decimal) -> str:
        """A rounded decimal with the language's signs; a zero has no minus."""
        text = f"{abs(value):f}"
        whole, _, fraction = text.partition(".")
        if len(whole) >= self._signs.grouped_from:
            start = len(whole) % 3
            groups = [whole[:start]] if start else []
            groups += [whole[i : i + 3] for i in range(start, len(whole), 3)]
            whole = self._signs.group.join(groups)
        minus = MINUS if value < 0 else ""
        return minus + whole + (self._signs.decimal + fraction if fraction else "")

    def _interval(self, low: Decimal, high: Decimal, places: int) -> str:
        below, above = rounded(low, places), rounded(high, places)
        ends = self._digits(below), self._digits(above)
        return "–".join(ends) if below >= 0 and above >= 0 else self._between(*ends)

    def _power_of_ten(self, value: Decimal) -> str:
        exponent = value.adjusted()
        mantissa = self._digits(rounded(value.scaleb(-exponent, _EXACT), 2))
        return f"{mantissa}{NBSP}×{NBSP}10{str(exponent).translate(_SUPERSCRIPT)}"

    def _clock(self, seconds: Decimal) -> str:
        """A duration of a minute or more in two units: "3 min 20 s", "27 h 5 min"."""
        sign = MINUS if seconds < 0 else ""
        whole = int(rounded(abs(seconds), 0))
        units = (("h", 3600), ("min", 60)) if whole >= 3600 else (("min", 60), ("s", 1))
        if whole >= 3600:
            whole = int(rounded(_EXACT.divide(abs(seconds), Decimal(60)), 0)) * 60
        first, second = divmod(whole, units[0][1])
        parts = [f"{self._digits(Decimal(first))}{NBSP}{units[0][0]}"]
        if second:
            parts.append(f"{second // units[1][1]}{NBSP}{units[1][0]}")
        return sign + NBSP.join(parts)


def exact(value: float) -> Decimal:
    """The shortest decimal that reads back as this float.

    Raises:
        OurFault: the number is not finite; such a value should have been refused on the way here.
    """
    if not math.isfinite(value):
        raise OurFault(f"a number that is not finite reached the press: {value!r}")
    return Decimal(repr(float(value)))


def rounded(value: Decimal, places: int) -> Decimal:
    """Half up to `places` decimal places, or to tens and hundreds if it is negative."""
    result = _EXACT.quantize(value, Decimal(1).scaleb(-places))
    return _EXACT.quantize(result, Decimal(1)) if places < 0 else result


def places_of_half_width(half: Decimal) -> int:
    """The decimal place of the second significant digit, after rounding: 0.0996 is shown as 0.10."""
    places = 1 - half.adjusted()
    return (
        1 - rounded(half, places).adjusted()
        if places >= 0
        else 1 - _EXACT.quantize(half, Decimal(1).scaleb(-places)).adjusted()
    )


def _is_extreme(shown: Decimal) -> bool:
    """Whether a number needs a power of ten to be read."""
    return shown != 0 and (abs(shown) >= Decimal("1e15") or abs(shown) < Decimal("1e-6"))


def _without_zeros(shown: Decimal) -> Decimal:
    """The number in as few decimal places as show it exactly."""
    return rounded(shown, next((p for p in range(7) if rounded(shown, p) == shown), 6))


def _places_of_interval(low: Decimal, high: Decimal, measure: Measure) -> int | None:
    half = _EXACT.divide(_EXACT.subtract(high, low), Decimal(2))
    if half <= 0:
        return None
    wanted = places_of_half_width(half)
    places = wanted if measure.most_places is None else min(wanted, measure.most_places)
    while places < wanted + _MORE_PLACES and _hides(low, high, places, measure.neutral):
        places += 1
    return places


_MORE_PLACES = 4
"""Beyond its second significant digit an interval's end may be this close to what it is compared with."""


def _hides(low: Decimal, high: Decimal, places: int, neutral: Decimal | None) -> bool:
    """Whether rounding makes the interval empty, or blurs on which side of `neutral` an end lies."""
    if rounded(low, places) == rounded(high, places):
        return True
    if neutral is None:
        return False
    middle = rounded(neutral, places)
    return any(rounded(end, places) == middle and end != neutral for end in (low, high))


def _places_of(shown: Decimal, style: Style) -> int:
    match style:
        case "integer":
            return 0
        case "percent" | "percent_points":
            return 1
        case "ratio" | "times":
            return 2 if abs(shown) < 10 else 1 if abs(shown) < 100 else 0
        case _ if shown == shown.to_integral_value():
            return 0
        case _:
            return max(0, 2 - shown.adjusted())


def _needed_places(value: Decimal) -> int:
    """The fewest places, at most six, that show a tick exactly."""
    return next((p for p in range(6) if rounded(value, p) == rounded(value, 6)), 6)


def _measure_of_duration(seconds: float) -> Measure:
    for limit, factor, unit in (
        (0.001, Decimal(10**6), "µs"),
        (1.0, Decimal(1000), "ms"),
        (60.0, Decimal(1), "s"),
        (3600.0, _EXACT.divide(Decimal(1), Decimal(60)), "min"),
    ):
        if seconds < limit and (seconds > 0 or unit == "s"):
            return Measure(factor, NBSP + unit)
    return Measure(_EXACT.divide(Decimal(1), Decimal(3600)), NBSP + "h")


def _measure_of_bytes(count: float) -> Measure:
    power = 0
    while power < 4 and count >= 1024 ** (power + 1):
        power += 1
    return Measure(
        _EXACT.divide(Decimal(1), _EXACT.power(_KIBI, power)), NBSP + ("B", "KiB", "MiB", "GiB", "TiB")[power]
    )
