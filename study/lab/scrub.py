"""Taking out what must not be published: homes, people, hosts, addresses, secrets, terminal codes.

Everything that a machine printed and that is going to be stored passes through here once.
"""

import getpass
import os
import re
import socket
from pathlib import Path

from study.domain.fact import Fact

COMMON_USERS = frozenset({"root", "user", "admin", "ubuntu", "debian", "nobody", "python", "study", "test"})
COMMON_HOSTS = frozenset({"localhost", "localdomain", "host", "vm", "node", "gpu", "cpu"})
"""Names that name nobody; taking them out would only damage sentences."""


class Identity(Fact, frozen=True, kw_only=True):
    """Who and where we are, so that it can be taken out."""

    home: str
    user: str
    hosts: tuple[str, ...]


def identity() -> Identity:
    """This process's home folder, user name and host names. Asks no name server."""
    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as in many containers
        user = ""
    names = {host, host.split(".")[0]} - {""}
    return Identity(home=os.path.expanduser("~"), user=user, hosts=tuple(sorted(names, key=len, reverse=True)))


SECRET_NAME = r"(?:token|secret|passw(?:or)?d|passphrase|credentials?|api[_-]?key|access[_-]?key|auth)"

TERMINAL = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # operating system command: titles, links
    r"|\x1b[P^_X][^\x1b]*(?:\x1b\\)?"  # device control and other strings
    r"|\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[ -/]*[0-~]"  # the short ones
)
OVERWRITTEN = re.compile(r"[^\n]*\r(?=[^\r\n])")
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")

RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S), "<secret>"),
    (re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"), "<secret>"),
    (re.compile(r"\b(?:hf|gh[opsur]|glpat|npm|pypi|dapi)[_-][A-Za-z0-9_-]{16,}"), "<secret>"),
    (re.compile(r"\b(?:github_pat_|sk-|xox[abeoprs]-)[A-Za-z0-9_-]{16,}"), "<secret>"),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{35}"), "<secret>"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), "<secret>"),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{12,}"), r"\1 <secret>"),
    # an assignment, as in an environment, a header or a dict; short values are readings ("per token: 3.4")
    (re.compile(rf"(?i)\b([a-z0-9_]*{SECRET_NAME}[a-z0-9_]*[\"']?\s*[=:]\s*[\"']?)(?!<secret>)[^\s\"',;&]{{8,}}"), r"\1<secret>"),
    (re.compile(r"(?i)\b([a-z0-9_]*(?:passw(?:or)?d|passphrase)[\"']?\s*[=:]\s*[\"']?)(?!<secret>)[^\s\"',;&]+"), r"\1<secret>"),
    # an option with its value in the next word
    (re.compile(rf"(?i)(--?[a-z0-9-]*{SECRET_NAME}\s+)(?!-)\S+"), r"\1<secret>"),
    (re.compile(r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b"), "<e-mail>"),
    # addresses only where a program writes them as such: four numbers with dots may be a version
    (re.compile(r"\[(?!127\.)\d{1,3}(?:\.\d{1,3}){3}\]"), "[<address>]"),
    (re.compile(r"(?<![\d.])(?!127\.|0\.0\.0\.0)\d{1,3}(?:\.\d{1,3}){3}(?=:\d{2,5}\b)"), "<address>"),
    (re.compile(r"(?<![\w.])/(?:home|Users)/[^/\s:\"']+"), "~"),
    (re.compile(r"(?<![\w./])/root(?=[/\s:\"']|$)", re.M), "~"),
)  # fmt: skip


def scrub(text: str, who: Identity) -> str:
    """`text` without what identifies people, machines or accounts, and without terminal codes.

    Of a line that was overwritten by carriage returns, as progress bars do, the last state stays.
    """
    text = TERMINAL.sub("", text).replace("\r\n", "\n")
    text = CONTROL.sub("", OVERWRITTEN.sub("", text))
    if who.home not in ("", "/"):
        text = re.sub(rf"(?<![\w.]){re.escape(who.home.rstrip('/'))}(?=[/\s:\"',)\]]|$)", "~", text, flags=re.M)
    for pattern, instead in RULES:
        text = pattern.sub(instead, text)
    for host in who.hosts:
        if host.lower() not in COMMON_HOSTS:
            text = _word(host).sub("<host>", text)
    if who.user and who.user.lower() not in COMMON_USERS:
        text = _word(who.user).sub("<user>", text)
    return text


def scrub_words(words: tuple[str, ...], who: Identity) -> tuple[str, ...]:
    """A command line, word by word; an option's secret in the next word is taken out as well."""
    return tuple(scrub(" ".join(words).replace("\n", " "), who).split(" "))


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", re.IGNORECASE)


def shown_path(path: Path, who: Identity) -> str:
    """A path as it may be published."""
    return scrub(str(path), who)
