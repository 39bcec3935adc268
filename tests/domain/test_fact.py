"""Facts are frozen, and a null has its reason."""

import pytest

from study.domain.fact import Fact, missing_reasons, require_reasons
from study.domain.telemetry import Sample


class Temperature(Fact, frozen=True, kw_only=True):
    """A fact with a field that may be null."""

    celsius: float | None
    unknown: dict[str, str] = {}


def test_a_fact_cannot_be_changed() -> None:
    """What was measured stays measured."""
    sample = Sample(time_ns=1, target="gpu0", sensor="power", unit="w", value=1.0)

    with pytest.raises(AttributeError):
        sample.value = 2.0  # type: ignore[misc]


def test_a_null_with_a_reason_is_accepted() -> None:
    """Not recorded, and why."""
    fact = Temperature(celsius=None, unknown={"celsius": "no sensor"})

    require_reasons(fact, fact.unknown)


def test_a_null_without_a_reason_is_refused() -> None:
    """The type and the field are named."""
    fact = Temperature(celsius=None)

    with pytest.raises(ValueError, match="Temperature: null without a reason: celsius"):
        require_reasons(fact, fact.unknown)


@pytest.mark.parametrize(
    ("celsius", "unknown", "words"),
    [
        (40.0, {"celsius": "no sensor"}, "a reason although celsius is known"),
        (40.0, {"kelvin": "no sensor"}, "a reason for no such field: kelvin"),
    ],
)
def test_a_reason_for_what_is_known_or_does_not_exist_is_refused(
    celsius: float, unknown: dict[str, str], words: str
) -> None:
    """A reason that explains nothing is a mistake."""
    with pytest.raises(ValueError, match=words):
        require_reasons(Temperature(celsius=celsius, unknown=unknown), unknown)


def test_zero_is_a_value_and_needs_no_reason() -> None:
    """Missing is not zero, and zero is not missing."""
    assert missing_reasons(Temperature(celsius=0.0), {}) == []
