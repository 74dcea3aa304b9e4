"""Blocks of runs on threads: in chunks, with a time limit, progress, and a clean stop.

Kernels do not hold the GIL, so threads work in parallel. A block is computed in chunks of a few
milliseconds; between two chunks its thread checks whether to stop. The result of a block depends
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

_CHUNK = 1 << 25  # machine words touched
CHUNK_SECONDS = 0.01  # the approximate time of that many words
_LONGEST_CHUNK = 1 << 20  # steps, so that chunks of tiny problems are short, too
_SHORT_ALONE = 8  # with at most this many chunks, no thread is started


def steps_at_once(cost: int) -> int:
    """Return the number of steps of a chunk, if one step touches `cost` machine words."""
    return min(max(1, _CHUNK // max(cost, 1)), _LONGEST_CHUNK)


class RunProgress(NamedTuple):
    """The progress of a solver."""

    fraction: float  # fraction of all sweeps of all runs that are done
    seconds: float  # since the kernels started
    best: Number | None  # lowest energy (or cost) measured so far


class Job(Protocol):
    """The work to be done on each block."""

    engine: Engine
    length: int  # the number of steps of a block
    cost: int  # the cost of a step, see `Engine.cost`

    def start(self, index: int) -> Any:
        """Begin a block; return the state of the work, from which `block` gets the block."""

    def advance(self, work: Any, done: int, until: int) -> int:
        """Do the steps after `done`, up to `until`, or fewer; return the number of steps done."""

    def stop(self, work: Any, done: int) -> None:
        """Finish a block that will not continue."""

    def lowest(self, work: Any) -> Any:
        """Return the lowest energy known, to show progress."""

    def block(self, work: Any) -> LaneBlock:
        """Return the block that holds the results."""


@dataclass
class Log:
    """The results of the runs that were begun."""

    states: SpinArray
    hits: npt.NDArray[np.int32]
    complete: npt.NDArray[np.bool_]
    seconds: float
    stopped: Stopped | None
    share: float  # the fraction done of all steps of the runs that were begun


class Crew:
    """Threads that work on blocks until all are done, or the time is up."""

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
        """Do a job on as many blocks as the runs need."""
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
    """One call of a crew: the blocks, and their results so far."""

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
        """Return whether the work is too short for threads to pay off.

        Ctrl-C is then handled at the end.
        """
        chunks = _SHORT_ALONE if threads == 1 else 1
        return len(self.done) * self.job.length * self.job.cost <= chunks * _CHUNK

    def hands(self, threads: int) -> int:
        """Return the number of threads that have something to do."""
        return min(threads, len(self.done))

    def do_blocks(self) -> None:
        """Do one block after another, while there are blocks and time.

        All threads take from the same iterator: a separate task for each of millions of blocks
        would take far longer to set up than a time limit allows.
        """
        for index in self.left:
            if self.time_is_up() and index > 0:
                return
            self.do_block(index)

    def do_block(self, index: int) -> None:
        """Do all chunks of one block. The very first chunk is done even without any time."""
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
        """Return whether to stop at the end of the chunk."""
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
        """Return the results of the runs that were begun."""
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
    """Allocate the states and hits of all runs."""
    try:
        return np.empty((runs, spins), np.int8), np.zeros(runs, np.int32)
    except (MemoryError, ValueError):  # ValueError above 2^63 bytes
        raise MemoryError(
            f"not enough memory for the states of {runs} runs, a byte per spin; use fewer runs"
        ) from None
