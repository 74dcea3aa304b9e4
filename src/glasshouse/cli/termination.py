"""SIGTERM ends a command as Ctrl-C does: partial files are removed, the best so far is shown.

Python by itself dies of SIGTERM on the spot and leaves everything behind. Systems that stop jobs
(batch queues, containers, `timeout`) send it, and kill for good some seconds later.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# `timeout` sends the signal twice, to the process and to its group. The second one must not end
# the cleaning up that the first one started; one that comes later means it.
_SAME_SECONDS = 1.0


class Termination:
    """Whether this process was asked to end."""

    def __init__(self) -> None:
        self.is_asked = False
        self._last = 0.0

    def ask(self, number: int, frame: FrameType | None) -> None:
        """The signal's handler: go the way of Ctrl-C, in the main thread."""
        now = time.monotonic()
        if self.is_asked and now - self._last < _SAME_SECONDS:
            return
        self.is_asked, self._last = True, now
        raise KeyboardInterrupt


@contextmanager
def heeded() -> Iterator[Termination]:
    """Take SIGTERM for Ctrl-C inside the block.

    Only in the main thread, where alone signals are handled, and only where nobody else decided
    what SIGTERM does: a program that calls the command line keeps its own handler, and a signal
    that the parent ignores stays ignored. Other processes do not inherit the handler: those that
    are spawned start with the system's own.
    """
    termination = Termination()
    is_ours = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    )
    if not is_ours:
        yield termination
        return
    signal.signal(signal.SIGTERM, termination.ask)
    try:
        yield termination
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
