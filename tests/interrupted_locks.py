"""Ctrl-C at the worst moment: just after the main thread has taken the lock of a condition."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Callable
from typing import Any

MOST = 60  # locks of one call; calls that wait take more of them, all in the same places


def left_closed(monkeypatch: Any, call: Callable[[], object], every: int = 1) -> list[str]:
    """Interrupt a call at each lock that its main thread takes, or at every few of them.

    Returns:
        The places where Ctrl-C would have left a lock closed; here it is opened again.
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
    """Interrupt a call at one moment; whether it takes that many locks."""
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
                    condition.release()  # or this test would never end
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
