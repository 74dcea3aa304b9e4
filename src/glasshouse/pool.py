"""A process pool that can be killed and rebuilt if a worker process dies or hangs."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker
from pathlib import Path
from types import FrameType
from typing import Any

from glasshouse.stopping import deferred

_CLEANING_UP = 2.0  # seconds in which workers must end the processes that they started


class WorkerPool:
    """A pool of worker processes for studies, races and proofs.

    Only `close` may cancel submitted work. If a worker ends while it has a cancelled task,
    Python's executor fails with a traceback and does not clean up.

    Workers are spawned, not forked, so a script that uses them needs the usual
    `if __name__ == "__main__":`. Workers ignore Ctrl-C, which the coordinator handles. They end
    themselves when the coordinator has ended, even after `kill -9`.

    Args:
        workers: the number of processes.
    """

    def __init__(self, workers: int) -> None:
        if type(workers) is not int or workers < 1:
            raise ValueError(f"workers={workers!r} must be a positive integer")
        self.workers = workers
        self._executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        try:
            return ProcessPoolExecutor(self.workers, mp_context=context, initializer=_become_worker)
        except OSError as cause:
            # Semaphores are files in /dev/shm, but the system's error does not name a file.
            raise OSError(
                "worker processes cannot be started: no semaphore can be created in shared memory "
                f"({cause.strerror or cause}); make /dev/shm writable, or run without workers"
            ) from cause

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a function call to the pool, and return its future.

        This may start a worker process.
        """
        if os.name == "posix":
            # The tracker unblocks Ctrl-C when it starts, which must not happen in the next block.
            resource_tracker.ensure_running()
        with starting(signal.SIGINT):
            return self._executor.submit(function, *arguments)

    def rebuild(self) -> None:
        """Replace all workers with new ones, and discard the work in progress."""
        self.close()
        self._executor = self._start()

    def close(self) -> None:
        """End all workers without waiting for their work to finish.

        Workers get SIGTERM first: work inside `ending_cleanly` then ends the processes it started,
        which would otherwise outlive it. Signals to this process are deferred for a few seconds.
        """
        with deferred():
            self.terminate()
            processes = self._processes()
            _wait_for(processes, _CLEANING_UP)
            for process in processes:
                process.kill()
            self._executor.shutdown(wait=True, cancel_futures=True)

    def terminate(self) -> None:
        """Send SIGTERM to all workers without waiting, in preparation for `close`."""
        for process in self._processes():
            process.terminate()

    def _processes(self) -> list[Any]:
        # Before Python 3.14 an executor has no public access to its processes.
        return list((getattr(self._executor, "_processes", None) or {}).values())


class Worker(WorkerPool):
    """A pool with one worker process; the process reports when it begins to run a function.

    `Future.running()` is not such a report. It is already true while the process starts, and while
    the call waits in the executor's queue.

    Args:
        cores: the only CPUs that the process, and whatever it starts, may run on; None for all.
    """

    def __init__(self, cores: frozenset[int] | None = None) -> None:
        self._cores = cores
        super().__init__(1)

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        self._reports, self._reporting = context.Pipe(duplex=False)
        self._has_begun = False
        return ProcessPoolExecutor(
            1, mp_context=context, initializer=_become_reporting_worker,
            initargs=(self._reporting, self._cores),
        )  # fmt: skip

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a function call to the worker, which must have finished the previous call."""
        self._read_reports()
        self._has_begun = False
        return super().submit(_reported, function, *arguments)

    @property
    def has_begun(self) -> bool:
        """Whether the worker has reported that the submitted function has begun to run."""
        self._read_reports()
        return self._has_begun

    def _read_reports(self) -> None:
        while self._reports.poll():
            self._reports.recv_bytes()
            self._has_begun = True

    def close(self) -> None:
        """End the worker, and close the pipe on which it sends its reports."""
        super().close()
        self._reports.close()
        self._reporting.close()


@contextmanager
def starting(*numbers: signal.Signals) -> Iterator[None]:
    """Defer signals while this block starts processes, so that no process is left behind.

    Otherwise a signal could interrupt this process after it has started a process, but before it
    has recorded it. The signals in `numbers` are also blocked in the new processes until these call
    `ignore`: Ctrl-C goes to all processes of a terminal, including processes that are loading.
    """
    with deferred():
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore(*numbers: signal.Signals) -> None:
    """Ignore signals in a process that was started inside `starting`."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """On SIGTERM, unwind this block before the worker process ends.

    Work that starts processes needs this. It has no effect outside a worker's main thread.
    """
    is_worker = multiprocessing.parent_process() is not None
    if not is_worker or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    except _LeavingError:  # an executor would return it as a result and continue
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


class _LeavingError(BaseException):
    """Raised in a worker process that receives SIGTERM."""


def _leave(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second SIGTERM must not interrupt the clean-up
    raise _LeavingError


def _wait_for(processes: list[Any], seconds: float) -> None:
    """Wait until all processes have ended, for at most `seconds` seconds."""
    deadline = time.monotonic() + seconds
    left = {process.sentinel for process in processes}
    while left and (rest := deadline - time.monotonic()) > 0:
        left -= set(connection.wait(list(left), rest))


def _become_worker() -> None:
    ignore(signal.SIGINT)
    # A library that sets up logging itself (benchexec does) would reformat our notices.
    log = logging.getLogger("glasshouse")
    if not log.hasHandlers():  # the user's script, which a worker imports again, set up no handler
        log.addHandler(logging.StreamHandler())
        log.propagate = False
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_CLEANING_UP)
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


# The pipe on which a `Worker` process reports that work begins; None in every other process.
_reporting: connection.Connection | None = None


def _become_reporting_worker(
    reporting: connection.Connection, cores: frozenset[int] | None
) -> None:  # fmt: skip
    global _reporting
    _become_worker()
    _reporting = reporting
    if cores is not None:
        os.sched_setaffinity(0, cores)


def _reported(function: Callable[..., Any], *arguments: Any) -> Any:
    """Report that `function` begins, then call it and return its result."""
    assert _reporting is not None
    _reporting.send_bytes(b"begun")
    return function(*arguments)


def core_sets(workers: int, cores: int) -> list[frozenset[int]]:
    """Return one set of CPUs per worker: all CPUs of `cores` cores that no other worker uses.

    The CPUs of one core (hyper-threads) stay together, because they slow each other down.

    Raises:
        ValueError: this system cannot pin processes, or this process may use too few cores.
    """
    if not hasattr(os, "sched_setaffinity"):
        raise ValueError(f"cores={cores}: this system cannot pin processes to cores; omit cores")
    found: dict[str, set[int]] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        found.setdefault(_core_of(cpu), set()).add(cpu)
    whole = list(found.values())
    if workers * cores > len(whole):
        raise ValueError(f"workers={workers} and cores={cores} need {workers * cores} cores, but "
                         f"only {len(whole)} can be used; use fewer workers or cores")  # fmt: skip
    return [frozenset().union(*whole[k * cores : (k + 1) * cores]) for k in range(workers)]


def _core_of(cpu: int) -> str:
    """Return a string that identifies the physical core to which a logical CPU belongs."""
    with suppress(OSError):
        path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        return path.read_text().strip()
    return str(cpu)
