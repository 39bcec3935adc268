"""What of the accelerator `cuda` can be tested on any machine: switches, precisions, absence."""

from contextlib import nullcontext

import pytest
import torch

from study.domain.fact import missing_reasons
from study.worker.accelerators import cuda


def test_switches_are_told_by_their_newer_names():
    """Every rounding switch of CUDA can be read, with or without a GPU, and none is null."""
    numerics = cuda.numerics()

    assert missing_reasons(numerics, {}) == []
    assert numerics.reduced_precision_accumulation is False
    assert numerics.deterministic is False


@pytest.mark.filterwarnings("ignore:.*CUDA is not available")
@pytest.mark.parametrize(("precision", "dtype"), [("bf16", torch.bfloat16), ("fp16", torch.float16)])
def test_half_precisions_are_autocast(precision, dtype):
    """bf16 and fp16 run under autocast of their type; fp32 and tf32 do not."""
    assert cuda.autocast(precision).fast_dtype == dtype
    assert isinstance(cuda.autocast("fp32"), nullcontext)
    assert isinstance(cuda.autocast("tf32"), nullcontext)


class FakeEvent:
    """An event at a known millisecond."""

    def __init__(self, at_ms: float) -> None:
        """When the device passed it."""
        self.at_ms = at_ms

    def elapsed_time(self, later: "FakeEvent") -> float:
        return later.at_ms - self.at_ms


def test_time_between_events_is_in_nanoseconds():
    """Events tell milliseconds, from the earlier to the later; marks tell nanoseconds."""
    assert cuda.elapsed_ns(FakeEvent(2.0), FakeEvent(3.25)) == 1_250_000


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_there_is_no_device():
    """A machine without a GPU has none, which is no error."""
    assert cuda.visible_devices() == ()


def test_temperature_and_events_come_from_torch(monkeypatch):
    """Degrees as a float; the allocator's statistics by their own names."""
    monkeypatch.setattr(torch.cuda, "temperature", lambda: 61)
    monkeypatch.setattr(torch.cuda, "memory_stats", lambda: {"segment.all.allocated": 4})

    assert cuda.temperature_c() == (61.0, "")
    assert cuda.events(None) == {"memory growth": 4, "memory retry": 0}


def test_a_card_that_does_not_tell_has_no_temperature(monkeypatch):
    """Without the management library, without permission, or lost: the class of the error is the reason."""

    def lost():
        raise ModuleNotFoundError("pynvml")

    monkeypatch.setattr(torch.cuda, "temperature", lost)

    found, why = cuda.temperature_c()

    assert found is None
    assert why == "the management library does not tell the temperature (ModuleNotFoundError)"
