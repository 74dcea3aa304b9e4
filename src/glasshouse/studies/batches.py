"""What to measure next: missing instances, cut into batches that take about a second."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace

from glasshouse.studies.kinds import Measurable, Stop
from glasshouse.studies.ranges import Ranges
from glasshouse.studies.samples import Sample
from glasshouse.studies.statistics import statistic
from glasshouse.studies.store import Store, StoredTask

# A batch grows at most this much beyond what its task's batches so far suggest.
_GROWTH = 4
_LARGEST = 20_000
# The first batch of a task takes its costs for those of the task before, times this.
_CAUTION = 10


@dataclass(frozen=True)
class Batch:
    """A range of instances of one task, and how often it has failed.

    Attributes:
        position: of its task in the study.
        task: what to measure.
        stored: the task as the store knows it.
        first: first instance.
        count: how many.
        attempts: failures so far.
    """

    position: int
    task: Measurable
    stored: StoredTask
    first: int
    count: int
    attempts: int = 0

    def failed(self) -> Batch:
        """The same batch with one more failure."""
        return replace(self, attempts=self.attempts + 1)


class _Line:
    """One task's place in the queue: what is there, what is asked for, what it costs."""

    def __init__(self, task: Measurable, stored: StoredTask, done: Ranges, seconds: float) -> None:
        self.task, self.stored = task, stored
        self.done = done
        self.seconds = seconds  # computing time of what is there
        self.handed_out = Ranges()
        self.checkpoints = iter(task.stop.checkpoints())
        self.target = next(self.checkpoints)
        self.is_finished = False
        self.is_out_of_time = False
        self.recent_cost = self.cost  # of the newest batch: the first ones may include compiling
        self.largest = _GROWTH * max(1, len(done))

    def gap(self) -> tuple[int, int] | None:
        """The first instances that are neither there nor being measured."""
        busy = Ranges.union([*self.done, *self.handed_out])
        return next(iter(busy.missing(self.target)), None)

    @property
    def cost(self) -> float | None:
        """Mean seconds of an instance."""
        return self.seconds / len(self.done) if len(self.done) else None

    def rows_left(self) -> int:
        """Instances up to the most that the stop rule allows."""
        return 0 if self.is_finished else len(self.done.missing(self.task.stop.instances))


class Queue:
    """All tasks of one run, in order: hands out batches and decides when a task has enough.

    Args:
        tasks: of the study.
        store: where their rows are.
        batch_seconds: how long a batch should take.
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

    def next(self) -> Batch | None:
        """A batch to measure, or None when there is nothing to do now."""
        if self._again:
            return self._again.popleft()
        for position, line in enumerate(self._lines):
            gap = None if line.is_finished else line.gap()
            if gap is not None:
                first, end = gap
                count = min(end - first, self._batch_size(line))
                line.handed_out = line.handed_out.with_part(first, first + count)
                return Batch(position, line.task, line.stored, first, count)
        return None

    def _batch_size(self, line: _Line) -> int:
        """Instances for the wanted time; carefully where nothing is known of a task yet."""
        if line.recent_cost is not None:
            wanted, most = self._batch_seconds / max(line.recent_cost, 1e-9), line.largest
        elif self._newest_cost is not None:
            wanted, most = self._batch_seconds / (_CAUTION * max(self._newest_cost, 1e-9)), 1000
        else:
            return 1
        return max(1, min(int(wanted), most, _LARGEST))

    def put_back(self, batch: Batch) -> None:
        """A batch that failed and is to be tried again."""
        self._again.append(batch)

    def finish(self, batch: Batch, seconds: float) -> None:
        """A batch whose rows are in the store."""
        line = self._lines[batch.position]
        line.done = line.done.with_part(batch.first, batch.first + batch.count)
        line.seconds += seconds
        line.recent_cost = self._newest_cost = seconds / batch.count
        line.largest = max(line.largest, _GROWTH * batch.count)
        self._decide(line)
        if line.is_finished:
            self._store.mark_finished([line.stored])

    def _decide(self, line: _Line) -> None:
        """Move the task's target on, or end it."""
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
        rows = self._store.rows(line.stored, ["sweeps", "solved"], below=line.target)
        sample = Sample.of(rows["sweeps"], rows["solved"] != 0)
        if not sample.solved.any():
            return False
        estimate = statistic(sample, stop.statistic, stop.confidence)
        return estimate.relative_error <= stop.relative_error

    @property
    def rows(self) -> int:
        """Instances that are there, of those asked for."""
        return sum(min(len(line.done), line.task.stop.instances) for line in self._lines)

    @property
    def goal(self) -> int:
        """Instances that will be there at the end, at most."""
        return self.rows + sum(line.rows_left() for line in self._lines)

    @property
    def tasks_done(self) -> int:
        """Tasks that need no more."""
        return sum(line.is_finished for line in self._lines)

    @property
    def is_reproducible(self) -> bool:
        """False when time, and not a number, ended a task."""
        return not any(line.is_out_of_time for line in self._lines)

    def remaining_seconds(self, elapsed: float) -> float | None:
        """An estimate from what instances have cost so far and how parallel this run is."""
        spent = sum(line.seconds for line in self._lines)
        fresh = spent - self._earlier_seconds
        known = [line.cost for line in self._lines if line.cost is not None]
        if fresh <= 0 or elapsed <= 0 or not known:
            return None
        usual = sum(known) / len(known)
        left = sum(
            line.rows_left() * (usual if line.cost is None else line.cost) for line in self._lines
        )
        return left * elapsed / fresh
