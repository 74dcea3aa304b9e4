"""Ctrl-C and SIGTERM while a command runs: partial files are removed, the best so far is shown.

By default, SIGTERM ends Python at once, and partial files stay. Systems that stop jobs (batch
queues, containers, `timeout`) send it, and send SIGKILL a few seconds later.

This module is imported before anything else of the command line, and therefore imports little: a
signal that comes before its handler is there can only be Python's own affair.
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

# `timeout` sends the signal twice, to the process and to its group. The second one must not end
# the cleaning up that the first one started; one that comes later means it.
_SAME_SECONDS = 1.0
_AGAIN_SECONDS = 0.02
# Seconds after which a command that has not ended at its time limit is stopped again.
_NEXT_SECONDS = 1.0


class Termination:
    """The handler of signals while a command runs: a context manager, for the main thread.

    At first signals are only recorded. From `begin` on, the first one is raised as a
    KeyboardInterrupt, which the command handles; after `finish`, they are only recorded again. The
    end of a time limit is raised as a `TimeIsOverError`, which is one, too.

    Signals that the parent process ignores stay ignored, and so do handlers of a program that calls
    the command line: they are that program's. Python's own handlers are put back at the end, unless
    the process ends then, too: while Python shuts down, nothing may change its exit code any more.

    Args:
        is_last: whether the process ends with the command.

    Attributes:
        came: the signals that came, in order.
        last: when the last one came, in seconds of the monotonic clock.
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
        """Whether SIGTERM has stopped the command; one that comes at its end stops nothing."""
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
        """Raise signals from now on, one that has come already at once."""
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
        """Raise `TimeIsOverError` after `seconds`, again and again until `finish`."""
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
        """Whether a signal was swallowed, so that whatever went wrong since is its doing."""
        return self._was_lost

    def _ask(self, number: int, frame: FrameType | None) -> None:
        """The handler: go the way of Ctrl-C, in the main thread."""
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
        """Whether a module is being imported: one that was only half imported breaks others.

        Third-party modules replace a KeyboardInterrupt by their own errors, or lose it.
        """
        while frame is not None and frame is not self._frame:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                return True
            frame = frame.f_back
        return False

    def _hear_again(self, lost: Any) -> None:
        """Python's hook for what is raised where nobody can catch it: destructors, callbacks."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            self._again(next(reversed([*self._before, *self.came]), signal.SIGINT))
        elif not str(getattr(lost.object, "__module__", "")).startswith("llvmlite"):
            sys.__unraisablehook__(lost)

    def _again(self, number: int) -> None:
        """Send a signal to ourselves, but not at once: here it would be lost again."""
        self._raised, self._was_lost = None, True
        self._later(_AGAIN_SECONDS, number)

    def _later(self, seconds: float, number: int) -> None:
        self._timer = threading.Timer(seconds, _send, [number])
        self._timer.daemon = True
        self._timer.start()


_current: Termination | None = None


def current() -> Termination:
    """The command that runs in this thread; one that nothing stops where there is none."""
    if _current is None or threading.current_thread() is not threading.main_thread():
        return Termination()
    return _current


def is_interruption(fault: BaseException | None) -> bool:
    """Whether a fault came from Ctrl-C: compiled code wraps it in others on its way."""
    while fault is not None and not isinstance(fault, KeyboardInterrupt):
        fault = fault.__cause__ or fault.__context__
    return fault is not None


def _send(number: int) -> None:
    """A signal for the main thread, which ends its waiting, too, where the system can do that."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        _thread.interrupt_main(signal.Signals(number))
