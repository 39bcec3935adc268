"""The CPU as an accelerator: its peak of memory is a real one, its switches are told."""

import mmap
from types import SimpleNamespace

import pytest

from study.domain.fact import missing_reasons
from study.worker.accelerators import cpu


def touch(size: int) -> None:
    """Hold so many bytes of real memory for a moment."""
    with mmap.mmap(-1, size) as pages:
        for at in range(0, size, mmap.PAGESIZE):
            pages[at] = 1


def test_peak_memory_holds_what_was_freed_and_forgets_it_at_a_reset():
    """A peak outlives the memory that made it, until a new peak is begun."""
    size = 200 << 20
    assert cpu.reset_peak_memory() == ""
    before = cpu.peak_memory_bytes()

    touch(size)
    peak = cpu.peak_memory_bytes()
    assert cpu.reset_peak_memory() == ""
    after = cpu.peak_memory_bytes()

    assert peak - before >= 0.95 * size
    assert after - before <= 0.2 * size


def test_peak_that_cannot_be_reset_has_a_reason(tmp_path, monkeypatch):
    """Where the kernel refuses, the reason is a sentence and no exception."""
    monkeypatch.setattr(cpu, "CLEAR_REFS", tmp_path / "missing" / "clear_refs")

    assert cpu.reset_peak_memory() == (
        "the peak of resident memory cannot be reset here (No such file or directory)"
    )


def test_switches_of_cuda_are_null_with_their_reason():
    """A CPU has no TF32 switch, which is not the same as one that is off."""
    numerics = cpu.numerics()

    assert numerics.matmul_tf32 is None
    assert missing_reasons(numerics, numerics.unknown) == []


def test_marks_are_nanoseconds_of_the_hosts_clock():
    """Two marks in a row are in order, and their difference is what elapsed."""
    a, b = cpu.mark(), cpu.mark()

    assert cpu.elapsed_ns(a, b) == b - a >= 0


@pytest.mark.parametrize(
    ("chips", "degrees"),
    [
        ({"coretemp": [61.0, 64.0], "nvme": [90.0]}, 64.0),
        ({"k10temp": [55.5]}, 55.5),
        ({"coretemp": [0.0]}, None),
        ({"acpitz": [27.8]}, None),
        ({}, None),
    ],
)
def test_the_temperature_is_that_of_the_hottest_core(monkeypatch, chips, degrees):
    """A disk's sensor is none of the processor's, and zero is no temperature."""
    shown = {name: [SimpleNamespace(current=each) for each in all_of] for name, all_of in chips.items()}
    monkeypatch.setattr("psutil.sensors_temperatures", lambda: shown, raising=False)

    found, why = cpu.temperature_c()

    assert found == degrees
    assert why == ("" if degrees else "the system shows no sensor of the processor")


def test_a_system_without_sensors_says_so(monkeypatch):
    """As on macOS, where psutil has no such function."""
    monkeypatch.delattr("psutil.sensors_temperatures", raising=False)

    assert cpu.temperature_c() == (None, "the sensors of this system cannot be read (AttributeError)")
