"""All signals wait for the end of a block, after which their handlers are restored."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import pytest
from tests.interrupts import is_stop_waiting

from glasshouse import stopping
from glasshouse.compiled import compiled
from glasshouse.stopping import (
    TimeIsOverError,
    compilation_limited,
    compile_seconds,
    compiling,
    deferred,
    handle_waiting,
    working_time,
)


class _ToldError(Exception):
    pass


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """Return a list of the signals that a caller's handlers receive; SIGUSR1's handler raises."""
    numbers: list[int] = []

    def raising(number: int, frame: object) -> None:
        numbers.append(number)
        raise _ToldError

    def noting(number: int, frame: object) -> None:
        numbers.append(number)

    before = {
        signal.SIGUSR1: signal.signal(signal.SIGUSR1, raising),
        signal.SIGUSR2: signal.signal(signal.SIGUSR2, noting),
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
    }
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_every_signal_waits_for_the_end_of_the_block(heard: list[int]) -> None:
    @deferred()
    def block() -> None:
        signal.raise_signal(signal.SIGUSR1)
        signal.raise_signal(signal.SIGUSR2)
        assert heard == []
        assert is_stop_waiting()

    with pytest.raises(_ToldError):
        block()
    assert heard == [signal.SIGUSR1, signal.SIGUSR2]
    assert not is_stop_waiting()


def test_ctrl_c_is_raised_after_the_block(heard: list[int]) -> None:
    steps = []

    @deferred()
    def block() -> None:
        signal.raise_signal(signal.SIGINT)
        steps.append("whole")

    with pytest.raises(KeyboardInterrupt):
        block()
    assert steps == ["whole"]


def test_handlers_are_the_callers_own_again(heard: list[int]) -> None:
    numbers = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT)
    before = [signal.getsignal(number) for number in numbers]
    with deferred(), deferred():
        assert [signal.getsignal(number) for number in numbers] != before
    assert [signal.getsignal(number) for number in numbers] == before


def test_a_handler_that_the_block_sets_stays(heard: list[int]) -> None:
    def own(number: int, frame: object) -> None:
        pass

    with deferred():
        signal.signal(signal.SIGUSR2, own)
    assert signal.getsignal(signal.SIGUSR2) is own


def test_signals_that_come_while_handlers_are_put_back_lose_nothing(
    heard: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGUSR1 arrives again as soon as its handler is restored, which then raises."""
    put_back = signal.signal

    def meanwhile(number: int, handler: object) -> object:
        found = put_back(number, handler)  # type: ignore[arg-type]
        if number == signal.SIGUSR1 and not isinstance(handler, stopping.Deferral):
            signal.raise_signal(signal.SIGUSR1)
        return found

    @deferred()
    def block() -> None:
        monkeypatch.setattr(signal, "signal", meanwhile)
        signal.raise_signal(signal.SIGUSR2)

    before = signal.getsignal(signal.SIGUSR2)
    with pytest.raises(_ToldError):
        block()
    monkeypatch.undo()
    assert signal.getsignal(signal.SIGUSR2) is before
    assert sorted(heard) == [signal.SIGUSR1, signal.SIGUSR2]


def test_handlers_run_at_a_safe_point(heard: list[int]) -> None:
    with deferred():
        signal.raise_signal(signal.SIGUSR2)
        assert heard == []
        handle_waiting()
        assert heard == [signal.SIGUSR2]
        handle_waiting()
    assert heard == [signal.SIGUSR2]


def test_a_handler_that_raises_at_a_safe_point_ends_the_block(heard: list[int]) -> None:
    """The block ends even if it catches exceptions, because only `deferred` gets the handler's."""
    steps = []

    @deferred()
    def block() -> None:
        signal.raise_signal(signal.SIGUSR1)
        try:
            handle_waiting()
        except Exception:
            steps.append("swallowed")
        steps.append("continued")

    before = signal.getsignal(signal.SIGUSR1)
    with pytest.raises(_ToldError):
        block()
    assert (steps, heard) == ([], [signal.SIGUSR1])
    assert signal.getsignal(signal.SIGUSR1) is before


def test_a_safe_point_outside_a_block_or_in_another_thread_does_nothing(heard: list[int]) -> None:
    handle_waiting()
    with deferred():
        signal.raise_signal(signal.SIGUSR2)
        thread = threading.Thread(target=handle_waiting)
        thread.start()
        thread.join()
        assert heard == []
    assert heard == [signal.SIGUSR2]


def test_ignored_signals_stay_ignored() -> None:
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        with deferred():
            assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
            signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_other_threads_change_nothing() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with deferred():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_the_clock_stands_still_while_something_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(stopping.time, "monotonic", lambda: now[0])
    began, spent = working_time(), compile_seconds()
    now[0] += 1
    with compiling(), compiling():
        now[0] += 5
        assert working_time() - began == 1
    now[0] += 2
    assert working_time() - began == 3
    assert compile_seconds() - spent == 5


def test_a_flood_of_signals_leaves_handlers_and_process_whole() -> None:
    """Twenty thousand blocks run under a timer that fires every ten microseconds."""
    script = """
import signal
from glasshouse.stopping import deferred

class Stop(Exception): pass
def stop(number, frame):
    global armed
    if armed:
        armed = False
        raise Stop
def count(number, frame): counted.append(number)

counted, broken, stopped, armed = [], 0, 0, False
signal.signal(signal.SIGALRM, stop)
signal.signal(signal.SIGUSR1, count)
signal.setitimer(signal.ITIMER_REAL, 1e-5, 1e-5)
for _ in range(20_000):
    step = -1
    try:
        armed = True
        with deferred():
            for step in range(50): pass
        armed = False
    except Stop:
        stopped += 1
        broken += 0 <= step < 49
signal.setitimer(signal.ITIMER_REAL, 0)
for number, handler in ((signal.SIGALRM, stop), (signal.SIGUSR1, count)):
    assert signal.getsignal(number) is handler, number
assert broken == 0, broken
assert stopped > 100, stopped
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_limit_that_includes_compilation_has_a_clock_that_goes_on() -> None:
    with compilation_limited(3600.0), compiling():
        before = working_time()
        threading.Event().wait(0.01)
        assert working_time() > before
        handle_waiting()
    with compiling():
        before = working_time()
        threading.Event().wait(0.01)
        assert working_time() == before


def test_compilation_ends_between_two_steps_when_its_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # nothing was compiled before

    @compiled
    def twice(x: int) -> int:
        return 2 * x

    with compilation_limited(-1.0):
        with pytest.raises(TimeIsOverError, match="glasshouse compile"):
            twice(21)
        with ThreadPoolExecutor(1) as pool:  # only the main thread is stopped
            assert pool.submit(twice, 20).result() == 40
        assert twice(21) == 42  # compiled code stays
    assert twice(2.5) == 5.0


def test_compilation_within_its_time_is_not_disturbed() -> None:
    @compiled
    def thrice(x: int) -> int:
        return 3 * x

    with compilation_limited(3600.0):
        assert thrice(14) == 42
