"""The time limit of a whole command: since the start of its process, on computers of any speed."""

from __future__ import annotations

import signal
import sys
import time

import pytest
from tests import children

from glasshouse.cli import clock
from glasshouse.cli.termination import Termination, is_interruption
from glasshouse.compiled import is_ctrl_c
from glasshouse.stopping import TimeIsOverError, compiling, handle_waiting, working_time


@pytest.fixture(autouse=True)
def begun(monkeypatch):
    """A command that began just now, on an idle computer."""
    monkeypatch.setattr(clock, "_worked", lambda: (1.0, 0.0))
    clock.start()
    yield
    clock.start()


def test_a_search_gets_what_the_start_has_left(monkeypatch):
    assert clock.seconds_left(None) is None
    left = clock.seconds_left(100.0)
    assert 90.0 < left < 100.0
    clock.start(process=True)  # one second ago
    assert clock.seconds_left(100.0) < left
    monkeypatch.setattr(clock, "_worked", lambda: (1.0, 98.0))
    clock.start(process=True)
    assert clock.seconds_left(100.0) == 10.0  # a tenth in any case


def test_a_slow_computer_needs_more_time_to_end(monkeypatch):
    left = clock.seconds_left(100.0)
    monkeypatch.setattr(clock, "_worked", lambda: (1.0, 9.0))
    assert clock.seconds_left(100.0) <= left - 9 * clock._FAREWELL


def test_compilation_ends_before_the_search(monkeypatch):
    monkeypatch.setattr(clock, "_worked", lambda: (1.0, 99.0))  # 100 times slower
    with clock.search(100.0) as left, compiling():
        assert left > 0
        before = working_time()
        with pytest.raises(TimeIsOverError):
            handle_waiting()  # the next step of LLVM could take longer than what is left
        assert working_time() > before
    with clock.search(None) as left:
        assert left is None


@pytest.mark.skipif(sys.platform != "linux", reason="Linux counts the time in which others run")
def test_the_start_of_the_process_counts():
    """The same for a process that waited before it began to work."""
    script = (
        "import time; from glasshouse.cli import clock; time.sleep(1.0)\n"
        "begun, ran = time.process_time(), clock._worked()\n"
        "clock.start(process=True)\n"
        "print(0 < begun <= time.monotonic() - clock._began, sum(ran) < 1e6, ran[0] > 0)"
    )
    assert children.run([sys.executable, "-c", script]).stdout == "True True True\n"


def test_where_nothing_is_counted_processor_time_is(monkeypatch):
    monkeypatch.undo()

    def refuse(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", refuse)
    ran, waited = clock._worked()
    assert 0 < ran <= time.process_time()
    assert waited == 0.0


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no timer sends signals here")
def test_time_that_is_over_is_raised_until_the_command_has_finished(monkeypatch):
    """A KeyboardInterrupt would let a search make its certificate, however long that takes."""
    monkeypatch.setattr("glasshouse.cli.termination._SAME_SECONDS", 0.0)
    with Termination() as termination:
        termination.begin()
        clock.end_in_time(3600.0)
        assert 3500.0 < signal.getitimer(signal.ITIMER_REAL)[0] < 3600.0
        assert signal.getitimer(signal.ITIMER_REAL)[1] > 0.0
        for _ in range(3):
            with pytest.raises(TimeIsOverError) as stop:
                signal.raise_signal(signal.SIGALRM)
            assert is_interruption(stop.value)
            assert not is_ctrl_c(stop.value)
        termination.finish()
        signal.raise_signal(signal.SIGALRM)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no timer sends signals here")
def test_a_time_limit_raises():
    def wait() -> None:
        clock.end_in_time(0.001)
        while True:
            time.sleep(0.01)

    with Termination() as termination:
        termination.begin()
        with pytest.raises(TimeIsOverError):
            wait()
        termination.finish()
