"""A process pool of our own, which can be killed and built anew when a worker dies or hangs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import connection
from typing import Any

from glasshouse.problems import validation


class WorkerPool:
    """Worker processes for a study.

    They are spawned, not forked, so that a script that uses them needs the usual
    `if __name__ == "__main__":`. They ignore Ctrl-C, which is the coordinator's to handle, and
    end themselves when the coordinator is gone, also after `kill -9`.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self.workers = validation.count(workers, "workers", 1)
        self._executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, mp_context=context, initializer=_become_worker)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Run a function in some worker."""
        return self._executor.submit(function, *arguments)

    def rebuild(self) -> None:
        """Kill all workers and start new ones; whatever they were doing is lost."""
        self.close()
        self._executor = self._start()

    def close(self) -> None:
        """Kill all workers without waiting for what they are doing."""
        # Before Python 3.14 an executor has no public way to its processes.
        processes = list((getattr(self._executor, "_processes", None) or {}).values())
        for process in processes:
            process.kill()
        self._executor.shutdown(wait=True, cancel_futures=True)


def _become_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()


def _end_with_the_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)
