"""Taking out what must not be published: homes, people, hosts, addresses, secrets, terminal codes.

Everything that a machine printed and that is going to be stored passes through here once.
"""

import getpass
import re
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

from study.domain.fact import Fact

COMMON_USERS = frozenset({"root", "user", "admin", "ubuntu", "debian", "nobody", "python", "study", "test"})
COMMON_HOSTS = frozenset({"localhost", "localdomain", "host", "vm", "node", "gpu", "cpu"})
"""Names that name nobody; taking them out would only damage sentences."""


class Identity(Fact, frozen=True, kw_only=True):
    """Who and where we are, so that it can be taken out.

    Of a path below one of `folders`, the part that follows is enough to find the file.
    """

    home: str
    user: str
    hosts: tuple[str, ...]
    folders: tuple[str, ...] = ()


def identity() -> Identity:
    """This process's home folder, user name, host names and folders. Asks no name server."""
    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as in many containers
        user = ""
    package = Path(__file__).resolve().parents[2]
    folders = {str(package), str(Path.cwd()), sys.prefix, sys.base_prefix} - {"/", "/usr"}
    return Identity(
        home=str(Path.home()),
        user=user,
        hosts=_longest_first({host, host.split(".")[0]} - {""}),
        folders=_longest_first(folders),
    )


def _longest_first(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names, key=lambda name: (-len(name), name)))


KEYWORD = (
    r"[a-z0-9_]*(?:token|secret|passphrase|credential|api[_-]?key|access[_-]?key|auth(?:orization)?)"
    r"s?(?:_[a-z0-9_]*)?"
)
PASSWORD = r"[a-z0-9_]*passw(?:or)?d[a-z0-9_]*"  # noqa: S105 - a pattern
NUMBER = r"[\d.]+(?![\w-])"
ASSIGNED = r"[\"']?\s*[=:]\s*[\"']?"

TERMINAL = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system command: titles, links
    r"|\x1b[P^_X][^\x1b]*(?:\x1b\\)?"  # device control and other strings
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[ -/]*[0-~]"  # the short ones
)
TOO_LONG = re.compile(r"([^\n]{2000})[^\n]+")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")

RULES: tuple[tuple[str, str], ...] = (
    (r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", "<secret>"),
    (r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)", "<secret>"),
    # keys that carry their maker's mark
    (r"\b(?:hf|gh[opsur]|glpat|npm|pypi|dapi)[_-][A-Za-z0-9_-]{16,}", "<secret>"),
    (r"\b(?:github_pat_|sk-|xox[abeoprs]-)[A-Za-z0-9_-]{16,}", "<secret>"),
    (r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}", "<secret>"),
    (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", "<secret>"),
    (r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}", r"\1 <secret>"),
    # assignments, as in an environment, a header or a dict; short values are readings ("per token: 3.4")
    (
        rf"(?i)\b({KEYWORD}{ASSIGNED})(?!<secret>|bearer\b|basic\b|{NUMBER})[^\s\"',;&]{{8,}}",
        r"\1<secret>",
    ),
    (rf"(?i)\b({PASSWORD}{ASSIGNED})(?!<secret>)[^\s\"',;&]+", r"\1<secret>"),
    # an option with its value in the next word
    (rf"(?i)(--?(?:[a-z0-9]{{1,40}}-){{0,6}}(?:{KEYWORD}|{PASSWORD})\s+)(?![-<])\S+", r"\1<secret>"),
    (r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b", "<e-mail>"),
    # addresses only where a program writes them as such: four numbers with dots may be a version
    (r"\[(?!127\.)\d{1,3}(?:\.\d{1,3}){3}\]", "[<address>]"),
    (r"(?<![\d.])(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}(?=:\d{2,5}\b)", "<address>"),
    (r"(?<![\w.])/[^\s\"']*/study-[^/\s\"']+/attempt-[^/\s\"']+/", ""),  # where an attempt's files were
    (r"(?<![\w.])/(?:home|Users)/[^/\s:\"']+", "~"),
    (r"(?m)(?<![\w./])/root(?=[/\s:\"']|$)", "~"),
)


def scrub(text: str, who: Identity) -> str:
    """`text` without what identifies people, machines or accounts, and without terminal codes.

    Of a line that was overwritten by carriage returns, as progress bars do, the last state stays.
    """
    text = TERMINAL.sub("", text).replace("\r\n", "\n")
    text = CONTROL.sub("", "\n".join(_last_state(line) for line in text.split("\n")))
    # some patterns take time with the square of a line's length; nobody reads lines that long
    text = TOO_LONG.sub(r"\1…", text)
    for folder in who.folders:
        text = re.sub(rf"(?<![\w./]){re.escape(folder)}/", "", text)
    if who.home not in ("", "/"):
        home = re.escape(who.home.rstrip("/"))
        text = re.sub(rf"(?m)(?<![\w.]){home}(?=[/\s:\"',)\]]|$)", "~", text)
    for pattern, instead in RULES:
        text = re.sub(pattern, instead, text)
    for host in who.hosts:
        if host.lower() not in COMMON_HOSTS:
            text = _word(host).sub("<host>", text)
    if who.user and who.user.lower() not in COMMON_USERS:
        text = _word(who.user).sub("<user>", text)
    return text


def _last_state(line: str) -> str:
    """What a terminal shows of a line in the end: the part behind the last return that anything follows."""
    return line.rstrip("\r").rpartition("\r")[2]


def scrub_words(words: tuple[str, ...], who: Identity) -> tuple[str, ...]:
    """A command line, word by word; an option's secret in the next word is taken out as well."""
    return tuple(scrub("\n".join(word.replace("\n", " ") for word in words), who).split("\n"))


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", re.IGNORECASE)
