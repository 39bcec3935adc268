"""Tests of the boundary to pynvml, with a module that answers, refuses and raves like the real one."""

from types import SimpleNamespace
from typing import Any

import pytest

from study.domain.fact import require_reasons
from study.domain.machine import Device
from study.lab.nvml import Card, Cards, cards, gpus, survey, watching


class NVMLError(Exception):
    """The binding's base error: it can be neither hashed nor compared."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        raise AttributeError


class NVMLError_NotSupported(NVMLError):  # noqa: N801 - the binding's name
    """What a card says that has no such thing."""


class NVMLError_GpuIsLost(NVMLError):  # noqa: N801 - the binding's name
    """What a card says that has fallen off the bus."""


class NVMLError_LibraryNotFound(NVMLError):  # noqa: N801 - the binding's name
    """What is said where there is no driver."""


class FakeNvml:
    """A pynvml with one A6000 for each of `cards`; `answers` replaces single answers by (function, card)."""

    def __init__(self, cards: int = 1, **answers: Any) -> None:
        self.cards = cards
        self.answers = answers
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "Set" in name:
            raise AttributeError(name)

        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            answer = self.answers.get(name, DEFAULTS.get(name))
            if name == "nvmlDeviceGetCount" and answer is None:
                return self.cards
            if callable(answer):
                answer = answer(*arguments)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


DEFAULTS: dict[str, Any] = {
    "nvmlSystemGetDriverVersion": "570.86.15",
    "nvmlDeviceGetHandleByIndex": lambda index: f"handle {index}",
    "nvmlDeviceGetName": "NVIDIA RTX A6000",
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=51_527_024_640),
    "nvmlDeviceGetPowerManagementLimit": 300_000,
    "nvmlDeviceGetEnforcedPowerLimit": 250_000,
    "nvmlDeviceGetVbiosVersion": "94.02.5C.00.02",
}
A6000 = Device(
    index=0, name="NVIDIA RTX A6000", memory_bytes=51_527_024_640, power_limit_w=300.0, vbios="94.02.5C.00.02"
)


def test_cards_are_described_in_units() -> None:
    """Bytes, watts and the driver's version, in the library's order."""
    found = survey(FakeNvml(cards=2))

    assert [device.index for device in found.devices] == [0, 1]
    assert found.devices[0] == A6000
    assert (found.driver, found.reason) == ("570.86.15", "")
    assert gpus(FakeNvml()) == (A6000,)
    assert survey(FakeNvml()).driver == "570.86.15"


def test_texts_may_be_bytes() -> None:
    """Older bindings answer in bytes."""
    found = survey(FakeNvml(nvmlDeviceGetName=b"NVIDIA RTX A6000", nvmlSystemGetDriverVersion=b"470.1"))

    assert found.devices == (A6000,)
    assert found.driver == "470.1"


@pytest.mark.parametrize(
    ("function", "field"),
    [
        ("nvmlDeviceGetMemoryInfo", "memory_bytes"),
        ("nvmlDeviceGetVbiosVersion", "vbios"),
    ],
)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (NVMLError_NotSupported(), "the driver does not support it for this device"),
        (AttributeError("no such wrapper"), "the installed nvidia-ml-py is too old to ask"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), "the driver's answer is no text"),
        (NVMLError(), "the driver answered NVMLError"),
    ],
)
def test_a_field_that_cannot_be_read_is_null_with_the_reason(
    function: str, field: str, answer: Exception, reason: str
) -> None:
    """One refused question leaves the other answers alone."""
    (device,) = gpus(FakeNvml(**{function: answer}))

    assert getattr(device, field) is None
    assert device.unknown == {field: reason}
    assert device.power_limit_w == 300.0


def test_the_limit_in_force_stands_in_for_the_limit_set() -> None:
    """Laptop cards refuse the one and answer the other; refusing both is null."""
    refused = {"nvmlDeviceGetPowerManagementLimit": NVMLError_NotSupported()}
    (device,) = gpus(FakeNvml(**refused))
    (silent,) = gpus(FakeNvml(**refused, nvmlDeviceGetEnforcedPowerLimit=NVMLError_NotSupported()))

    assert device.power_limit_w == 250.0
    assert silent.power_limit_w is None
    assert "power_limit_w" in silent.unknown


def test_zero_is_not_a_limit() -> None:
    """A counter that is missing is reported as zero by some drivers; zero is not stored."""
    zero = {"nvmlDeviceGetPowerManagementLimit": 0, "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=0)}
    (device,) = gpus(FakeNvml(**zero))

    assert (device.power_limit_w, device.memory_bytes) == (None, None)
    require_reasons(device, device.unknown)


def test_a_lost_card_does_not_hide_the_others() -> None:
    """The ill card is listed with the reason, the healthy one with its facts."""

    def handle(index: int) -> object:
        return NVMLError_GpuIsLost() if index == 0 else "handle"

    lost, healthy = gpus(FakeNvml(cards=2, nvmlDeviceGetHandleByIndex=handle))

    assert lost.name == "unknown GPU"
    assert lost.unknown["memory_bytes"] == "the device has fallen off the bus"
    assert healthy.name == "NVIDIA RTX A6000"


def test_without_a_driver_there_are_no_cards_and_a_reason() -> None:
    """Nothing is asked after a failed start, and nothing is shut down that was not started."""
    nvml = FakeNvml(nvmlInit=NVMLError_LibraryNotFound())
    found = survey(nvml)

    assert found.devices == ()
    assert found.driver is None
    assert found.reason == found.unknown["driver"] == "NVIDIA's management library is not installed"
    assert nvml.calls == ["nvmlInit"]


@pytest.mark.parametrize("answers", [{}, {"nvmlDeviceGetCount": NVMLError()}, {"nvmlShutdown": NVMLError()}])
def test_what_was_started_is_shut_down(answers: dict[str, Any]) -> None:
    """One start, one end, whatever happens between; and only questions are asked."""
    nvml = FakeNvml(**answers)
    survey(nvml)

    assert nvml.calls[0] == "nvmlInit"
    assert nvml.calls[-1] == "nvmlShutdown"
    assert nvml.calls.count("nvmlShutdown") == 1
    assert all("Get" in name for name in nvml.calls[1:-1])


def test_no_card_is_said() -> None:
    """A driver without devices is no error."""
    assert survey(FakeNvml(cards=0)).reason == "the driver sees no device"


BUSY: dict[str, Any] = {
    "nvmlDeviceGetUUID": "GPU-1",
    "nvmlDeviceGetPciInfo": SimpleNamespace(busId=b"00000000:3B:00.0"),
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=100, used=7),
    "nvmlDeviceGetComputeRunningProcesses": [SimpleNamespace(pid=11, usedGpuMemory=None)],
    "nvmlDeviceGetGraphicsRunningProcesses": [],
}


def test_what_is_on_a_card_now() -> None:
    """Memory in use and processes, and the bus id as the kernel writes it; one session for many looks."""
    nvml = FakeNvml(**BUSY)
    with watching(nvml) as look:
        look()
        (found,) = look().cards

    assert found == Card(
        uuid="GPU-1",
        bus_id="0000:3b:00.0",
        memory_used_bytes=7,
        compute=frozenset({11}),
        graphics=frozenset(),
    )
    assert nvml.calls.count("nvmlInit") == nvml.calls.count("nvmlShutdown") == 1


@pytest.mark.parametrize(
    ("function", "field"),
    [
        ("nvmlDeviceGetUUID", "uuid"),
        ("nvmlDeviceGetPciInfo", "bus_id"),
        ("nvmlDeviceGetMemoryInfo", "memory_used_bytes"),
        ("nvmlDeviceGetComputeRunningProcesses", "compute"),
        ("nvmlDeviceGetGraphicsRunningProcesses", "graphics"),
    ],
)
def test_a_look_that_is_refused_is_null_with_the_reason(function: str, field: str) -> None:
    """One refused question leaves the other answers alone."""
    (found,) = cards(FakeNvml(**{**BUSY, function: NVMLError_NotSupported()})).cards

    assert found.unknown == {field: "the driver does not support it for this device"}
    assert getattr(found, field) is None


def test_a_driver_that_goes_away_leaves_nulls() -> None:
    """The first look sees the card, the second one that it is lost, the third nothing; nothing is raised."""
    answers = iter(["handle", NVMLError_GpuIsLost(), NVMLError()])
    counts = iter([1, 1, NVMLError()])
    nvml = FakeNvml(
        **BUSY,
        nvmlDeviceGetHandleByIndex=lambda _: next(answers),
        nvmlDeviceGetCount=lambda: next(counts),
        nvmlShutdown=NVMLError(),
    )

    with watching(nvml) as look:
        first, second, third = look(), look(), look()

    assert first.cards[0].memory_used_bytes == 7
    assert set(second.cards[0].unknown.values()) == {"the device has fallen off the bus"}
    assert (third.cards, third.reason) == ((), "the driver answered NVMLError")


def test_without_a_driver_every_look_says_why() -> None:
    """And nothing is shut down that was not started."""
    nvml = FakeNvml(nvmlInit=NVMLError_LibraryNotFound())

    assert cards(nvml) == Cards(cards=(), reason="NVIDIA's management library is not installed")
    assert cards(FakeNvml(cards=0)).reason == "the driver sees no device"
    assert nvml.calls == ["nvmlInit"]
