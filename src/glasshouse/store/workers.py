"""Local worker processes with one batch each; a worker that dies or hangs is replaced.

Each worker has its own executor. So a batch that ends or blocks its worker does not disturb the
batches of other workers, and it is clear which batch caused it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from dataclasses import dataclass
from typing import Any

from glasshouse.pool import Worker, core_sets
from glasshouse.problems import validation
from glasshouse.stopping import deferred

# Workers are checked at least this often, in seconds, unless this process itself is delayed.
LONGEST_GAP = 1.0


@dataclass
class _Work:
    """The state of a batch: its worker, and how long it has run.

    Attributes:
        worker: the worker.
        has_begun: whether the batch had begun when it was last checked.
        seconds: how long the batch has been watched since then.
    """

    worker: Worker
    has_begun: bool = False
    seconds: float = 0.0


class Workers:
    """Worker processes, each with at most one batch.

    A batch's clock starts when its worker reports that the batch has begun. It counts only seconds
    in which this process watched: if the computer slept, or this process was stopped, its workers
    were delayed as well.

    Args:
        number: the number of processes.
        timeout: a batch that was watched for more than this many seconds hangs.
        clock: returns the time in seconds.
        cores: the number of cores reserved for each process; None does not pin processes.
    """

    def __init__(
        self,
        number: int,
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
        cores: int | None = None,
    ) -> None:
        validation.count(number, "workers", 1)
        pinned = [None] * number if cores is None else core_sets(number, cores)
        self.timeout = timeout
        self._clock = clock
        self._last_look = clock()
        self._all = [Worker(own) for own in pinned]
        self._idle = [*self._all]
        self._at_work: dict[Future[Any], _Work] = {}

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a batch to an idle worker; at least one worker must be idle."""
        worker = self._idle.pop()
        try:
            future = worker.submit(function, *arguments)
        except BrokenExecutor:  # the worker ended while it was idle
            worker.rebuild()
            future = worker.submit(function, *arguments)
        self._at_work[future] = _Work(worker)
        return future

    def release(self, future: Future[Any]) -> None:
        """Free the worker of a batch; restart the worker if it hangs or has died."""
        worker = self._at_work.pop(future).worker
        if not future.done() or isinstance(future.exception(), BrokenExecutor):
            worker.rebuild()
        self._idle.append(worker)

    def hung(self) -> list[Future[Any]]:
        """Return the batches that exceed the time limit; call this at least once a second."""
        now = self._clock()
        watched = min(now - self._last_look, LONGEST_GAP)
        self._last_look = now
        for work in self._at_work.values():
            if work.has_begun:
                work.seconds += watched
            else:
                work.has_begun = work.worker.has_begun
        return [
            future for future, work in self._at_work.items()
            if work.seconds > self.timeout and not future.done()
        ]  # fmt: skip

    def close(self) -> None:
        """End all workers without waiting for their batches; defer signals until all have ended."""
        with deferred():
            for worker in self._all:  # all of them clean up at the same time
                worker.terminate()
            for worker in self._all:
                worker.close()
