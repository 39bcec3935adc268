"""What may become a file's name or an anchor: few characters, no way up, nothing that Windows reserves."""

import re

from study.domain.errors import BadInput

_SLUG = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_LONGEST = 120
_TAKEN = frozenset({"main", "contents", "findings", "top"})


def checked_key(key: str) -> str:
    """The key, if it can be an anchor and a file's name.

    Raises:
        BadInput: it cannot.
    """
    if not _SLUG.fullmatch(key) or len(key) > _LONGEST or _RESERVED.fullmatch(key) or key in _TAKEN:
        raise BadInput(
            f"not a usable key: {key[:60]!r}", "Use lower-case letters and digits, joined by hyphens."
        )
    return key


def checked_slugs(path: str) -> str:
    """The path of an article, if each of its parts is a slug.

    Raises:
        BadInput: it is not.
    """
    for part in path.split("/"):
        if not _SLUG.fullmatch(part) or len(part) > _LONGEST or _RESERVED.fullmatch(part):
            raise BadInput(
                f"not a usable path for an article: {path[:120]!r}",
                "Each part has lower-case letters and digits, joined by hyphens, and at most 120 of them.",
            )
    return path


def checked_file(name: str) -> str:
    """The name of a data file, with folders if need be, if it stays inside its folder.

    Raises:
        BadInput: it does not, or it has characters that some file system or URL does not bear.
    """
    for part in name.split("/"):
        if not _FILE.fullmatch(part) or len(part) > 200 or part.endswith(".") or _RESERVED.fullmatch(part):
            raise BadInput(
                f"not a usable name for a data file: {name[:120]!r}",
                "Use letters, digits, dots, hyphens and underscores, and no leading dot.",
            )
    return name
