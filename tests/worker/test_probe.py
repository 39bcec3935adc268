"""What the probe tells of torch and the devices here."""

import subprocess
import sys

import msgspec
import pytest

from study.domain.fact import missing_reasons
from study.domain.machine import WorkerFacts


@pytest.mark.torch
def test_probe_tells_versions_and_devices():
    """A child process tells torch's version, every device of the CPU, and why anything is missing."""
    code = "import sys; from study.worker.probe import describe; sys.stdout.buffer.write(describe())"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    facts = msgspec.json.decode(done.stdout, type=WorkerFacts)

    import torch

    assert facts.torch == torch.__version__
    assert len(facts.devices["cpu"]) >= 1
    assert ("cuda" in facts.devices) == torch.cuda.is_available()
    assert missing_reasons(facts, facts.unknown) == []
