"""A language: its catalog of sentences, its numbers, dates and lists.

Catalogs are gettext files beside this one, read as text: there is no compiled file that could be stale.
English needs none, because the frames are English sentences.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import TYPE_CHECKING

from study.domain.errors import BadUsage
from study.press.numbers import NBSP, Numbers, Signs

if TYPE_CHECKING:
    from babel import Locale

CATALOGS = Path(__file__).parent / "locale"

RECORDED = "recorded"
"""The context of entries that are patterns: for sentences whose slots were filled when they were recorded."""

_LONGEST_RECORDED = 300

# CLDR's minimumGroupingDigits, which Babel does not offer: Polish writes 1234 and 12 345.
_GROUPED_FROM = {"pl": 5, "es": 5, "pt": 5}
# British English for its order of day and month and its lists without a comma before "and".
_LOCALE = {"en": "en_GB"}
_NAMES = {"en": "English", "pl": "Polski"}
_POLISH_PREPOSITION = re.compile(r"(?<![^\s(„])([aiouwzAIOUWZ]) ")


class Language:
    """What a language needs to speak. `code` goes into `lang` attributes; `name` is what it calls itself."""

    def __init__(
        self,
        code: str,
        locale: "Locale",
        translations: NullTranslations | None,
        patterns: Sequence[tuple[re.Pattern[str], str]] = (),
    ) -> None:
        self.code = code
        self.name = _NAMES.get(code, code)
        self._locale = locale
        self._translations = translations
        self._patterns = patterns
        symbols = locale.number_symbols.get("latn", locale.number_symbols)
        percent = locale.percent_formats[None].pattern
        self.numbers = Numbers(
            Signs(
                decimal=symbols["decimal"],
                group=symbols["group"].replace("\u202f", NBSP),
                grouped_from=_GROUPED_FROM.get(code, 4),
                percent="%" if "0%" in percent else NBSP + "%",
            ),
            self.gettext,
            lambda low, high: self.gettext("{low} to {high}").format(low=low, high=high),
        )

    def translation(self, message: str) -> str | None:
        """The message in this language, or null if the catalog does not know it."""
        if self._translations is None or not message:
            return self._typographic(message)
        found = self._translations.gettext(message) or self._recorded(message)
        return self._typographic(found) if found else None

    def plural_translation(self, one: str, many: str, count: int) -> str | None:
        """The form that the count asks for, or null if the catalog does not know the pair."""
        if self._translations is None:
            return self._typographic(one if count == 1 else many)
        found = self._translations.ngettext(one, many, count)
        return self._typographic(found) if found else None

    def gettext(self, message: str) -> str:
        """The message in this language, else in English."""
        found = self.translation(message)
        return message if found is None else found

    def ngettext(self, one: str, many: str, count: int) -> str:
        """The form that the count asks for, else the English one."""
        found = self.plural_translation(one, many, count)
        if found is None:
            return one if count == 1 else many
        return found

    def joined(self, items: Sequence[str]) -> str:
        """The items in a row, as the language does: "a, b and c"."""
        from babel.lists import format_list

        return self._typographic(format_list(list(items), locale=self._locale))

    def day(self, iso: str) -> str:
        """A date in words, or the text itself if it is not an ISO date."""
        from datetime import date

        from babel.dates import format_date

        try:
            return format_date(date.fromisoformat(iso[:10]), "long", locale=self._locale).replace(" ", NBSP)
        except ValueError:
            return iso

    def _recorded(self, sentence: str) -> str:
        """A sentence that was finished when it was recorded, by the pattern that it fits; else nothing."""
        if len(sentence) > _LONGEST_RECORDED:
            return ""
        fits = ((pattern.fullmatch(sentence), frame) for pattern, frame in self._patterns)
        return next((frame.format(**fit.groupdict()) for fit, frame in fits if fit), "")

    def _typographic(self, text: str) -> str:
        """An equation stays on one line, and Polish does not end a line on a one-letter word."""
        text = text.replace(" = ", f"{NBSP}={NBSP}")
        return _POLISH_PREPOSITION.sub(rf"\1{NBSP}", text) if self.code == "pl" else text


class _Unknown(NullTranslations):
    """What follows after a catalog: an empty answer, so that a missing translation can be told."""

    def gettext(self, message: str) -> str:  # noqa: ARG002 - gettext's signature
        return ""

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:  # noqa: ARG002 - gettext's signature
        return ""


@lru_cache(maxsize=8)
def language(code: str) -> Language:
    """The language of this code ("en", "pl").

    Raises:
        BadUsage: there is no catalog for it.
    """
    from babel import Locale

    if code == "en":
        return Language(code, Locale.parse(_LOCALE[code]), None)
    path = CATALOGS / code / "LC_MESSAGES" / "study.po"
    if not re.fullmatch(r"[a-z]{2,3}", code) or not path.is_file():
        raise BadUsage(
            f"there is no translation into {code!r}", f"Choose from: {', '.join(known_languages())}."
        )
    translations, patterns = _read(path)
    translations.add_fallback(_Unknown())
    return Language(code, Locale.parse(code), translations, patterns)


def known_languages() -> list[str]:
    """Codes of the languages that the press speaks."""
    return ["en", *sorted(path.parent.parent.name for path in CATALOGS.glob("*/LC_MESSAGES/study.po"))]


def _read(path: Path) -> tuple[GNUTranslations, list[tuple[re.Pattern[str], str]]]:
    """The catalog's messages, and its patterns for recorded sentences."""
    from io import BytesIO

    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        catalog = read_po(file)
    compiled = BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    patterns = [(_pattern(str(m.id)), str(m.string)) for m in catalog if m.context == RECORDED]
    return GNUTranslations(compiled), patterns


def _pattern(frame: str) -> re.Pattern[str]:
    """What a sentence of this frame looks like, whatever its slots hold; a slot twice is the same twice."""
    seen: set[str] = set()

    def group(slot: re.Match[str]) -> str:
        known = slot[1] in seen
        seen.add(slot[1])
        return f"(?P={slot[1]})" if known else f"(?P<{slot[1]}>.+?)"

    return re.compile(re.sub(r"\\{(\w+)\\}", group, re.escape(frame)))
