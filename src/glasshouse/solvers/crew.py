"""Blocks of runs on threads: chunk by chunk, with a time limit, progress, and a clean stop.

Kernels hold no lock, so that threads work at the same time. A block is worked on in chunks of some
milliseconds; between two chunks its thread looks whether to stop. What a block computes depends on
its index alone, never on the thread or the chunks.
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
CHUNK_SECONDS = 0.01  # about what they take
_LONGEST_CHUNK = 1 << 20  # steps: of tiny problems, too, a chunk is soon done
_SHORT_ALONE = 8  # chunks that take no thread of their own


def steps_at_once(cost: int) -> int:
    """Return how many steps a chunk has, if one touches `cost` machine words."""
    return min(max(1, _CHUNK // max(cost, 1)), _LONGEST_CHUNK)


class RunProgress(NamedTuple):
    """How far a solver is."""

    fraction: float  # of all sweeps of all runs
    seconds: float  # since the kernels started
    best: Number | None  # lowest energy (or cost) met so far where it was looked at


class Job(Protocol):
    """What is done with a block."""

    engine: Engine
    length: int  # steps of a block
    cost: int  # of a step, as `Engine.cost`

    def start(self, index: int) -> Any:
        """Begin a block: whatever `advance` needs, with the block as its `block`."""

    def advance(self, work: Any, done: int, until: int) -> int:
        """Do the steps after `done`, up to `until`; fewer if the block needs no more."""

    def stop(self, work: Any, done: int) -> None:
        """Take account of a block that will not be carried on."""

    def lowest(self, work: Any) -> Any:
        """The lowest energy known or at hand, for showing progress."""

    def block(self, work: Any) -> LaneBlock:
        """The block that holds the results."""


@dataclass
class Log:
    """What came of the runs that were begun."""

    states: SpinArray
    hits: npt.NDArray[np.int32]
    complete: npt.NDArray[np.bool_]
    seconds: float
    stopped: Stopped | None
    share: float  # of all steps of the runs that were begun


class Crew:
    """Threads that work on blocks until all is done, or time is up."""

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
        """Carry out a job on as many blocks as the runs need."""
        shift = _Shift(job, runs, form, self.time_limit, self.progress is not None)
        stopped: Stopped | None = None
        if shift.is_short(self.threads) and not self.progress and not self.interrupt:
            try:
                shift.do_blocks()
            except (KeyboardInterrupt, SystemError) as stop:
                if not is_ctrl_c(stop):
                    raise
                stopped = "interrupted"  # wherever it came: all of it anew takes milliseconds
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
                    shift.stop.set()  # whatever happened, no thread begins anything new
        with deferred():
            for future in futures:
                future.result()
        return shift.log(stopped)


class _Shift:
    """One piece of work of a crew: the blocks, and what is known about them."""

    def __init__(
        self, job: Job, runs: int, form: SpinForm, time_limit: float | None, shows_progress: bool
    ) -> None:
        self.job, self.engine, self.shows_progress = job, job.engine, shows_progress
        self.form = form
        self.first = job.start(0)
        job.advance(self.first, 0, 0)  # compiles what is not compiled yet, before the clock runs
        self.began = time.perf_counter()
        self.deadline = math.inf if time_limit is None else working_time() + time_limit
        self.stop = threading.Event()
        self.chunk = steps_at_once(job.cost)
        self.states, self.hits = _room(runs, form.ising.num_variables)
        blocks = -(-runs // self.engine.lanes)
        self.left = iter(range(blocks))  # whoever is free takes the next one
        self.done = [0] * blocks
        self.lowest: list[Any] = [math.inf] * blocks
        self.ended = [False] * blocks
        self.spans = [(math.inf, -math.inf)] * blocks

    def is_short(self, threads: int) -> bool:
        """Whether all is done so soon that threads would take longer to start, or one gains little.

        Ctrl-C is then heard at the end.
        """
        chunks = _SHORT_ALONE if threads == 1 else 1
        return len(self.done) * self.job.length * self.job.cost <= chunks * _CHUNK

    def hands(self, threads: int) -> int:
        """How many threads have something to do."""
        return min(threads, len(self.done))

    def do_blocks(self) -> None:
        """One block after the other, as long as there are any and time is left.

        All threads take from the same list: a task of its own for each of millions of blocks would
        take far longer to set up than a time limit allows.
        """
        for index in self.left:
            if self.time_is_up() and index > 0:
                return
            self.do_block(index)

    def do_block(self, index: int) -> None:
        """All chunks of one block. The very first chunk is done however short the time."""
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
        """Whether to stop at the end of the chunk."""
        return self.stop.is_set() or working_time() > self.deadline

    def progress(self) -> RunProgress:
        """How far all blocks are together."""
        parts = [
            1.0 if ended else done / self.job.length
            for done, ended in zip(self.done, self.ended, strict=True)
        ]
        lowest = min(self.lowest)
        best = None if lowest == math.inf else self.form.own_energy(lowest.item())
        return RunProgress(sum(parts) / len(parts), time.perf_counter() - self.began, best)

    def log(self, stopped: Stopped | None) -> Log:
        """The runs that were begun."""
        worked_on = [index for index, done in enumerate(self.done) if done]
        if not worked_on:
            raise KeyboardInterrupt
        # Of kernels alone: of short runs, starting threads would be most of it.
        begins, ends = zip(*(self.spans[index] for index in worked_on), strict=True)
        seconds = max(max(ends) - min(begins), 0.0)
        lanes, runs = self.engine.lanes, len(self.hits)
        begun = np.repeat(np.array(self.done) > 0, lanes)[:runs]
        ended = np.repeat(self.ended, lanes)[:runs]
        # Ctrl-C counts even where it came too late to stop anything: what comes next must hear it.
        if stopped is None and not ended.all():
            stopped = "time limit"
        share = sum(self.done) / (len(worked_on) * self.job.length)
        if begun.all():  # no copy of what may be large
            return Log(self.states, self.hits, ended, seconds, stopped, share)
        return Log(self.states[begun], self.hits[begun], ended[begun], seconds, stopped, share)


def _room(runs: int, spins: int) -> tuple[SpinArray, npt.NDArray[np.int32]]:
    """Where the states and hits of all runs go."""
    try:
        return np.empty((runs, spins), np.int8), np.zeros(runs, np.int32)
    except (MemoryError, ValueError):  # the second one beyond 2^63 bytes
        raise MemoryError(
            f"no memory for the states of {runs} runs, a byte per spin and run; use fewer runs"
        ) from None
