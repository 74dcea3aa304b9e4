"""Ctrl-C and SIGTERM during a command: remove partial files, and show the best state so far.

By default, SIGTERM ends Python at once, and partial files stay. Systems that stop jobs (batch
queues, containers, `timeout`) send it, and send SIGKILL a few seconds later.

This module is imported before the rest of the command line, and therefore imports little: Python
    itself handles a signal that comes before our handler is installed.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

# `timeout` sends the signal twice, to the process and to its group. The second one must not end the
# cleaning up that the first one started; a later one does.
_SAME_SECONDS = 1.0
_AGAIN_SECONDS = 0.02
# Seconds after which a command that has not ended at its time limit is stopped again.
_NEXT_SECONDS = 1.0


class Termination:
    """The signal handler of a running command: a context manager for the main thread.

    At first, signals are only recorded. After `begin`, the first one is raised as a
    KeyboardInterrupt, which the command handles; after `finish`, they are only recorded again. The
    end of a time limit is raised as a `TimeIsOverError`, a kind of KeyboardInterrupt.

    Signals that the parent process ignores stay ignored. Handlers of a program that calls the
    command line stay, too. Python's own handlers are restored at the end, unless the process ends
    then, too: while Python shuts down, nothing may change its exit code.

    Args:
        is_last: whether the process ends with the command.

    Attributes:
        came: the signals that came, in order.
        last: the time of the last signal, in seconds of the monotonic clock.
    """

    def __init__(self, is_last: bool = False) -> None:
        self.came: list[int] = []
        self.last = 0.0
        self._is_last = is_last
        self._waits = True
        self._raised: float | None = None
        self._was_lost = False
        self._timer: threading.Timer | None = None
        self._before: dict[int, Any] = {}
        self._stops: dict[int, type[KeyboardInterrupt]] = {}
        self._frame: FrameType | None = None

    @property
    def is_asked(self) -> bool:
        """Whether SIGTERM has stopped the command; a signal that came too late does not count."""
        is_stopped = self._raised is not None or self._was_lost
        return is_stopped and signal.SIGTERM in self.came

    def __enter__(self) -> Termination:
        global _current
        if threading.current_thread() is not threading.main_thread():
            return self
        self._frame = sys._getframe(1)
        self._hook, sys.unraisablehook = sys.unraisablehook, self._hear_again
        for number, handler in (
            (signal.SIGTERM, signal.SIG_DFL),
            (signal.SIGINT, signal.default_int_handler),
        ):
            if signal.getsignal(number) is handler:
                self._take(number)
        self._outer, _current = _current, self
        return self

    def _take(self, number: int) -> None:
        self._before[number] = signal.getsignal(number)
        signal.signal(number, self._ask)

    def __exit__(self, *fault: object) -> None:
        global _current
        if self._frame is None:
            return
        self.finish()
        _current = self._outer
        if hasattr(signal, "SIGALRM") and signal.SIGALRM in self._before:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_IGN if self._is_last else handler)
        sys.unraisablehook = self._hook
        self._frame = None

    def begin(self) -> None:
        """Raise signals as exceptions from now on; raise at once if a signal has already come."""
        self._waits = False
        if self.came:
            self._raised = time.monotonic()
            raise KeyboardInterrupt

    def finish(self) -> None:
        """Only record signals from now on: half an answer is worse than none."""
        self._waits = True
        if self._timer is not None:
            self._timer.cancel()

    def limit(self, seconds: float) -> None:
        """Raise `TimeIsOverError` after `seconds`, and then repeatedly until `finish` is called."""
        if self._frame is None:
            return
        if hasattr(signal, "SIGALRM"):
            from glasshouse.stopping import TimeIsOverError

            self._stops[signal.SIGALRM] = TimeIsOverError
            self._take(signal.SIGALRM)
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3), _NEXT_SECONDS)
        else:
            self._later(seconds, signal.SIGINT)

    def was_lost(self) -> bool:
        """Whether a signal was swallowed, so that later errors are its consequence."""
        return self._was_lost

    def _ask(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal in the main thread, in the same way as Ctrl-C."""
        self.last = time.monotonic()
        self.came.append(number)
        if self._waits or self._has_just_raised():
            return
        if self._is_importing(frame):
            self._again(number)
            return
        self._raised = self.last
        raise self._stops.get(number, KeyboardInterrupt)

    def _has_just_raised(self) -> bool:
        return self._raised is not None and self.last - self._raised < _SAME_SECONDS

    def _is_importing(self, frame: FrameType | None) -> bool:
        """Whether a module is being imported; a half-imported module would break others.

        Third-party modules replace a KeyboardInterrupt by their own errors, or lose it.
        """
        while frame is not None and frame is not self._frame:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return True
            frame = frame.f_back
        return False

    def _hear_again(self, lost: Any) -> None:
        """Handle exceptions in destructors and callbacks, where no caller can catch them."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            self._again(next(reversed([*self._before, *self.came]), signal.SIGINT))
        elif not str(getattr(lost.object, "__module__", "")).startswith("llvmlite"):
            sys.__unraisablehook__(lost)

    def _again(self, number: int) -> None:
        """Send a signal to this process again, after a delay so that it is not lost again."""
        self._raised, self._was_lost = None, True
        self._later(_AGAIN_SECONDS, number)

    def _later(self, seconds: float, number: int) -> None:
        self._timer = threading.Timer(seconds, _send, [number])
        self._timer.daemon = True
        self._timer.start()


_current: Termination | None = None


def current() -> Termination:
    """Return the handler of this thread's command; without a command, return an idle handler."""
    if _current is None or threading.current_thread() is not threading.main_thread():
        return Termination()
    return _current


def is_interruption(fault: BaseException | None) -> bool:
    """Whether an error was caused by Ctrl-C; compiled code wraps it in other errors."""
    while fault is not None and not isinstance(fault, KeyboardInterrupt):
        fault = fault.__cause__ or fault.__context__
    return fault is not None


def _send(number: int) -> None:
    """Send a signal to the main thread; if the system allows it, also wake a waiting thread."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))
