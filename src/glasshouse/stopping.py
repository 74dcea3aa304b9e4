"""Signals that wait until it is safe to handle them, and the clock of all deadlines.

Python runs signal handlers in its main thread, between any two of its steps. A handler that raises
(Ctrl-C does) can do so in the middle of a step of Numba or LLVM, whose objects are then left half
made: a module is freed twice, a generator is dead for good. `deferred` makes signals wait for the
end of such a block, in the user's process as on the command line.

Deadlines are read from `working_time`, which is paused while kernels compile. A command whose
time limit includes compilation runs within `compilation_limited`.
"""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_SIGNALS = tuple(signal.valid_signals())  # read once, because this call is slow
_SLICE_SECONDS = 0.1  # seconds of compiled work between two moments at which signals are handled


class TimeIsOverError(KeyboardInterrupt):
    """Raised when the time of a command is over: nothing more may be computed.

    Ctrl-C lets a search finish what makes its result complete; this does not.
    """


class _RaisedByHandlerError(BaseException):
    """A carrier of a handler's exception through a block that may catch any `Exception`."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Deferral:
    """A handler that records signals and delivers them when its block has ended.

    A handler that could not be restored still works: after its block, a deferral delivers signals
    at once.
    """

    def __init__(self) -> None:
        self.handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self.came: list[int] = []
        self.is_open = True

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Record a signal, or deliver it if the block has ended."""
        if not self.is_open:
            self.handlers[number](number, frame)
        elif number not in self.came:
            self.came.append(number)

    def take_over(self) -> None:
        """Replace every handler written in Python; others never run between Python's steps."""
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler) and not isinstance(handler, signal.Handlers):
                self.handlers[number] = handler
                signal.signal(number, self)

    def handle(self) -> None:
        """Run the handlers of the recorded signals now; the first one that raises ends this."""
        while self.came:
            number = self.came.pop(0)
            try:
                self.handlers[number](number, sys._getframe())
            except Exception as error:
                raise _RaisedByHandlerError(error) from None

    def give_back(self) -> None:
        """Restore every handler, then deliver the recorded signals.

        A restored handler may raise while others are still replaced: all are restored before that.
        """
        try:
            for number, handler in self.handlers.items():
                if signal.getsignal(number) is self:  # the block may have set a handler itself
                    signal.signal(number, handler)
        except BaseException:
            self.give_back()
            raise
        finally:
            self.is_open = False
        self.deliver()

    def deliver(self) -> None:
        """Deliver the recorded signals; if a handler raises, deliver the remaining ones as well."""
        if self.came:
            try:
                signal.raise_signal(self.came.pop(0))
            finally:
                self.deliver()


_open: Deferral | None = None


@contextmanager
def deferred() -> Iterator[None]:
    """Let signals wait until the block has ended; a nested block changes nothing.

    Only Python's main thread handles signals, so this does nothing in other threads.

    >>> with deferred():
    ...     6 * 7
    42
    """
    global _open
    if _open is not None or threading.current_thread() is not threading.main_thread():
        yield
        return
    deferral = Deferral()
    try:
        deferral.take_over()
        _open = deferral
        yield
    except _RaisedByHandlerError as carrier:
        raise carrier.error from None
    finally:
        _open = None
        deferral.give_back()


def in_slices(work: Callable[[int, int], object], count: int) -> None:
    """Do `count` steps of compiled work, and handle signals about ten times a second.

    Python handles no signal while compiled code runs. The number of steps in a slice follows the
    time that the last slice took, so no result may depend on where the steps are cut.

    Args:
        work: does the steps `first`, …, `last - 1`; signals wait in the meantime.
        count: the number of steps.

    >>> in_slices(lambda first, last: print(first, last), 4)
    0 1
    1 3
    3 4
    """
    done, size = 0, 1
    while done < count:
        last, began = min(done + size, count), working_time()
        with deferred():
            work(done, last)
        seconds = working_time() - began
        if seconds < _SLICE_SECONDS / 2:
            size *= 2
        elif seconds > 2 * _SLICE_SECONDS:
            size = max(size // 2, 1)
        done = last


def handle_waiting() -> None:
    """Run the handlers of waiting signals now: a safe point inside a `deferred` block.

    A handler that raises, as the one of Ctrl-C does, raises here. One that returns lets the block
    continue.

    Raises:
        TimeIsOverError: compilation is limited, and its time is used up.
    """
    if _open is not None and threading.current_thread() is threading.main_thread():
        _compilation.check()
        _open.handle()


class _CompileClock:
    """A clock of the seconds during which any thread of this process compiled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = 0
        self._since = self._total = 0.0
        self.until = math.inf  # on the monotonic clock; if finite, compilation counts

    def start(self) -> None:
        """Note that a thread begins to compile."""
        with self._lock:
            if self._threads == 0:
                self._since = time.monotonic()
            self._threads += 1

    def stop(self) -> None:
        """Note that a thread has finished compiling."""
        with self._lock:
            self._threads -= 1
            if self._threads == 0:
                self._total += time.monotonic() - self._since

    def read(self) -> tuple[float, float]:
        """Return the monotonic time, and the seconds spent on compiling until now."""
        with self._lock:
            now = time.monotonic()
            return now, self._total + (now - self._since if self._threads else 0.0)

    def check(self) -> None:
        """Raise `TimeIsOverError` if the time for compiling is used up."""
        if time.monotonic() > self.until:
            raise TimeIsOverError(
                "the time limit left no time to compile; run `glasshouse compile` once in advance"
            )


_compilation = _CompileClock()


@contextmanager
def compiling() -> Iterator[None]:
    """Compile in this block: signals wait, and `working_time` is paused."""
    with deferred():
        _compilation.start()
        try:
            yield
        finally:
            _compilation.stop()


@contextmanager
def compilation_limited(seconds: float) -> Iterator[None]:
    """Count compilation time within a block, for deadlines that are set and read there.

    Args:
        seconds: the time from now after which nothing is compiled any more. Compilation in the main
        thread then ends with `TimeIsOverError` between two of its steps.
    """
    before, _compilation.until = _compilation.until, time.monotonic() + seconds
    try:
        yield
    finally:
        _compilation.until = before


def working_time() -> float:
    """Return seconds on a monotonic clock that is paused while glasshouse compiles.

    Deadlines are set and compared on this clock, so that a time limit means the same in the first
    call of a process as in later ones. Within `compilation_limited` the clock is not paused.
    """
    now, compiled = _compilation.read()
    return now - compiled if math.isinf(_compilation.until) else now


def compile_seconds() -> float:
    """Return the seconds that this process has spent on compiling glasshouse's kernels."""
    return _compilation.read()[1]
