"""The base of every type that crosses a joint: frozen, keyword-only, strict both ways."""

import msgspec

Level = str | int | float | bool
"""One value of a factor: what a study file may write and a cell may hold."""


class Fact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An immutable record of what is known; unknown keys are refused when one is decoded.

    A field that may be null names its reason in `unknown` where the type has that field.
    """


def missing_reasons(fact: Fact, unknown: dict[str, str]) -> list[str]:
    """Names of fields of `fact` that are null although `unknown` gives no reason."""
    return [name for name in fact.__struct_fields__ if getattr(fact, name) is None and name not in unknown]


def require_reasons(fact: Fact, unknown: dict[str, str]) -> None:
    """Refuse a fact that holds a null without a reason, or a reason for a value that is there.

    Raises:
        ValueError: a field is null and `unknown` does not say why, or the other way round.
    """
    silent = missing_reasons(fact, unknown)
    if silent:
        raise ValueError(f"{type(fact).__name__}: null without a reason: {', '.join(silent)}")
    for name in unknown:
        if name not in fact.__struct_fields__:
            raise ValueError(f"{type(fact).__name__}: a reason for no such field: {name}")
        if getattr(fact, name) is not None:
            raise ValueError(f"{type(fact).__name__}: a reason although {name} is known")
