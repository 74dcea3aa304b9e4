"""The collector of a study: it runs tasks on any workers, stores rows, and resumes after a stop.

The coordinator splits the missing instances into batches, gives them to an executor and stores the
results, one transaction per batch. A row depends only on its task and index, never on workers,
batches, order or restarts. So a study ends with the same table, however it was run and interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glasshouse.problems import validation
from glasshouse.stopping import deferred
from glasshouse.store.batches import Batch, Queue
from glasshouse.store.row_types import Columns, Measurable
from glasshouse.store.store import Store
from glasshouse.store.workers import Workers
from glasshouse.summaries import Summarised
from glasshouse.waiting import cancel_all, result_of, submit, wait_briefly

# A batch is tried this many times before it is reported as lost.
ATTEMPTS = 3
# Collecting stops if this many workers die before any row is measured.
_HOPELESS = 2 * ATTEMPTS
# Long enough to make the cost of a work item negligible, short enough to lose little.
BATCH_SECONDS = 1.0
# Executors that do not report their number of workers get batches for this many workers.
_UNKNOWN_WORKERS = 32


@dataclass(frozen=True, repr=False)
class Lost(Summarised):
    """A batch that failed in its last attempt, or that failed once and was queued again.

    Attributes:
        task_id: the id of its task.
        first: the first instance of the batch.
        count: the number of instances.
        error: the last error, as text.
    """

    task_id: str
    first: int
    count: int
    error: str


@dataclass(frozen=True, repr=False)
class StudyProgress(Summarised):
    """The progress of a study, reported after every batch.

    Attributes:
        rows: instances in the store, of those that the stop rules request.
        goal: the most instances needed (stop rules on precision may need fewer).
        tasks_done: tasks that need no more instances.
        tasks: the number of tasks.
        new_rows: instances measured by this run.
        seconds: seconds since this run began.
        remaining_seconds: estimate of the remaining time; None before the first batch.
        lost: batches that failed in all attempts; the next run tries them again.
        is_reproducible: False if a stop rule on time ended a task.
        retried: batches that failed and were started again, once per failure.
    """

    rows: int
    goal: int
    tasks_done: int
    tasks: int
    new_rows: int
    seconds: float
    remaining_seconds: float | None
    lost: tuple[Lost, ...]
    is_reproducible: bool
    retried: tuple[Lost, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether all tasks are done and no batch was lost."""
        return self.tasks_done == self.tasks and not self.lost


def collect(
    tasks: Iterable[Measurable],
    store: str | Path,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    timeout: float = 3600.0,
) -> StudyProgress:
    """Run a study to its end; the arguments are those of `iter_collect`.

    >>> from glasshouse.store import Stop
    >>> from glasshouse.studies import Task
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> family = {"n": 10, "frustration": 0.1, "loop_density": 0.5}
    >>> task = Task("random_loops", family, stop=Stop(instances=20), seed=1)
    >>> end = collect([task], Path(folder.name) / "tiny.sqlite")
    >>> end.rows, end.is_complete
    (20, True)
    >>> folder.cleanup()
    """
    for progress in iter_collect(tasks, store, executor=executor, workers=workers, timeout=timeout):
        last = progress
    return last


def iter_collect(
    tasks: Iterable[Measurable],
    store: str | Path,
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    timeout: float = 3600.0,
    cores: int | None = None,
) -> Iterator[StudyProgress]:
    """Run a study, and yield its progress after every batch.

    Instances that are already in the store are not measured again. Closing the iterator, Ctrl-C or
    a kill only lose the batches that are being measured.

    Args:
        tasks: the tasks to measure.
        store: the file of the store; created if it does not exist.
        executor: any `concurrent.futures.Executor` to run batches on, for example
            `dask.distributed.Client(…).get_executor()`; None runs them in this process.
        workers: instead of an executor, the number of worker processes to start; a worker that dies
            or hangs is replaced, and the others continue undisturbed.
        timeout: a batch on these workers hangs if it takes more than this many seconds after its
            worker reported its start. On an executor, batches have no time limit.
        cores: pin each of these workers to this many cores, which no other worker uses; None pins
            none of them.

    Yields:
        StudyProgress, at least once: the first shows what was already stored.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> parameters = {"n": 6, "frustration": "1/5", "loops": 4}
    >>> from glasshouse.store import Stop
    >>> from glasshouse.studies import Task
    >>> tasks = [Task("random_loops", parameters, stop=Stop(3), seed=1)]
    >>> for progress in iter_collect(tasks, Path(folder.name) / "study.sqlite"):
    ...     pass
    >>> progress.rows, progress.is_complete
    (3, True)
    >>> folder.cleanup()
    """
    if executor is not None and workers is not None:
        raise ValueError("both executor and workers are given; pass at most one of them")
    tasks = list(tasks)
    if len({task.task_id for task in tasks}) < len(tasks):
        raise ValueError("the study has the same task twice; remove one")
    with Store(store, write=True) as opened:
        queue = Queue(tasks, opened, BATCH_SECONDS)
        if workers is not None:
            with closing(Workers(workers, timeout, cores=cores)) as ours:
                yield from _Collector(queue, opened, ours, workers).run()
        elif executor is not None:
            depth = 2 * (getattr(executor, "_max_workers", None) or _UNKNOWN_WORKERS)
            yield from _Collector(queue, opened, executor, depth).run()
        else:
            yield from _Collector(queue, opened, _Here(), 1).run()


def measure(task: Measurable, first: int, count: int) -> Columns:
    """Measure a batch in a worker."""
    return task.measure(first, count)


class _Here:
    """An executor that does the work at once, in this process."""

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future


class _Collector:
    """One run of `iter_collect`: it submits batches and stores rows."""

    def __init__(self, queue: Queue, store: Store, executor: Any, depth: int) -> None:
        self._queue = queue
        self._store = store
        self._workers = executor if isinstance(executor, Workers) else None
        self._executor = executor
        self._depth = validation.count(depth, "depth", 1)
        self._running: dict[Future[Any], Batch] = {}
        self._retried: list[Lost] = []
        self._lost: list[Lost] = []
        self._deaths = 0
        self._begin = time.monotonic()
        self._new_rows = 0

    def run(self) -> Iterator[StudyProgress]:
        """Run until nothing is left to do; yield the progress after every batch."""
        yield self._progress()
        try:
            while self._submit() or self._running:
                done, _ = wait_briefly(self._running)
                with deferred():
                    ended = self._ended(done)
                for batch, future, error in ended:
                    self._receive(batch, future, error)
                    yield self._progress()
        finally:
            if self._workers is None:  # the caller ends our own workers
                cancel_all(self._running)

    def _submit(self) -> bool:
        """Submit batches to keep the executor busy."""
        while len(self._running) < self._depth:
            batch = self._queue.next()
            if batch is None:
                break
            self._running[self._future_of(batch)] = batch
        return bool(self._running)

    def _future_of(self, batch: Batch) -> Future[Any]:
        try:
            future = submit(self._executor, measure, batch.task, batch.first, batch.count)
        except RuntimeError as error:  # BrokenExecutor is a RuntimeError, too
            raise RuntimeError(
                f"the executor accepts no more work ({error}); measured rows are stored; run "
                "again with a new executor"
            ) from error
        return future

    def _ended(
        self, done: Iterable[Future[Any]]
    ) -> list[tuple[Batch, Future[Any], BaseException | None]]:
        """Return the batches that are done or hung, each with its error (None for success)."""
        ended = [(self._running.pop(future), future, _error_of(future)) for future in done]
        if self._workers is not None:
            late = TimeoutError(f"no answer within {self._workers.timeout:g} s")
            ended += [(self._running.pop(future), future, late) for future in self._workers.hung()]
            for _, future, _ in ended:
                self._workers.release(future)
            self._submit()  # at once, so that workers do not wait until the rows are stored
        return ended

    def _receive(self, batch: Batch, future: Future[Any], error: BaseException | None) -> None:
        """Store the rows of a batch, or retry the batch if it failed."""
        if error is None:
            rows = result_of(future)
            self._store.add_batch(batch.stored, batch.first, rows)
            self._queue.finish(batch, float(rows["seconds"].sum()))
            self._new_rows += batch.count
            return
        if isinstance(error, BrokenExecutor) and self._workers is not None:
            self._count_death(error)
        self._retry(batch, error)

    def _count_death(self, error: BaseException) -> None:
        """Raise if workers keep dying before any batch has been measured."""
        self._deaths += 1
        if self._deaths >= _HOPELESS and not self._new_rows:
            raise RuntimeError(
                "workers die before they measure anything; a script that uses workers needs "
                '`if __name__ == "__main__":` around its calls (each worker runs the script)'
            ) from error

    def _retry(self, batch: Batch, error: BaseException) -> None:
        batch = batch.failed()
        text = " ".join(f"{type(error).__name__}: {error}".split())
        failure = Lost(batch.stored.task_id, batch.first, batch.count, text)
        # A user's function would fail in the same way again, after just as much time.
        attempts = 1 if batch.count == 1 and getattr(batch.task, "functions", None) else ATTEMPTS
        if batch.attempts < attempts:
            self._retried.append(failure)
            for one in batch.single():  # one bad instance must not take others with it
                self._queue.put_back(one)
        else:
            self._lost.append(failure)

    def _progress(self) -> StudyProgress:
        elapsed = time.monotonic() - self._begin
        sums = self._queue.sums
        return StudyProgress(
            rows=sums.rows,
            goal=sums.rows + sums.left,
            tasks_done=sums.finished,
            tasks=len(self._queue.tasks),
            new_rows=self._new_rows,
            seconds=elapsed,
            remaining_seconds=self._queue.remaining_seconds(elapsed),
            lost=tuple(self._lost),
            is_reproducible=not sums.out_of_time,
            retried=tuple(self._retried),
        )


def _error_of(future: Future[Any]) -> BaseException | None:
    """Return the error of a batch that has ended, or None if the batch succeeded."""
    if future.cancelled():  # such a future raises on `exception()`
        return RuntimeError("cancelled by the executor")
    return future.exception()
