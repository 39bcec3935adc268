"""The one boundary to NVIDIA's management library (pynvml): what cards there are, and what is on them now.

It sets nothing.

Any call may be unsupported, absent from the driver or from the binding, or answer with rubbish; each
field stands alone, and one ill card does not hide the others. Beyond this file there are only facts.
"""

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from study.domain.fact import Fact
from study.domain.machine import Device

SAID = {
    "NVMLError_NotSupported": "the driver does not support it for this device",
    "NVMLError_FunctionNotFound": "the driver is too old to tell",
    "NVMLError_NoPermission": "the driver allows it to an administrator only",
    "NVMLError_LibraryNotFound": "NVIDIA's management library is not installed",
    "NVMLError_DriverNotLoaded": "NVIDIA's driver is not loaded",
    "NVMLError_LibRmVersionMismatch": "driver and library differ in version; restart the machine",
    "NVMLLibraryMismatchError": "the driver's library is too old for the binding",
    "NVMLError_GpuIsLost": "the device has fallen off the bus",
    "NVMLError_ResetRequired": "the device needs a reset",
    "AttributeError": "the installed nvidia-ml-py is too old to ask",
    "UnicodeDecodeError": "the driver's answer is no text",
}


class Survey(Fact, frozen=True, kw_only=True):
    """The cards and the driver's version; `reason` says why there are no cards."""

    devices: tuple[Device, ...]
    driver: str | None
    reason: str
    unknown: dict[str, str] = {}


class Card(Fact, frozen=True, kw_only=True):
    """One card at one moment. Never stored: process ids and serial numbers are nobody's business.

    `compute` and `graphics` are the ids of the processes with a context on it. `bus_id` is written as the
    kernel writes it.
    """

    uuid: str | None
    bus_id: str | None
    memory_used_bytes: int | None
    compute: frozenset[int] | None
    graphics: frozenset[int] | None
    unknown: dict[str, str] = {}


class Cards(Fact, frozen=True, kw_only=True):
    """All cards at one moment, in the library's order; `reason` says why there are none."""

    cards: tuple[Card, ...]
    reason: str = ""


@contextlib.contextmanager
def watching(nvml: Any = None) -> Iterator[Callable[[], Cards]]:
    """A function that looks at the cards, from one session of the library.

    It never raises: a driver that goes away meanwhile leaves nulls with the reason.
    """
    why = ""
    if nvml is None:
        nvml, why = _binding()
    if not why:
        _, why = _ask(nvml, "nvmlInit")
    try:
        yield lambda: Cards(cards=(), reason=why) if why else _cards(nvml)
    finally:
        if not why:
            _ask(nvml, "nvmlShutdown")


def cards(nvml: Any = None) -> Cards:
    """One look at the cards."""
    with watching(nvml) as look:
        return look()


def _cards(nvml: Any) -> Cards:
    count, why = _ask(nvml, "nvmlDeviceGetCount")
    found = tuple(_card(nvml, index) for index in range(count or 0))
    return Cards(cards=found, reason=why or ("" if found else "the driver sees no device"))


def _card(nvml: Any, index: int) -> Card:
    handle, lost = _ask(nvml, "nvmlDeviceGetHandleByIndex", index)
    asks: dict[str, Callable[[], tuple[Any, str]]] = {
        "uuid": lambda: _text(nvml, "nvmlDeviceGetUUID", handle),
        "bus_id": lambda: _bus_id(nvml, handle),
        "memory_used_bytes": lambda: _used(nvml, handle),
        "compute": lambda: _processes(nvml, "nvmlDeviceGetComputeRunningProcesses", handle),
        "graphics": lambda: _processes(nvml, "nvmlDeviceGetGraphicsRunningProcesses", handle),
    }
    answers = {name: (None, lost) if lost else ask() for name, ask in asks.items()}
    return Card(
        **{name: value for name, (value, _) in answers.items()},
        unknown={name: why for name, (_, why) in answers.items() if why},
    )


def _bus_id(nvml: Any, handle: Any) -> tuple[str | None, str]:
    """The library writes 00000000:3B:00.0 where the kernel writes 0000:3b:00.0."""
    info, why = _ask(nvml, "nvmlDeviceGetPciInfo", handle)
    if why:
        return None, why
    text = info.busId.decode("ascii", errors="replace") if isinstance(info.busId, bytes) else str(info.busId)
    domain, _, rest = text.lower().partition(":")
    return f"{domain[-4:]}:{rest}", ""


def _used(nvml: Any, handle: Any) -> tuple[int | None, str]:
    info, why = _ask(nvml, "nvmlDeviceGetMemoryInfo", handle)
    return (None, why) if why else (int(info.used), "")


def _processes(nvml: Any, function: str, handle: Any) -> tuple[frozenset[int] | None, str]:
    listed, why = _ask(nvml, function, handle)
    return (None, why) if why else (frozenset(int(process.pid) for process in listed), "")


def gpus(nvml: Any = None) -> tuple[Device, ...]:
    """NVIDIA's cards in the order of the management library; empty where there are none or no driver."""
    return survey(nvml).devices


def survey(nvml: Any = None) -> Survey:
    """All that is asked, in one session of the library. `nvml` stands in for pynvml in tests."""
    if nvml is None:
        nvml, why = _binding()
        if nvml is None:
            return _nothing(why)
    try:
        nvml.nvmlInit()
    except Exception as error:  # the family of errors differs between versions of the binding
        return _nothing(_reason(error))
    try:
        driver, why = _text(nvml, "nvmlSystemGetDriverVersion")
        count, why_none = _ask(nvml, "nvmlDeviceGetCount")
        devices = tuple(_device(nvml, index) for index in range(count or 0))
        return Survey(
            devices=devices,
            driver=driver,
            reason=why_none or ("" if devices else "the driver sees no device"),
            unknown={"driver": why} if why else {},
        )
    finally:
        with contextlib.suppress(Exception):
            nvml.nvmlShutdown()


def _binding() -> tuple[ModuleType | None, str]:
    try:
        import pynvml
    except Exception as error:  # also a warning that the caller turned into an error
        return None, f"nvidia-ml-py cannot be imported: {error}"
    if not hasattr(pynvml, "_nvmlGetFunctionPointer"):
        return None, "an old distribution named `pynvml` hides nvidia-ml-py; uninstall it"
    return pynvml, ""


def _nothing(why: str) -> Survey:
    return Survey(devices=(), driver=None, reason=why, unknown={"driver": why})


def _device(nvml: Any, index: int) -> Device:
    handle, lost = _ask(nvml, "nvmlDeviceGetHandleByIndex", index)
    fields: dict[str, Any] = {"memory_bytes": None, "power_limit_w": None, "vbios": None}
    if lost:
        return Device(index=index, name="unknown GPU", **fields, unknown=dict.fromkeys(fields, lost))
    unknown = {}
    asks: dict[str, Callable[[], tuple[Any, str]]] = {
        "memory_bytes": lambda: _memory(nvml, handle),
        "power_limit_w": lambda: _power_limit(nvml, handle),
        "vbios": lambda: _text(nvml, "nvmlDeviceGetVbiosVersion", handle),
    }
    for name, ask in asks.items():
        fields[name], why = ask()
        if why:
            unknown[name] = why
    called, _ = _text(nvml, "nvmlDeviceGetName", handle)
    return Device(index=index, name=called or "unknown GPU", **fields, unknown=unknown)


def _memory(nvml: Any, handle: Any) -> tuple[int | None, str]:
    info, why = _ask(nvml, "nvmlDeviceGetMemoryInfo", handle)
    if why:
        return None, why
    return (int(info.total), "") if info.total else (None, "the driver says zero")


def _power_limit(nvml: Any, handle: Any) -> tuple[float | None, str]:
    """The limit that is set, or where that cannot be asked, the one in force (nvidia_oc pull request 22)."""
    limit_mw, why = _ask(nvml, "nvmlDeviceGetPowerManagementLimit", handle)
    if why:
        limit_mw, _ = _ask(nvml, "nvmlDeviceGetEnforcedPowerLimit", handle)
    if limit_mw is None:
        return None, why
    return (limit_mw / 1000, "") if limit_mw else (None, "the driver says zero")


def _text(nvml: Any, function: str, *arguments: Any) -> tuple[str | None, str]:
    """A text, which older bindings give as bytes."""
    value, why = _ask(nvml, function, *arguments)
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    if why:
        return None, why
    return (value, "") if value else (None, "the driver says nothing")


def _ask(nvml: Any, function: str, *arguments: Any) -> tuple[Any, str]:
    """The answer and an empty string, or nothing and the reason."""
    try:
        return getattr(nvml, function)(*arguments), ""
    except Exception as error:  # the family of errors differs between versions of the binding
        return None, _reason(error)


def _reason(error: Exception) -> str:
    name = type(error).__name__
    return SAID.get(name, f"the driver answered {name}")
