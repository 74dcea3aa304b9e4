"""Ctrl-C where Python does not handle it by itself, or would spoil short work that must be done.

Python handles signals in its main thread, between two steps of the interpreter. Work that Python
cannot interrupt is therefore done in another thread while the caller waits, and a signal or a
deadline asks the work to stop. `interruptible` leaves behind a solver that is slow to stop.
`aside` never returns before the work has ended, so that all objects of the work are safe to use.

HiGHS keeps one scheduler for each thread that runs it, with as many threads as the first run there
asked for. In side threads, glasshouse and its user never meet each other's schedulers.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from glasshouse.compiled import is_ctrl_c
from glasshouse.stopping import working_time
from glasshouse.waiting import LOOK_EVERY, Bell, start_thread

Result = TypeVar("Result")

_LOOK_EVERY = 0.05  # seconds
_PATIENCE = 5.0  # seconds after Ctrl-C, for a solver that is slow to stop
_LONGEST_IDLE = 0.5  # seconds until an idle thread ends


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


class _Job(Generic[Result]):
    """A piece of work, and whether it has been done.

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
        """Do the work, unless it is off, or was done before."""
        if self.is_done:
            return
        try:
            if not self.is_off:
                self.results.append(self.work())
        except BaseException as fault:  # it is raised again in the caller's thread
            self.fault = fault
        self.is_done = True
        self._ended.ring()

    def wait(self, seconds: float) -> None:
        """Wait until the work has ended, or for `seconds`."""
        self._ended.wait(seconds)

    def end(self, stop: Callable[[], object]) -> None:
        """Wait for the end of work that has been asked to stop, whatever signals come."""
        while not self.is_done:
            try:
                stop()
                self.wait(LOOK_EVERY)
            except BaseException:  # the first one is what the caller gets to know
                continue


class _SideThread:
    """A thread that does one job after the other, and ends when none has come for a while.

    A thread that stayed would make every later `os.fork` of the user's a warning.
    """

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.jobs: SimpleQueue[_Job[Any]] = SimpleQueue()
        start_thread(self._serve, "glasshouse")

    def _serve(self) -> None:
        while True:
            try:
                self.jobs.get(timeout=_LONGEST_IDLE).do()
            except Empty:
                try:
                    _idle.remove(self)
                except ValueError:  # a caller has just taken it, and will send a job
                    continue
                return


_idle: list[_SideThread] = []


def _free_thread() -> _SideThread:
    """An idle thread, or a new one; threads of the parent do not live on in a forked process."""
    while _idle:
        try:
            thread = _idle.pop()
        except IndexError:  # another caller was faster
            break
        if thread.owner == os.getpid():
            return thread
    return _SideThread()


def aside(
    work: Callable[[], Result], stop: Callable[[], object], deadline: float = math.inf
) -> Result:
    """Do work in a side thread; Ctrl-C and a deadline ask it to stop.

    Args:
        work: what to do. It must let go of the interpreter's lock, and compile nothing.
        stop: makes the work return soon; it may be called several times.
        deadline: when to stop, on the clock of `working_time`.

    Returns:
        The result of the work, even after the deadline.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed (or a handler of the user's raised something else);
            the work has ended.

    >>> aside(lambda: 6 * 7, stop=lambda: None)
    42
    """
    thread, job = _free_thread(), _Job(work)
    try:
        thread.jobs.put(job)
        while not job.is_done:
            left = deadline - working_time()
            if left <= 0.0:
                stop()
                deadline = math.inf
                continue
            job.wait(min(left, LOOK_EVERY))
    except BaseException:
        job.is_off = True  # it may not have begun
        thread.jobs.put(job)  # nor have been sent
        job.end(stop)
        raise
    finally:
        if job.is_done:
            _idle.append(thread)
    if job.fault is not None:
        raise job.fault
    return job.results[0]
