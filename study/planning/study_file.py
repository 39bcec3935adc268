"""A study file or a preset, decoded strictly: a misspelt key never becomes a default in silence."""

import difflib
import re
import tomllib
import typing
from collections.abc import Iterable
from pathlib import Path

import msgspec

from study.domain.errors import BadStudyFile, BadUsage
from study.domain.fact import Fact
from study.domain.study import Exclude, Matrix, Protocol, Scaling, Study, Task

PRESETS = Path(__file__).parent / "presets"
LARGEST_FILE_BYTES = 1_000_000

ALLOWED: dict[str, tuple[str, ...]] = {
    "task": typing.get_args(Task),
    "scaling": typing.get_args(Scaling),
    "devices": ("auto",),
}
"""Keys that take one of few words."""


def preset_names() -> list[str]:
    """The names of the presets that come with the package, sorted."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def load_study(wanted: str) -> tuple[Study, str]:
    """The study called `wanted`, a preset's name or the path of a TOML file, and its text.

    Raises:
        BadUsage: there is no such preset and no such file.
        BadStudyFile: the file cannot be read, is not TOML, or says something that a study cannot say.
    """
    place, text = _read(wanted)
    return decode(text, place), text


def decode(text: str, place: str) -> Study:
    """A study from the text of its file; `place` names the file in errors.

    Raises:
        BadStudyFile: as for `load_study`.
    """
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        remedy = "Mend the file at that place; docs/study-file.md shows the form."
        if text.lstrip().startswith(("{", "<", "---")):
            remedy = "This looks like another format; a study file is TOML, see docs/study-file.md."
        raise BadStudyFile(place, f"not valid TOML: {error}", remedy) from error
    try:
        return msgspec.convert(raw, Study)
    except msgspec.ValidationError as error:
        raise _explained(place, str(error)) from error


def _read(wanted: str) -> tuple[str, str]:
    preset = PRESETS / f"{wanted}.toml"
    path = Path(wanted)
    if wanted in preset_names():
        return f"preset {wanted}", preset.read_text(encoding="utf-8")
    if path.is_dir():
        raise BadUsage(f"{wanted} is a folder, not a study file.", "Give the path of a TOML file in it.")
    if not path.is_file():
        kind = "study file" if path.suffix == ".toml" or "/" in wanted else "preset or study file"
        raise BadUsage(
            f"There is no {kind} called {wanted!r}.",
            nearest(wanted, preset_names(), "presets")
            + " Or give the path of a TOML file; docs/study-file.md shows how to write one.",
        )
    try:
        if path.stat().st_size > LARGEST_FILE_BYTES:
            raise BadStudyFile(str(path), "larger than 1 MB", "Is this a study file? Give the right path.")
        return str(path), path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadStudyFile(
            str(path), "not UTF-8 text, so not TOML", "Save it as UTF-8, or give the right path."
        ) from error
    except OSError as error:
        raise BadStudyFile(
            str(path), f"cannot be read: {error.strerror}", "Check its permissions."
        ) from error


def nearest(wrong: str, right: Iterable[str], what: str) -> str:
    """A remedy: the nearest right name if one is near, and all of them."""
    names = sorted(right)
    close = difflib.get_close_matches(wrong, names, n=1, cutoff=0.6)
    hint = f'Did you mean "{close[0]}"? ' if close else ""
    return f"{hint}The {what} are: {', '.join(names)}." if names else f"{hint}There are no {what}."


def _explained(place: str, message: str) -> BadStudyFile:
    """msgspec's sentence, made into a place, a problem and a remedy."""
    what, _, path = message.partition(" - at `")
    where = path.rstrip("`").removeprefix("$").removeprefix(".")
    full = f"{place}: {where}" if where else place
    unknown = re.search(r"unknown field `(.+?)`", what)
    if unknown:
        fact, keys = _keys_at(where)
        key = unknown.group(1)
        remedy = nearest(key, keys, f"keys {_here(where)}")
        if fact is Matrix:
            remedy += f" If {key} is an option of the workload, write options = {{ {key} = ... }}."
        return BadStudyFile(f"{full}.{key}" if where else f"{place}: {key}", "there is no such key", remedy)
    missing = re.search(r"missing required field `(.+?)`", what)
    if missing:
        key = missing.group(1)
        if key == "matrix":
            return BadStudyFile(
                full,
                "there is no matrix, so there is nothing to measure",
                "Add a [[matrix]] table; see docs/study-file.md.",
            )
        return BadStudyFile(
            full,
            f"the key {key} is missing",
            f"Add {key} = ... {_here(where)}; docs/study-file.md says what it means.",
        )
    enum = re.search(r"[Ii]nvalid enum value '(.*)'", what)
    if enum:
        key = re.sub(r"\[\d+\]$", "", where).rpartition(".")[2]
        allowed = ALLOWED.get(key, ())
        return BadStudyFile(
            full, f"{enum.group(1)!r} is no {key}", nearest(enum.group(1), allowed, f"values of {key}")
        )
    if "matching regex" in what:
        return BadStudyFile(
            full,
            "not a name that can be a folder",
            "Use a to z, 0 to 9 and single hyphens, such as two-cards.",
        )
    problem = what[0].lower() + what[1:] if what else "not what a study file may say"
    return BadStudyFile(full, problem, "Change the value; docs/study-file.md says what this key takes.")


def _here(where: str) -> str:
    return f"of {where}" if where else "at the top of a study file"


def _keys_at(where: str) -> tuple[type[Fact], list[str]]:
    """The type that a key path ends in, and the keys that it takes."""
    head = where.split(".", 1)[0].split("[", 1)[0]
    facts: dict[str, type[Fact]] = {"protocol": Protocol, "matrix": Matrix, "exclude": Exclude}
    fact = facts.get(head, Study)
    return fact, list(typing.get_type_hints(fact))
