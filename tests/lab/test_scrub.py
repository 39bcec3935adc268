"""Tests of taking out what must not be published: each row is something that a log once held."""

import pytest

from study.lab.scrub import Identity, identity, scrub, scrub_words

WHO = Identity(
    home="/home/marie",
    user="marie",
    hosts=("lab7.physics.example", "lab7"),
    folders=("/opt/venv", "/srv/checkout"),
)

ROOT_HOME = "/" + "root"

REMOVED = [
    # homes, people, hosts
    ('File "/home/marie/lab/a.py", line 3', 'File "~/lab/a.py", line 3'),
    ("cache in /home/marie", "cache in ~"),
    ("/home/pierre/.cache/torch", "~/.cache/torch"),
    ("/Users/pierre/x", "~/x"),
    (f"open {ROOT_HOME}/.netrc failed", "open ~/.netrc failed"),
    ("user marie may not", "user <user> may not"),
    ("/data/marie/set", "/data/<user>/set"),
    ("connected to lab7.physics.example port 1", "connected to <host> port 1"),
    ("LAB7: ready", "<host>: ready"),
    # where the code lies
    (
        'File "/opt/venv/lib/python3.11/site-packages/torch/x.py"',
        'File "lib/python3.11/site-packages/torch/x.py"',
    ),
    ('File "/srv/checkout/study/worker/ranks.py"', 'File "study/worker/ranks.py"'),
    ("/scratch/study-ab12/attempt-9z/store: gone", "store: gone"),
    # secrets
    ("HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz", "HF_TOKEN=<secret>"),
    ("using hf_abcdefghijklmnopqrstuvwxyz now", "using <secret> now"),
    ("ghp_0123456789abcdefghij0123456789abcdef", "<secret>"),
    ("AKIAIOSFODNN7EXAMPLE", "<secret>"),
    ("AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI/K7MDENG", "AWS_SECRET_ACCESS_KEY: <secret>"),
    ('{"api_key": "0123456789abcdef"}', '{"api_key": "<secret>"}'),
    ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer <secret>"),
    ("password=abc", "password=<secret>"),
    ("https://marie:geheim@example.org/x", "https://<secret>@example.org/x"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc", "<secret>"),
    ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nafter", "<secret>\nafter"),
    ("-----BEGIN PRIVATE KEY-----\nabc", "<secret>"),
    # addresses
    ("mail marie.curie@physics.example.org", "mail <e-mail>"),
    ("closed by peer [10.77.0.2]:43210", "closed by peer [<address>]:43210"),
    ("tcp://192.168.1.4:29500", "tcp://<address>:29500"),
    # terminal
    ("\x1b[1;31mred\x1b[0m\x1b]0;title\x07!", "red!"),
    ("bell\x07 null\x00 \u202ereversed", "bell null reversed"),
    (" 10%\r 50%\r100%\ndone\r\n", "100%\ndone\n"),
]

KEPT = [
    "the root cause",
    "tokens: 1234",
    "tokens=16777216",
    "mean time per token: 3.4 ms",
    "tokenizer: GPT2Tokenizer",
    "cuDNN 8.9.2.26 and driver 535.183.01",
    "closed by peer [127.0.0.1]:43210",
    "commit 8f79f38a1b2c3d4e5f60718293a4b5c6d7e8f901",
    "a @ b, x.matmul@y",
    "mariella and lab77",
    "two\tcolumns\nand a line",
]


@pytest.mark.parametrize(("printed", "stored"), REMOVED)
def test_what_identifies_is_taken_out(printed: str, stored: str) -> None:
    """Homes, names, hosts, places, secrets, addresses and terminal codes do not get into the archive."""
    assert scrub(printed, WHO) == stored


@pytest.mark.parametrize("printed", KEPT)
def test_what_identifies_nobody_stays(printed: str) -> None:
    """A number, a version, a commit or a common word is not mistaken for a secret."""
    assert scrub(printed, WHO) == printed


@pytest.mark.parametrize(("printed", "_"), REMOVED)
def test_scrubbing_twice_changes_nothing(printed: str, _: str) -> None:
    """What was scrubbed holds nothing more to take out."""
    once = scrub(printed, WHO)

    assert scrub(once, WHO) == once


@pytest.mark.parametrize(("host", "user"), [("vm", "root"), ("localhost", "ubuntu")])
def test_names_that_name_nobody_stay(host: str, user: str) -> None:
    """Sentences are not damaged for a host called vm or a user called root."""
    who = Identity(home="/root", user=user, hosts=(host,))

    assert scrub(f"the {user} of the {host} is common", who) == f"the {user} of the {host} is common"


def test_a_command_line_keeps_its_words() -> None:
    """The secret in the word after its option is taken out; the words stay apart."""
    argv = ("/opt/venv/bin/study", "run", "--hub-token", "abc", "my study.toml", "--password=x")

    assert scrub_words(argv, WHO) == (
        "bin/study", "run", "--hub-token", "<secret>", "my study.toml", "--password=<secret>",
    )  # fmt: skip


def test_our_own_identity_takes_out_our_own_paths() -> None:
    """The checkout that this runs from is not named in what is stored."""
    assert scrub(f'File "{__file__}"', identity()).endswith('"tests/lab/test_scrub.py"')


def test_an_endless_line_is_cut() -> None:
    """A line without breaks would take time with the square of its length, and tells nobody anything."""
    found = scrub("a-" * 50_000 + "\nthe next line", WHO)

    assert found.endswith("…\nthe next line")
    assert len(found) < 2100
