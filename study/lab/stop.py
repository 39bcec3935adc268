"""Asking a run to stop: the first signal is a request, a second Ctrl-C is an order."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """Whether somebody asked to stop, and by what. The first request counts."""

    def __init__(self) -> None:
        self._by = ""

    @property
    def requested(self) -> bool:
        return self._by != ""

    @property
    def by(self) -> str:
        """The name of the signal, such as `SIGINT`; empty while nobody asked."""
        return self._by

    def request(self, by: str) -> None:
        self._by = self._by or by


@contextmanager
def stop_on_signals() -> Iterator[StopRequest]:
    """Turn SIGINT, SIGTERM and SIGHUP into a request while the block runs; a second SIGINT raises.

    A signal that was ignored before stays ignored, so that `nohup` keeps its meaning. The handlers
    found are put back on the way out. Works in the main thread only.

    Raises:
        KeyboardInterrupt: inside the block, at a second SIGINT.
    """
    stop = StopRequest()

    def handle(number: int, _frame: FrameType | None) -> None:
        if stop.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.request(signal.Signals(number).name)

    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        for number, handler in before.items():
            if handler != signal.SIG_IGN:
                signal.signal(number, handle)
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
