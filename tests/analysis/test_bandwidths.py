"""Bandwidths of memory and of links, from the work that the micro-workloads count."""

import msgspec
import pytest
from fakes.records import Truth, cell, fake_run

from study.analysis import analyse
from study.analysis.bandwidths import with_bandwidth
from study.analysis.traffic import bus_bandwidth
from study.domain.fact import missing_reasons


def analysed(truth):
    """The one cell of a run of this truth."""
    run, records = fake_run(truths=[truth])
    return analyse(run, records).cells[0]


def sums(devices, rate, size="25mb"):
    """A cell that sums messages on so many devices."""
    of = cell("allreduce", task="check", size=size, strategy="ddp", devices=devices, batch=devices)
    return Truth(cell=of, scaling="weak", rate=rate, unit="messages", cv=0.0)


@pytest.mark.parametrize(("devices", "factor"), [(2, 1.0), (4, 1.5)])
def test_the_bus_bandwidth_is_that_of_one_sum(devices, factor):
    """A thousand sums a second of 25 MiB are 26.2 GB/s; a ring of n carries 2 (n - 1)/n of that."""
    found = analysed(sums(devices, rate=1000.0 * devices))

    assert found.bandwidth_gb_s.value == pytest.approx(26.2144 * factor, rel=1e-6)
    assert found.bandwidth_gb_s.unit == "GB/s"
    assert found.bandwidth_gb_s.value * 1e9 == pytest.approx(
        bus_bandwidth(26_214_400, 0.001, "all_reduce", devices), rel=1e-6
    )


def test_a_copys_bandwidth_is_each_devices_own():
    """4 TB read and written a second on two devices are 2,000 GB/s on each."""
    of = cell("memcpy", task="check", size="1gb", strategy="ddp", devices=2, batch=2)

    found = analysed(Truth(cell=of, scaling="weak", rate=4e12, unit="bytes", work_per_sample=2**31, cv=0.0))

    assert found.bandwidth_gb_s.value == pytest.approx(2000, rel=1e-6)


def test_the_interval_is_that_of_the_rate():
    """Bytes are exact, so both ends scale alike."""
    found = analysed(msgspec.structs.replace(sums(2, rate=2000.0), cv=0.01))

    for end in ("low", "high"):
        assert getattr(found.bandwidth_gb_s, end) / found.bandwidth_gb_s.value == pytest.approx(
            getattr(found.rate, end) / found.rate.value
        )


def test_what_measures_no_bandwidth_has_a_reason(quick):
    """Neither a model nor a check that sleeps, nor a sum without a measured trial."""
    cells = analyse(*quick).cells
    unmeasured = msgspec.structs.replace(
        analysed(sums(2, rate=2000.0)), rate=None, bandwidth_gb_s=None, unknown={"rate": "it failed"}
    )

    (failed,) = with_bandwidth([unmeasured])

    assert {c.unknown["bandwidth_gb_s"] for c in cells} == {"The workload does not measure a bandwidth."}
    assert failed.unknown["bandwidth_gb_s"] == "No trial of this cell was measured."
    assert [missing_reasons(c, c.unknown) for c in cells] == [[]] * len(cells)
