"""Threads that process blocks of runs, with a time limit, progress reports and a clean stop.

Kernels release the GIL, so threads work in parallel. A block is processed in chunks of a few
milliseconds; between two chunks, its thread checks whether to stop. The result of a block depends
only on its index, never on the thread or the chunks.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import is_ctrl_c
from glasshouse.problems import Number, SpinArray, validation
from glasshouse.solvers.engine import Engine
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.result import Stopped
from glasshouse.solvers.spin_form import SpinForm
from glasshouse.stopping import deferred, working_time
from glasshouse.waiting import wait_briefly

_CHUNK = 1 << 25  # machine words that a chunk accesses
CHUNK_SECONDS = 0.01  # the approximate time of a chunk
_LONGEST_CHUNK = 1 << 20  # steps, so that chunks of tiny problems are short, too
_SHORT_ALONE = 8  # with at most this many chunks, no thread is started


def steps_at_once(cost: int) -> int:
    """Return the number of steps per chunk, given that one step accesses `cost` machine words."""
    return min(max(1, _CHUNK // max(cost, 1)), _LONGEST_CHUNK)


class RunProgress(NamedTuple):
    """The progress of a solver: the fraction done, the time, and the lowest energy so far."""

    fraction: float  # fraction of all sweeps of all runs that are done
    seconds: float  # since the kernels started
    best: Number | None  # lowest energy (or cost) measured so far


class Job(Protocol):
    """The interface of the work that a `Crew` does on each block of runs."""

    engine: Engine
    length: int  # the number of steps of a block
    cost: int  # the cost of a step, see `Engine.cost`

    def start(self, index: int) -> Any:
        """Start block `index`, and return the object that all other methods take as `work`."""

    def advance(self, work: Any, done: int, until: int) -> int:
        """Do steps `done` + 1 to `until`, or fewer; return the total number of steps done."""

    def stop(self, work: Any, done: int) -> None:
        """Record the results of a block that is stopped after `done` steps."""

    def lowest(self, work: Any) -> Any:
        """Return the lowest energy of a block so far, for progress reports."""

    def block(self, work: Any) -> LaneBlock:
        """Return the block of runs that contains the results."""


@dataclass
class Log:
    """The results of all runs that a `Crew` has started."""

    states: SpinArray
    hits: npt.NDArray[np.int32]
    complete: npt.NDArray[np.bool_]
    seconds: float
    stopped: Stopped | None
    share: float  # the fraction done of all steps of the runs that were begun


class Crew:
    """Threads that process blocks of runs until all blocks are done or time runs out."""

    def __init__(
        self,
        threads: int,
        time_limit: float | None,
        progress: Callable[[RunProgress], None] | None,
        interrupt: Callable[[], bool] | None = None,
    ) -> None:
        self.threads, self.progress, self.interrupt = threads, progress, interrupt
        self.time_limit = validation.time_limit(time_limit)

    def work(self, job: Job, runs: int, form: SpinForm) -> Log:
        """Process all blocks of a job with `runs` runs, and return the results."""
        shift = _Shift(job, runs, form, self.time_limit, self.progress is not None)
        stopped: Stopped | None = None
        if shift.is_short(self.threads) and not self.progress and not self.interrupt:
            try:
                shift.do_blocks()
            except (KeyboardInterrupt, SystemError) as stop:
                if not is_ctrl_c(stop):
                    raise
                stopped = "interrupted"  # repeating everything takes only milliseconds
                shift = _Shift(job, runs, form, self.time_limit, False)
                shift.do_blocks()
            return shift.log(stopped)
        futures = list[Future[None]]()
        with ThreadPoolExecutor(self.threads) as pool:
            try:
                with deferred():
                    for _ in range(shift.hands(self.threads)):
                        futures.append(pool.submit(shift.do_blocks))
                pending: Any = futures
                while pending:
                    finished, pending = wait_briefly(futures, FIRST_EXCEPTION)
                    with deferred():
                        has_failed = any(future.exception() for future in finished)
                    if has_failed:
                        break
                    if self.progress:
                        self.progress(shift.progress())
                    if self.interrupt and pending and self.interrupt():
                        stopped = "interrupt function"
                        break
            except KeyboardInterrupt:
                stopped = "interrupted"
            finally:
                with deferred():
                    shift.stop.set()  # in any case, no thread may begin a new block
        with deferred():
            for future in futures:
                future.result()
        return shift.log(stopped)


class _Shift:
    """The state of one `Crew.work` call: its blocks, and the results so far."""

    def __init__(
        self, job: Job, runs: int, form: SpinForm, time_limit: float | None, shows_progress: bool
    ) -> None:
        self.job, self.engine, self.shows_progress = job, job.engine, shows_progress
        self.form = form
        self.first = job.start(0)
        job.advance(self.first, 0, 0)  # compiles, if needed, before the clock starts
        self.began = time.perf_counter()
        self.deadline = math.inf if time_limit is None else working_time() + time_limit
        self.stop = threading.Event()
        self.chunk = steps_at_once(job.cost)
        self.states, self.hits = _room(runs, form.ising.num_variables)
        blocks = -(-runs // self.engine.lanes)
        self.left = iter(range(blocks))  # each free thread takes the next block
        self.done = [0] * blocks
        self.lowest: list[Any] = [math.inf] * blocks
        self.ended = [False] * blocks
        self.spans = [(math.inf, -math.inf)] * blocks

    def is_short(self, threads: int) -> bool:
        """Return whether the work is too short for extra threads to be useful.

        Ctrl-C is then handled at the end.
        """
        chunks = _SHORT_ALONE if threads == 1 else 1
        return len(self.done) * self.job.length * self.job.cost <= chunks * _CHUNK

    def hands(self, threads: int) -> int:
        """Return the number of threads to start: at most one thread per block."""
        return min(threads, len(self.done))

    def do_blocks(self) -> None:
        """Process blocks one by one, until no block or no time is left.

        All threads take from the same iterator: a separate task for each of millions of blocks
        would take far longer to set up than a time limit allows.
        """
        for index in self.left:
            if self.time_is_up() and index > 0:
                return
            self.do_block(index)

    def do_block(self, index: int) -> None:
        """Process a block in chunks until time runs out, but always process the first chunk."""
        work = self.job.start(index) if index else self.first
        done, began = 0, time.perf_counter()
        while not self.ended[index] and not (done and self.time_is_up()):
            until = min(done + self.chunk, self.job.length)
            done = self.job.advance(work, done, until)
            self.done[index] = done
            self.ended[index] = done < until or until == self.job.length
            if self.shows_progress:
                self.lowest[index] = self.job.lowest(work)
        self.spans[index] = began, time.perf_counter()
        if not self.ended[index]:
            self.job.stop(work, done)
        first = index * self.engine.lanes
        rows = slice(first, min(first + self.engine.lanes, len(self.hits)))
        block = self.job.block(work)
        self.engine.states(block, self.states[rows])
        self.hits[rows] = block.hits[: rows.stop - rows.start]

    def time_is_up(self) -> bool:
        """Return whether work must stop at the end of the current chunk."""
        return self.stop.is_set() or working_time() > self.deadline

    def progress(self) -> RunProgress:
        """Return the progress of all blocks together."""
        parts = [
            1.0 if ended else done / self.job.length
            for done, ended in zip(self.done, self.ended, strict=True)
        ]
        lowest = min(self.lowest)
        best = None if lowest == math.inf else self.form.own_energy(lowest.item())
        return RunProgress(sum(parts) / len(parts), time.perf_counter() - self.began, best)

    def log(self, stopped: Stopped | None) -> Log:
        """Return the results of all runs that were started, or raise if there are none."""
        worked_on = [index for index, done in enumerate(self.done) if done]
        if not worked_on:
            raise KeyboardInterrupt
        # The time of the kernels only: in short runs, starting threads would be most of it.
        begins, ends = zip(*(self.spans[index] for index in worked_on), strict=True)
        seconds = max(max(ends) - min(begins), 0.0)
        lanes, runs = self.engine.lanes, len(self.hits)
        begun = np.repeat(np.array(self.done) > 0, lanes)[:runs]
        ended = np.repeat(self.ended, lanes)[:runs]
        # Ctrl-C counts even if it came too late to stop anything: the caller must handle it.
        if stopped is None and not ended.all():
            stopped = "time limit"
        share = sum(self.done) / (len(worked_on) * self.job.length)
        if begun.all():  # avoids a copy, which may be large
            return Log(self.states, self.hits, ended, seconds, stopped, share)
        return Log(self.states[begun], self.hits[begun], ended[begun], seconds, stopped, share)


def _room(runs: int, spins: int) -> tuple[SpinArray, npt.NDArray[np.int32]]:
    """Allocate the arrays for the states and the hits of all runs."""
    try:
        return np.empty((runs, spins), np.int8), np.zeros(runs, np.int32)
    except (MemoryError, ValueError):  # ValueError above 2^63 bytes
        raise MemoryError(
            f"not enough memory for the states of {runs} runs, at one byte per spin; use fewer runs"
        ) from None
