"""The queue of instances that must still be measured, in batches of about one second."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from glasshouse.statistics.estimators import statistic
from glasshouse.store.ranges import Ranges
from glasshouse.store.row_types import SAMPLED, Measurable, Stop
from glasshouse.store.store import Store, StoredTask

# A batch is at most this many times as large as the task's earlier batches suggest.
_GROWTH = 4
_LARGEST = 20_000
# The first batch of a task assumes the cost of the previous task, times this factor.
_CAUTION = 10


@dataclass(frozen=True)
class Batch:
    """A range of instances of one task, and the number of failed attempts to measure them.

    Attributes:
        position: the index of its task in the study.
        task: the task to measure.
        stored: the task as it is in the store.
        first: the first instance.
        count: the number of instances.
        attempts: the number of failures so far.
    """

    position: int
    task: Measurable
    stored: StoredTask
    first: int
    count: int
    attempts: int = 0

    def failed(self) -> Batch:
        """Return a copy of the batch with one more failed attempt."""
        return replace(self, attempts=self.attempts + 1)

    def single(self) -> list[Batch]:
        """Return one batch for each instance of this batch."""
        return [replace(self, first=self.first + k, count=1) for k in range(self.count)]


class _Line:
    """A task in the queue, with its measured instances, its pending batches and its costs."""

    def __init__(self, task: Measurable, stored: StoredTask, done: Ranges, seconds: float) -> None:
        self.task, self.stored = task, stored
        self.done = done
        self.seconds = seconds  # computing time of the stored instances
        self.handed_out = Ranges()
        self.checkpoints = iter(task.stop.checkpoints())
        self.target = next(self.checkpoints)
        self.is_finished = False
        self.is_out_of_time = False
        self.recent_cost = self.cost  # cost in the newest batch
        self.largest = _GROWTH * max(1, len(done))

    def gap(self) -> tuple[int, int] | None:
        """Return the first range of instances not yet given to a worker; None if there is none."""
        busy = Ranges.union([*self.done, *self.handed_out])
        return next(iter(busy.missing(self.target)), None)

    @property
    def cost(self) -> float | None:
        """The mean seconds per instance; None if no instance was measured."""
        return self.seconds / len(self.done) if len(self.done) else None

    def tally(self) -> Tally:
        """Return this task's contribution to the progress sums."""
        missing = len(self.done.missing(self.task.stop.instances))
        left = 0 if self.is_finished else missing
        cost = self.cost
        return Tally(
            rows=self.task.stop.instances - missing,
            left=left,
            finished=int(self.is_finished),
            out_of_time=int(self.is_out_of_time),
            seconds=self.seconds,
            costs=cost or 0.0,
            costs_known=int(cost is not None),
            seconds_left=left * (cost or 0.0),
            left_unknown=left if cost is None else 0,
        )


class Tally(NamedTuple):
    """Sums over all tasks, updated task by task, because a study may have thousands of tasks."""

    rows: int = 0
    left: int = 0
    finished: int = 0
    out_of_time: int = 0
    seconds: float = 0.0
    costs: float = 0.0
    costs_known: int = 0
    seconds_left: float = 0.0
    left_unknown: int = 0

    def changed(self, before: Tally, after: Tally) -> Tally:
        """Return the sums after the contribution of one task has changed."""
        return Tally._make(s - b + a for s, b, a in zip(self, before, after, strict=True))


class Queue:
    """The queue of one run's tasks; it yields batches, and decides when a task has enough rows.

    Args:
        tasks: the tasks of the study.
        store: the store of their rows.
        batch_seconds: the target duration of a batch.
    """

    def __init__(self, tasks: Iterable[Measurable], store: Store, batch_seconds: float) -> None:
        self.tasks = list(tasks)
        self._store = store
        self._batch_seconds = batch_seconds
        stored = store.add_tasks(self.tasks)
        spent = {status.task.number: status.seconds for status in store.status()}
        self._lines = [
            _Line(task, known, store.done(known), spent[known.number])
            for task, known in zip(self.tasks, stored, strict=True)
        ]
        self._newest_cost: float | None = None
        self._again: deque[Batch] = deque()
        self._earlier_seconds = sum(line.seconds for line in self._lines)
        for line in self._lines:
            self._decide(line)
        store.mark_finished(line.stored for line in self._lines if line.is_finished)
        self._open = deque(k for k, line in enumerate(self._lines) if not line.is_finished)
        self._sums = Tally()
        for line in self._lines:
            self._sums = self._sums.changed(Tally(), line.tally())

    def next(self) -> Batch | None:
        """Return a batch to measure, or None if there is nothing to do now."""
        if self._again:
            return self._again.popleft()
        while self._open and self._lines[self._open[0]].is_finished:
            self._open.popleft()
        for position in self._open:
            line = self._lines[position]
            gap = None if line.is_finished else line.gap()
            if gap is not None:
                first, end = gap
                count = min(end - first, self._batch_size(line))
                line.handed_out = line.handed_out.with_part(first, first + count)
                return Batch(position, line.task, line.stored, first, count)
        return None

    def _batch_size(self, line: _Line) -> int:
        """Return how many instances fill a batch's target duration; few if costs are unknown."""
        if line.recent_cost is not None:
            wanted, most = self._batch_seconds / max(line.recent_cost, 1e-9), line.largest
        elif self._newest_cost is not None:
            wanted, most = self._batch_seconds / (_CAUTION * max(self._newest_cost, 1e-9)), 1000
        else:
            return 1
        return max(1, min(int(wanted), most, _LARGEST))

    def put_back(self, batch: Batch) -> None:
        """Take back a failed batch, so that it is tried again."""
        self._again.append(batch)

    def finish(self, batch: Batch, seconds: float) -> None:
        """Record a batch whose rows are in the store."""
        line = self._lines[batch.position]
        before = line.tally()
        line.done = line.done.with_part(batch.first, batch.first + batch.count)
        line.seconds += seconds
        line.recent_cost = self._newest_cost = seconds / batch.count
        line.largest = max(line.largest, _GROWTH * batch.count)
        self._decide(line)
        self._sums = self._sums.changed(before, line.tally())
        if line.is_finished:
            self._store.mark_finished([line.stored])

    def _decide(self, line: _Line) -> None:
        """Increase the task's target number of instances, or end the task."""
        stop = line.task.stop
        if stop.seconds is not None and line.seconds >= stop.seconds and not line.is_finished:
            line.is_finished = True
            line.is_out_of_time = line.done.prefix < stop.instances
        while not line.is_finished and line.done.prefix >= line.target:
            if self._is_enough(line, stop):
                line.is_finished = True
            else:
                line.target = next(line.checkpoints)

    def _is_enough(self, line: _Line, stop: Stop) -> bool:
        """Whether the first instances, up to the target, satisfy the stop rule."""
        if line.target >= stop.instances:
            return True
        assert stop.relative_error is not None
        kind = SAMPLED[line.task.kind.name]
        sample = kind.sample(self._store.rows(line.stored, kind.sampled, below=line.target))
        if not sample.solved.any():
            return False
        estimate = statistic(sample, stop.statistic, stop.confidence)
        return estimate.relative_error <= stop.relative_error

    @property
    def sums(self) -> Tally:
        """Return the progress sums over all tasks."""
        return self._sums

    def remaining_seconds(self, elapsed: float) -> float | None:
        """Estimate the remaining time from the costs so far and the observed parallelism."""
        sums = self._sums
        fresh = sums.seconds - self._earlier_seconds
        if fresh <= 0 or elapsed <= 0 or not sums.costs_known:
            return None
        if not sums.left:
            return 0.0  # exactly, because sums of floats leave a remainder
        usual = sums.costs / sums.costs_known
        return (sums.seconds_left + usual * sums.left_unknown) * elapsed / fresh
