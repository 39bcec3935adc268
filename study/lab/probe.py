"""Asking the worker what it can see: torch's versions and the devices that work, in a process of its own.

The lab itself never imports torch, and a process that has touched CUDA must not be forked from.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from study.domain.errors import NotReady
from study.domain.machine import WorkerFacts
from study.lab.environment import allowed
from study.lab.logs import cut
from study.lab.processes import Family, send
from study.lab.scrub import identity, scrub

ENTRY = "study.worker.probe:describe"
LIMIT_S = 180.0

INSTALL = (
    "Install PyTorch 2.9 or newer for this Python (see pytorch.org for the build that fits your devices)."
)

CHILD = """
import json, sys
entry, answer, sys.path[:] = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
import importlib, pathlib
module, _, function = entry.partition(":")
pathlib.Path(answer).write_bytes(getattr(importlib.import_module(module), function)())
"""


def worker_facts(
    *, entry: str = ENTRY, sys_path: Sequence[str] = (), limit_s: float = LIMIT_S
) -> WorkerFacts:
    """What the worker says of itself.

    Raises:
        NotReady: torch cannot be imported, the probe failed, or it did not end within `limit_s`.
    """
    paths = [*sys_path, *(path or str(Path.cwd()) for path in sys.path)]
    with tempfile.TemporaryDirectory(prefix="study-") as folder:
        answer = Path(folder) / "answer"
        said = _run(
            [sys.executable, "-P", "-c", CHILD, entry, str(answer), json.dumps(paths)], folder, limit_s
        )
        try:
            return msgspec.json.decode(answer.read_bytes(), type=WorkerFacts)
        except FileNotFoundError:
            raise NotReady(f"PyTorch cannot be used here: {_last_line(said)}.", INSTALL) from None
        except msgspec.DecodeError as error:
            raise NotReady(
                f"The worker's answer about torch cannot be read: {error}.",
                "Reinstall study: its parts differ.",
            ) from error


def _run(command: list[str], folder: str, limit_s: float) -> str:
    """Run to the end and give what it printed; nothing that it started outlives the call."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=folder,
        env=allowed(os.environ),
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        return process.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        raise NotReady(
            f"Looking for torch and its devices did not end within {limit_s:.0f} s.",
            "A device may hang: try `python -c 'import torch; torch.cuda.is_available()'` and look at dmesg.",
        ) from None
    finally:
        send(Family().present([process.pid]), signal.SIGKILL)
        process.communicate()


def _last_line(said: str) -> str:
    lines = [line.strip() for line in scrub(said, identity()).splitlines() if line.strip()]
    return cut(lines[-1], 300).rstrip(".") if lines else "the probe ended without a word"
