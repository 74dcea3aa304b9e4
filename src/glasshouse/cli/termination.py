"""SIGTERM ends a command as Ctrl-C does: partial files are removed, the best so far is shown.

Python by itself dies of SIGTERM on the spot and leaves everything behind. Systems that stop jobs
(batch queues, containers, `timeout`) send it, and kill for good some seconds later.

Either may come while a kernel is compiled, in the middle of LLVM's objects: then one that was only
half made complains as it goes, one that is going swallows the signal, and so does a callback, after
which Numba misses what the callback should have brought.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# `timeout` sends the signal twice, to the process and to its group. The second one must not end
# the cleaning up that the first one started; one that comes later means it.
_SAME_SECONDS = 1.0
_AGAIN_SECONDS = 0.02


class Termination:
    """Whether this process was asked to end.

    Attributes:
        is_asked: whether SIGTERM came.
        is_the_end: whether what is ignored by then stays ignored until the process is gone: an exit
            code that is part of an answer must not be lost while Python shuts down.
    """

    def __init__(self) -> None:
        self.is_asked = self.is_the_end = False
        self.again: threading.Timer | None = None
        self._last = 0.0

    def ask(self, number: int, frame: FrameType | None) -> None:
        """The signal's handler: go the way of Ctrl-C, in the main thread."""
        now = time.monotonic()
        if self.is_asked and now - self._last < _SAME_SECONDS:
            return
        self.is_asked, self._last = True, now
        raise KeyboardInterrupt

    def hear_again(self, lost: Any) -> None:
        """Python's hook for what is raised where nobody can catch it: destructors, callbacks."""
        if issubclass(lost.exc_type, KeyboardInterrupt):
            # Not at once: here it would be lost again.
            self.again = threading.Timer(_AGAIN_SECONDS, _interrupt)
            self.again.daemon = True
            self.again.start()
        elif not str(getattr(lost.object, "__module__", "")).startswith("llvmlite"):
            sys.__unraisablehook__(lost)

    def was_lost(self) -> bool:
        """Whether Ctrl-C was swallowed, so that whatever went wrong since is its doing."""
        if self.again is not None:
            self.again.cancel()
        return self.again is not None


def ignore() -> None:
    """Hear neither Ctrl-C nor SIGTERM until `heeded` ends: half an answer is worse than none."""
    if threading.current_thread() is threading.main_thread():
        for number in _handlers():
            signal.signal(number, signal.SIG_IGN)


def is_interruption(fault: BaseException | None) -> bool:
    """Whether a fault came from Ctrl-C: compiled code wraps it in others on its way."""
    while fault is not None and not isinstance(fault, KeyboardInterrupt):
        fault = fault.__cause__ or fault.__context__
    return fault is not None


def _interrupt() -> None:
    """Ctrl-C for the main thread, which ends its waiting, too, where the system can do that."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _handlers() -> dict[signal.Signals, Any]:
    """What Ctrl-C and SIGTERM do, without those that are not Python's to set again."""
    found = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {number: handler for number, handler in found.items() if handler is not None}


@contextmanager
def heeded() -> Iterator[Termination]:
    """Take SIGTERM for Ctrl-C inside the block; afterwards both do what they did before.

    Only in the main thread, where alone signals are handled, and only where nobody else decided
    what SIGTERM does: a program that calls the command line keeps its own handler, and a signal
    that the parent ignores stays ignored. Other processes do not inherit the handler: those that
    are spawned start with the system's own.
    """
    termination, hook, before = Termination(), sys.unraisablehook, _handlers()
    if threading.current_thread() is not threading.main_thread():
        yield termination
        return
    is_ours = before.get(signal.SIGTERM) is signal.SIG_DFL
    if is_ours:
        signal.signal(signal.SIGTERM, termination.ask)
        sys.unraisablehook = termination.hear_again
    try:
        yield termination
    finally:
        sys.unraisablehook = hook
        if not (is_ours and termination.is_the_end):
            for number, handler in before.items():
                signal.signal(number, handler)
