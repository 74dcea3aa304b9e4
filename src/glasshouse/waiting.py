"""Waiting for threads and futures, so that no signal leaves a lock closed that they need.

Python's `Condition` takes its lock in a step of Python. Ctrl-C just after that step leaves the lock
closed for good: a thread that must take it to end never ends. Futures, events, semaphores and the
start of a thread all use conditions. The main thread therefore touches them only while signals are
deferred, for a tenth of a second at most, or waits for a `Bell`, which has no condition.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from typing import Any, TypeVar

from glasshouse.stopping import deferred

Result = TypeVar("Result")

# Seconds for which signals are deferred at most. Also the longest wait in one system call: Python
# handles a signal that comes just before a system call only after that call has returned.
LOOK_EVERY = 0.1


class Bell:
    """An event that happens once. The main thread waits for it in one step, which Ctrl-C can end.

    >>> bell = Bell()
    >>> bell.wait(0.001)
    False
    >>> bell.ring()
    >>> bell.wait(60), bell.wait(60)
    (True, True)
    """

    def __init__(self) -> None:
        self._has_rung = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def ring(self) -> None:
        """Wake the waiting thread."""
        self._has_rung = True
        with suppress(RuntimeError):  # the lock is open already
            self._lock.release()

    def wait(self, seconds: float) -> bool:
        """Wait for the bell, at most for `seconds`; return whether it has rung."""
        if not self._has_rung:
            self._lock.acquire(timeout=seconds)
        return self._has_rung


def start_thread(work: Callable[[], object], name: str | None = None) -> None:
    """Start a daemon thread; a signal to the main thread cannot keep it from beginning."""
    with deferred():
        threading.Thread(target=work, name=name, daemon=True).start()


def submit(executor: Executor, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """Submit work to an executor.

    Signals wait only if the executor is one of Python's own: others may do the work at once.
    """
    if not isinstance(executor, (ThreadPoolExecutor, ProcessPoolExecutor)):
        return executor.submit(function, *arguments)
    with deferred():
        return executor.submit(function, *arguments)


def wait_briefly(
    futures: Collection[Future[Result]], return_when: str = FIRST_COMPLETED
) -> tuple[set[Future[Result]], set[Future[Result]]]:
    """Do as `concurrent.futures.wait`, for at most `LOOK_EVERY` seconds: call it in a loop."""
    with deferred():
        done, pending = wait(futures, LOOK_EVERY, return_when)
    return done, pending


def result_of(future: Future[Result]) -> Result:
    """Wait for a future, and return its result or raise its exception."""
    while not wait_briefly([future])[0]:
        continue
    with deferred():
        return future.result()


def cancel_all(futures: Iterable[Future[Any]]) -> None:
    """Cancel the futures that have not begun."""
    with deferred():
        for future in futures:
            future.cancel()
