"""Tests of asking a run to stop."""

import os
import signal

import pytest

from study.lab.stop import StopRequest, stop_on_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_a_request(number: signal.Signals) -> None:
    """The first signal ends nothing by itself; it says that the run should stop, and by what."""
    with stop_on_signals() as stop:
        assert not stop.requested
        os.kill(os.getpid(), number)

        assert stop.requested
        assert stop.by == number.name


def test_a_second_interrupt_is_an_order() -> None:
    """Ctrl-C after another request raises at once."""
    with stop_on_signals():
        os.kill(os.getpid(), signal.SIGTERM)

        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_the_first_request_counts() -> None:
    """Who asked first is who stopped the run."""
    stop = StopRequest()
    stop.request("SIGTERM")
    stop.request("SIGHUP")

    assert stop.by == "SIGTERM"


def test_the_handlers_found_are_put_back() -> None:
    """After the block, signals do what they did before; an ignored SIGHUP was ignored all along."""
    ours = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    before = signal.getsignal(signal.SIGINT)
    try:
        with stop_on_signals() as stop:
            os.kill(os.getpid(), signal.SIGHUP)

            assert signal.getsignal(signal.SIGINT) != before
            assert not stop.requested
        assert signal.getsignal(signal.SIGINT) == before
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, ours)
