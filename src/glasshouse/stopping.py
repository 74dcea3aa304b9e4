"""Deferred signal handling, and the clock for all deadlines.

Python runs signal handlers in its main thread, between any two steps of the interpreter. A handler
that raises an exception, as that of Ctrl-C does, can interrupt a step of Numba or LLVM and leave
inconsistent objects: a module is freed twice, a generator is permanently unusable. `deferred` makes
signals wait until such a block has ended, in the user's process and on the command line.

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
_SLICE_SECONDS = 0.1  # seconds of compiled work after which signals are handled


class TimeIsOverError(KeyboardInterrupt):
    """Raised when a command's time limit has passed; the command must not compute any more.

    After Ctrl-C, a search may still complete its result; after this exception, it may not.
    """


class _RaisedByHandlerError(BaseException):
    """Raised in place of a signal handler's exception, so that no `except Exception` catches it."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


class Deferral:
    """A signal handler that records signals, and delivers them when its block has ended.

    If an original handler could not be restored, it still works: after its block, a deferral
    passes signals on to it at once.
    """

    def __init__(self) -> None:
        self.handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self.came: list[int] = []
        self.is_open = True

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Record a signal, or pass it to the original handler if the block has ended."""
        if not self.is_open:
            self.handlers[number](number, frame)
        elif number not in self.came:
            self.came.append(number)

    def take_over(self) -> None:
        """Install this deferral in place of every signal handler that is written in Python."""
        for number in _SIGNALS:
            handler = signal.getsignal(number)
            if callable(handler) and not isinstance(handler, signal.Handlers):
                self.handlers[number] = handler
                signal.signal(number, self)

    def handle(self) -> None:
        """Run the handlers of the recorded signals now, until a handler raises an exception."""
        while self.came:
            number = self.came.pop(0)
            try:
                self.handlers[number](number, sys._getframe())
            except Exception as error:
                raise _RaisedByHandlerError(error) from None

    def give_back(self) -> None:
        """Restore every signal handler, then deliver the recorded signals.

        If a restored handler raises an exception, the remaining handlers are restored first.
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
        """Deliver all recorded signals, even if a handler raises an exception."""
        if self.came:
            try:
                signal.raise_signal(self.came.pop(0))
            finally:
                self.deliver()


_open: Deferral | None = None


@contextmanager
def deferred() -> Iterator[None]:
    """Defer the handling of signals until this block has ended.

    Nested blocks have no effect, nor have blocks in other threads, which never handle signals.

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
    """Run `count` steps of compiled work, and handle signals about ten times per second.

    Python cannot handle signals while compiled code runs. The number of steps in a slice depends on
    the time that the last slice took, so results must not depend on how the steps are sliced.

    Args:
        work: performs the steps `first`, …, `last - 1`, while signals are deferred.
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
    """Run the handlers of deferred signals now, at a safe point inside a `deferred` block.

    An exception of a handler, such as that of Ctrl-C, is raised here. If all handlers return, the
    block continues.

    Raises:
        TimeIsOverError: the time limit of the compilation is over.
    """
    if _open is not None and threading.current_thread() is threading.main_thread():
        _compilation.check()
        _open.handle()


class _CompileClock:
    """A clock that measures how long at least one thread of this process has been compiling."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = 0
        self._since = self._total = 0.0
        self.until = math.inf  # monotonic time; if finite, compilation counts towards time limits

    def start(self) -> None:
        """Record that a thread begins to compile."""
        with self._lock:
            if self._threads == 0:
                self._since = time.monotonic()
            self._threads += 1

    def stop(self) -> None:
        """Record that a thread has finished compiling."""
        with self._lock:
            self._threads -= 1
            if self._threads == 0:
                self._total += time.monotonic() - self._since

    def read(self) -> tuple[float, float]:
        """Return the monotonic time, and the seconds spent on compilation so far."""
        with self._lock:
            now = time.monotonic()
            return now, self._total + (now - self._since if self._threads else 0.0)

    def check(self) -> None:
        """Raise `TimeIsOverError` if the time limit for compilation has passed."""
        if time.monotonic() > self.until:
            raise TimeIsOverError(
                "the time limit passed during compilation; run `glasshouse compile` once in advance"
            )


_compilation = _CompileClock()


@contextmanager
def compiling() -> Iterator[None]:
    """Defer signals and pause `working_time` while this block compiles."""
    with deferred():
        _compilation.start()
        try:
            yield
        finally:
            _compilation.stop()


@contextmanager
def compilation_limited(seconds: float) -> Iterator[None]:
    """Within this block, count compilation towards deadlines, and stop it after `seconds`.

    Args:
        seconds: the time from now after which nothing may be compiled. Compilation in the main
            thread then ends with `TimeIsOverError` between two steps.
    """
    before, _compilation.until = _compilation.until, time.monotonic() + seconds
    try:
        yield
    finally:
        _compilation.until = before


def working_time() -> float:
    """Return the time in seconds on a monotonic clock that is paused while glasshouse compiles.

    Deadlines are set and compared on this clock, so that a time limit has the same meaning in the
    first call of a process and in later calls. Within `compilation_limited` it is not paused.
    """
    now, compiled = _compilation.read()
    return now - compiled if math.isinf(_compilation.until) else now


def compile_seconds() -> float:
    """Return how many seconds this process has spent compiling kernels."""
    return _compilation.read()[1]
