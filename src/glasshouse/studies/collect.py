"""Collecting: run the tasks of a study, anywhere, into a store, and start again where it stopped.

The coordinator cuts what is missing into batches, gives them to an executor and stores what comes
back, one transaction per batch. A row depends on its task and index only, never on workers,
batches, order or restarts: however a study was run and interrupted, it ends with the same table.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from glasshouse.pool import WorkerPool
from glasshouse.problems import validation
from glasshouse.studies.batches import Batch, Queue
from glasshouse.studies.kinds.kind import Columns, Measurable
from glasshouse.studies.store.store import Store
from glasshouse.summaries import Summarised

# A batch is tried so often before it is reported as lost.
ATTEMPTS = 3
# A pool that breaks so often without a single row will never work.
_HOPELESS = 2 * ATTEMPTS
# Long enough that the cost of a work item does not matter, short enough that little is lost.
BATCH_SECONDS = 1.0
# Executors that do not tell how many workers they have get work for so many.
_UNKNOWN_WORKERS = 32
# How often the coordinator looks whether a batch has started or hangs.
_LOOK_SECONDS = 0.5


@dataclass(frozen=True, repr=False)
class Lost(Summarised):
    """A batch that failed every time it was tried; the next run tries it again.

    Attributes:
        task_id: of which task.
        first: its first instance.
        count: how many instances.
        error: what happened last.
    """

    task_id: str
    first: int
    count: int
    error: str


@dataclass(frozen=True, repr=False)
class StudyProgress(Summarised):
    """How far a study is; one is made after every batch.

    Attributes:
        rows: instances in the store, of those the stop rules ask for.
        goal: instances needed at most (stop rules on precision may need fewer).
        tasks_done: tasks that need no more.
        tasks: all of them.
        new_rows: instances measured by this run.
        seconds: since this run began.
        remaining_seconds: estimate of what is left, None before the first batch.
        lost: batches that failed every time.
        is_reproducible: False when a stop rule on time ended a task.
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

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do and nothing was lost."""
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

    >>> from glasshouse.studies import Stop, Task
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
) -> Iterator[StudyProgress]:
    """Run a study, yielding its progress after every batch.

    What the store already holds is not measured again. Closing the iterator, Ctrl-C or a kill lose
    the batches that are being measured and nothing else.

    Args:
        tasks: what to measure.
        store: the file of the store; made when it is not there.
        executor: any `concurrent.futures.Executor` to run batches on, for example
            `dask.distributed.Client(…).get_executor()`; None runs them in this process.
        workers: instead of an executor, so many processes of our own; they are started anew when
            one dies or hangs.
        timeout: a batch on our own workers that takes longer than this many seconds hangs.

    Yields:
        StudyProgress, at least once: the first shows what was already there.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> parameters = {"n": 6, "frustration": "1/5", "loops": 4}
    >>> from glasshouse.studies import Stop, Task
    >>> tasks = [Task("random_loops", parameters, stop=Stop(3), seed=1)]
    >>> for progress in iter_collect(tasks, Path(folder.name) / "study.sqlite"):
    ...     pass
    >>> progress.rows, progress.is_complete
    (3, True)
    >>> folder.cleanup()
    """
    if executor is not None and workers is not None:
        raise ValueError("both executor and workers given; give at most one of them")
    tasks = list(tasks)
    if len({task.task_id for task in tasks}) < len(tasks):
        raise ValueError("the study has the same task twice; remove one")
    with Store(store, write=True) as opened:
        queue = Queue(tasks, opened, BATCH_SECONDS)
        if workers is not None:
            with closing(WorkerPool(workers)) as pool:
                yield from _Collector(queue, opened, pool, 2 * workers, timeout).run()
        elif executor is not None:
            depth = 2 * (getattr(executor, "_max_workers", None) or _UNKNOWN_WORKERS)
            yield from _Collector(queue, opened, executor, depth, None).run()
        else:
            yield from _Collector(queue, opened, None, 1, None).run()


def measure(task: Measurable, first: int, count: int) -> Columns:
    """What a worker does."""
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
    """One run of `iter_collect`: batches out, rows in."""

    def __init__(
        self, queue: Queue, store: Store, executor: Any, depth: int, timeout: float | None
    ) -> None:
        self._queue = queue
        self._store = store
        self._pool = executor if isinstance(executor, WorkerPool) else None
        self._executor = _Here() if executor is None else executor
        self._depth = validation.count(depth, "depth", 1)
        self._timeout = timeout
        self._running: dict[Future[Any], Batch] = {}
        self._started: dict[Future[Any], float] = {}
        self._suspects: list[Batch] = []  # were running when the pool broke; tried one at a time
        self._lost: list[Lost] = []
        self._breaks = 0
        self._begin = time.monotonic()
        self._new_rows = 0

    def run(self) -> Iterator[StudyProgress]:
        """Until nothing is left to do; progress after every batch."""
        yield self._progress()
        try:
            while self._submit() or self._running:
                done, _ = wait(self._running, _LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for future in done:
                    if future in self._running:  # else its pool broke with another one
                        yield from self._receive(future)
                self._look_for_hangs()
        finally:
            if self._pool is None:  # our own workers are ended by whoever started them
                for future in self._running:
                    future.cancel()

    def _submit(self) -> bool:
        """Keep the executor busy; suspects run alone, so that it is clear who breaks the pool."""
        if self._suspects:
            if not self._running:
                self._start(self._suspects.pop(0))
            return True
        while len(self._running) < self._depth:
            batch = self._queue.next()
            if batch is None:
                break
            self._start(batch)
        return bool(self._running)

    def _start(self, batch: Batch) -> None:
        try:
            future = self._executor.submit(measure, batch.task, batch.first, batch.count)
        except (BrokenExecutor, RuntimeError) as error:
            if self._pool is None:
                raise RuntimeError(
                    f"the executor takes no more work ({error}); what was measured is stored: run "
                    "again with a new one"
                ) from error
            self._pool.rebuild()
            future = self._pool.submit(measure, batch.task, batch.first, batch.count)
        self._running[future] = batch

    def _receive(self, future: Future[Any]) -> Iterator[StudyProgress]:
        batch = self._running.pop(future)
        self._started.pop(future, None)
        # A cancelled future raises on `exception()`; an executor cancels what it gave up.
        cancelled = RuntimeError("cancelled by the executor") if future.cancelled() else None
        error = cancelled or future.exception()
        if error is None:
            rows = future.result()
            self._store.add_batch(batch.stored, batch.first, rows)
            self._queue.finish(batch, float(rows["seconds"].sum()))
            self._new_rows += batch.count
        elif isinstance(error, BrokenExecutor) and self._pool is not None:
            self._pool_broke([batch], error)
        else:
            self._retry(batch, error)
        yield self._progress()

    def _pool_broke(self, batches: list[Batch], error: BaseException) -> None:
        """Start new workers; of all that was running, only a batch that was alone is to blame."""
        assert self._pool is not None
        self._breaks += 1
        if self._breaks >= _HOPELESS and not self._new_rows:
            raise RuntimeError(
                "workers die before they measure anything; a script that uses workers needs "
                '`if __name__ == "__main__":` around its calls (Python starts it anew in each)'
            ) from error
        others = list(self._running.values())
        self._running.clear()
        self._started.clear()
        self._pool.rebuild()
        if others or len(batches) > 1:
            self._suspects += sorted([*batches, *others], key=lambda b: (b.position, b.first))
        else:
            self._retry(batches[0], error, alone=True)

    def _retry(self, batch: Batch, error: BaseException, alone: bool = False) -> None:
        batch = batch.failed()
        if batch.attempts < ATTEMPTS:
            if alone:
                self._suspects.insert(0, batch)
            else:
                self._queue.put_back(batch)
            return
        text = " ".join(f"{type(error).__name__}: {error}".split())
        self._lost.append(Lost(batch.stored.task_id, batch.first, batch.count, text))

    def _look_for_hangs(self) -> None:
        if self._pool is None or self._timeout is None:
            return
        now = time.monotonic()
        for future in self._running:
            if future.running():
                self._started.setdefault(future, now)
        hung = [f for f, at in self._started.items() if now - at > self._timeout and not f.done()]
        if hung:
            batches = [self._running.pop(future) for future in hung]
            error = TimeoutError(f"no answer within {self._timeout:g} s")
            self._pool_broke(batches, error)

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
        )
