"""Ctrl-C just after the main thread has acquired the lock of a condition, the worst moment."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Callable
from typing import Any

MOST = 60  # locks of one call; calls that wait acquire more locks, at the same positions


def left_closed(monkeypatch: Any, call: Callable[[], object], every: int = 1) -> list[str]:
    """Interrupt a call at locks that its main thread acquires, and return locks left closed.

    Returns:
        The code positions at which Ctrl-C left a lock closed, which is then released.
    """
    found: list[str] = []
    for moment in range(0, MOST, every):
        if not _is_pressed(monkeypatch, call, moment, found):
            assert moment > 0, "no lock was taken"
            break
    return sorted(set(found))


def _is_pressed(
    monkeypatch: Any, call: Callable[[], object], moment: int, found: list[str]
) -> bool:
    """Interrupt a call at one of its locks, and return whether it acquires that many locks."""
    taken, enter = 0, threading.Condition.__enter__

    def pressed(condition: threading.Condition) -> bool:
        nonlocal taken
        result = enter(condition)
        if threading.get_ident() == threading.main_thread().ident:
            taken += 1
            if taken == moment + 1:
                try:
                    signal.raise_signal(signal.SIGINT)
                except KeyboardInterrupt:
                    condition.release()  # otherwise this test would never end
                    found.append("".join(traceback.format_stack(limit=4)))
                    raise
        return result

    with monkeypatch.context() as patched:
        patched.setattr(threading.Condition, "__enter__", pressed)
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            call()
        except KeyboardInterrupt:
            pass
        finally:
            signal.signal(signal.SIGINT, before)
    return taken > moment
