"""Functions that wait for threads and futures, and can be safely interrupted by Ctrl-C.

Python's `Condition` acquires its lock in a step of Python. Ctrl-C just after that step leaves the
lock permanently locked, and a thread that must acquire it never ends. Futures, events, semaphores
and the start of a thread all use conditions. The main thread therefore uses them only while signals
are deferred, for at most a tenth of a second, or waits for a `Bell`, which has no condition.

Python handles signals in its main thread, between two steps of the interpreter. Work that Python
cannot interrupt is therefore done in another thread while the caller waits: see `interruptible`.
"""

from __future__ import annotations

import math
import os
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
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from glasshouse.stopping import deferred, working_time

Result = TypeVar("Result")

# The most seconds for which signals are deferred, and the longest wait in one system call: Python
# handles a signal that arrives just before a system call only after that call has returned.
LOOK_EVERY = 0.1
_PATIENCE = 5.0  # seconds after Ctrl-C in which a solver must stop
_LONGEST_IDLE = 0.5  # seconds until an idle thread ends


class Bell:
    """A one-time event for which the main thread can wait without blocking Ctrl-C.

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
        """Record that the event has happened, and wake the waiting thread."""
        self._has_rung = True
        with suppress(RuntimeError):  # the lock is already open
            self._lock.release()

    def wait(self, seconds: float) -> bool:
        """Wait for at most `seconds` seconds, and return whether the event has happened."""
        if not self._has_rung:
            self._lock.acquire(timeout=seconds)
        return self._has_rung


def start_thread(work: Callable[[], object], name: str | None = None) -> None:
    """Start a daemon thread that runs `work`; signals are deferred while the thread starts."""
    with deferred():
        threading.Thread(target=work, name=name, daemon=True).start()


def submit(executor: Executor, function: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """Submit a function call to an executor, and return its future.

    Signals are deferred only for Python's own executors: another one may run the function at once.
    """
    if not isinstance(executor, (ThreadPoolExecutor, ProcessPoolExecutor)):
        return executor.submit(function, *arguments)
    with deferred():
        return executor.submit(function, *arguments)


def wait_briefly(
    futures: Collection[Future[Result]], return_when: str = FIRST_COMPLETED
) -> tuple[set[Future[Result]], set[Future[Result]]]:
    """Wait for futures as `concurrent.futures.wait` does, but for at most `LOOK_EVERY` seconds."""
    with deferred():
        done, pending = wait(futures, LOOK_EVERY, return_when)
    return done, pending


def result_of(future: Future[Result]) -> Result:
    """Wait until a future is done, and return its result or raise its exception."""
    while not wait_briefly([future])[0]:
        continue
    with deferred():
        return future.result()


def cancel_all(futures: Iterable[Future[Any]]) -> None:
    """Cancel all futures that have not begun to run."""
    with deferred():
        for future in futures:
            future.cancel()


class _Job(Generic[Result]):
    """A function call to be run by another thread, together with its result and state.

    The caller waits for a flag, not for a message: a signal between the arrival of a message and
    its use would lose the message, and the caller would wait forever.
    """

    def __init__(self, work: Callable[[], Result]) -> None:
        self.work = work
        self.is_off = self.is_done = False
        self.results: list[Result] = []
        self.fault: BaseException | None = None
        self._ended = Bell()

    def do(self) -> None:
        """Call the function, unless the job was cancelled or has already run."""
        if self.is_done:
            return
        try:
            if not self.is_off:
                self.results.append(self.work())
        except BaseException as fault:  # the caller's thread raises it again
            self.fault = fault
        self.is_done = True
        self._ended.ring()

    def wait(self, stop: Callable[[], object], deadline: float) -> None:
        """Wait until the job has ended; after the deadline, call `stop` repeatedly."""
        while not self.is_done:
            left = deadline - working_time()
            if left <= 0.0:
                stop()
            self._ended.wait(min(left, LOOK_EVERY) if left > 0.0 else LOOK_EVERY)

    def end(self, stop: Callable[[], object], patience: float) -> None:
        """Call `stop` repeatedly until the job has ended, for at most `patience` seconds."""
        last = working_time() + patience
        while not self.is_done and working_time() < last:
            with suppress(BaseException):  # the caller gets the first exception only
                stop()
                self._ended.wait(LOOK_EVERY)


class SideThread:
    """A thread that runs one job at a time, and ends after half a second without a job.

    If the thread stayed alive, every later `os.fork` of the user would cause a warning.

    Args:
        idle: the list that contains the thread while it does not have a job.
    """

    def __init__(self, idle: list[SideThread]) -> None:
        self.owner, self.idle = os.getpid(), idle
        self.jobs: SimpleQueue[_Job[Any]] = SimpleQueue()
        start_thread(self._serve, "glasshouse")

    def _serve(self) -> None:
        while True:
            try:
                self.jobs.get(timeout=_LONGEST_IDLE).do()
            except Empty:
                with suppress(ValueError):  # a caller has taken this thread, and will send a job
                    self.idle.remove(self)
                    return


def _free_thread(idle: list[SideThread]) -> SideThread:
    """Return an idle thread that belongs to this process, or start a new thread."""
    while idle:
        try:
            thread = idle.pop()
        except IndexError:  # another caller was faster
            break
        if thread.owner == os.getpid():
            return thread
    return SideThread(idle)


def interruptible(
    work: Callable[[], Result],
    stop: Callable[[], object],
    time_limit: float | None = None,
    patience: float = _PATIENCE,
    idle: list[SideThread] | None = None,
) -> Result:
    """Call `work` in another thread, and stop it at a time limit or after Ctrl-C.

    Args:
        work: the function to call. It must release the interpreter's lock, and must not compile.
        stop: makes `work` return soon. It is called repeatedly until `work` returns, because a
            solver may ignore calls that arrive between two of its steps.
        time_limit: the seconds after which to stop.
        patience: the seconds after Ctrl-C after which the work is abandoned.
        idle: threads to reuse; only for work that is never abandoned.

    Returns:
        The result of the work, even after the time limit.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, and the work has ended or was abandoned. If the
            user's own handler raised another exception, that exception is raised instead.

    >>> interruptible(lambda: 6 * 7, lambda: None)
    42
    """
    idle = [] if idle is None else idle
    deadline = math.inf if time_limit is None else working_time() + time_limit
    thread, job = _free_thread(idle), _Job(work)
    try:
        thread.jobs.put(job)
        job.wait(stop, deadline)
    except BaseException:
        job.is_off = True  # the job may not have begun
        thread.jobs.put(job)  # the job may not have been sent
        job.end(stop, patience)
        raise
    finally:
        idle.append(thread)
    if job.fault is not None:
        raise job.fault
    return job.results[0]
