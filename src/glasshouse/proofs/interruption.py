"""Ctrl-C where it is not heard by itself, or would spoil short work that must be done."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TypeVar

from glasshouse.compiled import is_ctrl_c
from glasshouse.waiting import Bell, start_thread

Result = TypeVar("Result")

_LOOK_EVERY = 0.05  # seconds
_PATIENCE = 5.0  # seconds after Ctrl-C, for a solver that is slow to stop


def to_the_end(work: Callable[[], Result]) -> tuple[Result, bool]:
    """Do short work that must be done; whether Ctrl-C came. After it, all is done anew, once.

    >>> to_the_end(lambda: 6 * 7)
    (42, False)
    """
    try:
        return work(), False
    except (KeyboardInterrupt, SystemError) as stop:
        if not is_ctrl_c(stop):
            raise
        return work(), True


def interruptible(
    work: Callable[[], Result],
    stop: Callable[[], object],
    time_limit: float | None = None,
    patience: float = _PATIENCE,
) -> Result:
    """Do some work in another thread, which Ctrl-C or a time limit stops.

    Python hears signals in its main thread, and there only between two steps of its own.

    Args:
        work: what to do. It must let go of the interpreter's lock.
        stop: makes the work return soon. It is called again and again until that happens: a solver
            may be between two of its steps, at which it forgets earlier calls.
        time_limit: seconds after which to stop.
        patience: seconds after Ctrl-C until the work is left behind.

    Returns:
        What the work returns, after the time limit, too.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, and the work has ended, or was left behind.

    >>> interruptible(lambda: 6 * 7, lambda: None)
    42
    """
    results: list[Result] = []
    faults: list[BaseException] = []
    ended = Bell()  # a join that Ctrl-C breaks off takes the thread for dead

    def run() -> None:
        try:
            results.append(work())
        except BaseException as fault:  # it is raised again, in the caller's thread
            faults.append(fault)
        finally:
            ended.ring()

    deadline = time.monotonic() + (math.inf if time_limit is None else time_limit)
    try:
        start_thread(run)
        while not ended.wait(_LOOK_EVERY):
            if time.monotonic() > deadline:
                stop()
    except KeyboardInterrupt:
        last = time.monotonic() + patience
        while time.monotonic() < last and not ended.wait(_LOOK_EVERY):
            stop()
        raise
    if faults:
        raise faults[0]
    return results[0]
