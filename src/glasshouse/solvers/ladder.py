"""The choice of the temperatures and the cluster moves of parallel tempering.

Both are chosen from the observations of a warm-up: a short annealing of one block.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.problems import FloatArray
from glasshouse.problems.elementary import geometric
from glasshouse.solvers.crew import Crew
from glasshouse.solvers.engine import Engine
from glasshouse.solvers.kernels import driver
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.kernels.byte_tables import ByteTables
from glasshouse.solvers.kernels.clusters import PAIRS, Clusters, sample_clusters
from glasshouse.solvers.replicas import LANES, LaneTask, RowTask, TemperTask, room_for, scratch
from glasshouse.solvers.result import Stopped
from glasshouse.solvers.spin_form import SpinForm

# Sweeps at each β after which energies are recorded: after settling, and twice more.
_LOOKS = (6, 11, 16)
_HOLD = _LOOKS[-1]
STREAM = 1 << 41  # an index of a random stream that no block of runs uses
STAGES = 24  # the number of temperatures of a warm-up
# Neighbours at this distance, the energy's standard deviation times Δβ, exchange 1 in 4 times.
_SPACING = 1.7
_FEWEST, _MOST = 4, LANES // 2  # temperatures of an automatic ladder; two ladders fill a row
_FORGETS = 0.15  # the largest overlap, ten sweeps apart, of a replica that is hot enough
# Cluster moves save time if sweeps alone are slow and clusters do not percolate: the clusters other
# than the largest cluster contain at least this fraction of the sites.
_SLOW, _OTHERS = 0.25, 0.03
# The work of cluster moves, in updates of one lane: per edge, and per site of a pair. The third
# number is the most work of cluster moves, in units of the work of the sweeps.
_EDGE, _SITE, _SHARE = 10, 5, 1.0
_PLAIN_REPLICAS = 12  # the number of temperatures if there was no time for a warm-up
_WARM_UP_SHARE = 0.2  # the largest fraction of a time limit for the warm-up
_LEAST_TIME = 1e-3  # seconds


@dataclass(frozen=True)
class Observed:
    """Observations from a warm-up at increasing β: energies, overlaps and cluster sizes.

    Attributes:
        betas: the inverse temperatures that were reached.
        energies: the mean energy at each β.
        memory: the overlap of a replica with itself ten sweeps before, minus the overlap of two
            different replicas.
        clustered: the fraction of the sites in clusters in which two replicas differ.
        largest: the fraction of the sites in the largest of these clusters.
    """

    betas: FloatArray
    energies: FloatArray
    memory: FloatArray
    clustered: FloatArray
    largest: FloatArray


class WarmUp:
    """A `Crew` job that runs the warm-up annealing; one step is one sweep."""

    def __init__(
        self,
        engine: Engine,
        betas: FloatArray,
        key: npt.NDArray[np.uint64],
        clusters: Clusters | None,
        even: bool,
    ) -> None:
        self.engine, self.betas, self.key = engine, betas, key
        self.clusters, self.even = clusters, even
        self.length, self.cost = _HOLD * len(betas), engine.cost
        self.before = np.empty(0, np.uint8)
        self.energies, self.memory, self.clustered, self.largest = np.zeros((4, len(betas)))
        self.done = 0

    def start(self, index: int) -> LaneBlock:
        """Return a new block of runs that start from random states."""
        block = self.engine.new_block()
        driver.start_block(self.engine.tables, self.key, STREAM, self.engine.never, block)
        for sweep in _LOOKS:  # compile everything before timing starts; results are discarded
            self._look(0, sweep, block)
        return block

    def advance(self, work: LaneBlock, done: int, until: int) -> int:
        """Do sweeps `done` + 1 to `until`, and record observations after some of them."""
        tables, lanes = self.engine.tables, self.engine.lanes
        while True:
            stage, sweep = divmod(done, _HOLD)
            number = min(next(look for look in _LOOKS if look > sweep) - sweep, until - done)
            betas = np.full(number, self.betas[min(stage, len(self.betas) - 1)])
            driver.anneal_block(tables, betas, 0, number, lanes, work)
            done += number
            if number and sweep + number in _LOOKS:
                self._look(stage, sweep + number, work)
            if done == until:
                self.done = done
                return done

    def _look(self, stage: int, sweep: int, block: LaneBlock) -> None:
        """Record the energies at one β and, after the last sweep at β, the overlaps as well."""
        block.lowest[:] = -(block.never + 1)  # so that `note` keeps the current spins
        driver.look_at_block(self.engine.tables, 0, block)
        if sweep == _LOOKS[0]:
            self.energies[stage], self.before = 0, block.states.copy()
        mean = math.fsum(block.energies.tolist()) / len(block.energies)
        self.energies[stage] += mean / len(_LOOKS)
        if sweep < _HOLD:
            return
        lanes = block.states.reshape(-1, self.engine.lanes)
        same = lanes == self.before.reshape(lanes.shape)
        alike = (lanes == np.roll(lanes, 1, axis=1)).sum(axis=0)  # each lane and its neighbour
        size = max(len(lanes), 1)
        # The overlap keeps its sign. Otherwise, without fields, lanes in the same valley up to a
        # flip of all spins would count as lanes that have forgotten their past.
        between = max(0.0, (2 * alike - len(lanes)).sum() / max(lanes.size, 1))
        self.memory[stage] = 2 * same.sum() / max(lanes.size, 1) - 1 - between
        if self.clusters is not None:
            found = sample_clusters(block.states, self.even, self.clusters)
            self.clustered[stage], self.largest[stage] = np.array(found) / (PAIRS * size)

    def stop(self, work: LaneBlock, done: int) -> None:
        """Do nothing, because the observations omit every β that was not completed."""

    def lowest(self, work: LaneBlock) -> Any:
        """Return the lowest current energy, as the interface `Job` requires."""
        return work.energies.min()

    def block(self, work: LaneBlock) -> LaneBlock:
        """Return `work` itself, which is the block of runs."""
        return work

    def observed(self) -> Observed:
        """Return the observations at every β that was completed."""
        stages = slice(self.done // _HOLD)
        return Observed(
            self.betas[stages], self.energies[stages], self.memory[stages],
            self.clustered[stages], self.largest[stages],
        )  # fmt: skip


class LadderPlan:
    """The temperatures and cluster moves planned for a problem, after a warm-up if needed."""

    def __init__(
        self, form: SpinForm, engine: Engine, key: npt.NDArray[np.uint64], time_limit: float | None
    ) -> None:
        self.form, self.engine, self.key = form, engine, key
        self.time_left, self.seconds = time_limit, 0.0
        self.stopped: Stopped | None = None
        self.on_lanes = isinstance(engine.tables, ByteTables)
        self.even = self.on_lanes and not form.ising.fields.any()
        self.betas, self.chosen, self.every = np.empty(0), np.empty(0, bool), 0

    def make(self, grid: FloatArray, beta: FloatArray | None, number: int | None) -> None:
        """Run a warm-up if it is needed, and choose the temperatures and the cluster moves."""
        is_given = beta is not None and len(beta) == number
        seen = None if is_given and not self.on_lanes else self.warm_up(grid)
        self.choose(grid, seen, beta, number)

    def choose(
        self,
        grid: FloatArray,
        seen: Observed | None,
        beta: FloatArray | None = None,
        number: int | None = None,
    ) -> None:
        """Choose the temperatures and the cluster moves from the observations of a warm-up."""
        if beta is not None and len(beta) == number:
            self.betas = beta
        elif seen is None:
            self.betas = geometric(grid[0], grid[-1], number or _PLAIN_REPLICAS)
        else:
            self.betas = even_ladder(
                seen, number, is_range_given=beta is not None, fills_lanes=self.on_lanes
            )
        self.chosen = np.zeros(len(self.betas), bool)
        if self.on_lanes and seen is not None:
            sites, edges = len(self.engine.order), len(self.engine.tables.neighbours)
            self.chosen, self.every = cluster_plan(seen, self.betas, sites, edges)

    def warm_up(self, grid: FloatArray) -> Observed | None:
        """Run the warm-up; return its observations, or None if it ran out of time."""
        share = None if self.time_left is None else _WARM_UP_SHARE * self.time_left
        job = self.warm_up_job(grid)
        log = Crew(1, share, None).work(job, 1, self.form)
        self.seconds = log.seconds
        if self.time_left is not None:
            self.time_left = max(self.time_left - log.seconds, _LEAST_TIME)
        if log.stopped == "interrupted":
            self.stopped, self.time_left = "interrupted", _LEAST_TIME
        seen = job.observed()
        return seen if len(seen.betas) == len(grid) else None

    def warm_up_job(self, grid: FloatArray) -> WarmUp:
        """Return the job of a warm-up at the β of `grid`."""
        clusters = scratch(self.engine, 1) if self.on_lanes else None
        return WarmUp(self.engine, grid, self.key, clusters, self.even)

    def task(self, sweeps: int, goal: Any) -> TemperTask:
        """Return the job that tempers replicas on the chosen ladder."""
        if self.on_lanes:
            return LaneTask(
                self.engine, self.betas, sweeps, goal, self.key, self.even, self.chosen, self.every
            )
        return RowTask(self.engine, self.betas, sweeps, goal, self.key)


def even_ladder(
    seen: Observed, replicas: int | None, *, is_range_given: bool, fills_lanes: bool
) -> FloatArray:
    """Return the β of a ladder chosen so that all exchanges are accepted equally often.

    The larger Δβ is in units of 1/σ, the less often neighbours exchange, with σ the standard
    deviation of the energy. So the ladder has equal steps of ∫ σ dβ. Since σ² = -dE/dβ, mean
    energies determine the ladder: a step of β in which they fall by ΔE has the length sqrt(ΔE Δβ).
    Unless the range is given, the ladder starts at a β at which replicas forget their state within
    a few sweeps. Unless `replicas` is given, the ladder has as few temperatures as neighbours close
    enough need, or as fill the lanes.
    """
    forgetful = int(np.cumprod(seen.memory <= _FORGETS).sum())
    first = 0 if is_range_given else min(max(forgetful - 1, 0), len(seen.betas) - 2)
    betas, rises = seen.betas[first:], np.diff(seen.betas[first:])
    falls = -np.diff(np.minimum.accumulate(seen.energies[first:]))
    steps = np.sqrt(falls * rises)
    length = math.fsum(steps.tolist())
    if not 0 < length < math.inf:
        return geometric(betas[0], betas[-1], replicas or _FEWEST)
    steps += 1e-3 * length / len(steps)  # β must rise even if nothing changes
    fewest = min(max(math.ceil(length / _SPACING) + 1, _FEWEST), _MOST)
    number = replicas or (_MOST // (_MOST // fewest) if fills_lanes else fewest)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    ladder = _between(np.linspace(0, along[-1], number), along, betas)
    ladder[0], ladder[-1] = betas[0], betas[-1]
    return ladder


def cluster_plan(
    seen: Observed, betas: FloatArray, sites: int, edges: int
) -> tuple[npt.NDArray[np.bool_], int]:
    """Return a mask of the temperatures with cluster moves, and the sweeps between moves."""
    memory, clustered, others = (
        _between(betas, seen.betas, _smooth(values))
        for values in (seen.memory, seen.clustered, seen.clustered - seen.largest)
    )
    chosen = (memory > _SLOW) & (others > _OTHERS)
    rows, ladders = room_for(len(betas))
    visits = math.fsum(clustered[chosen].tolist()) * edges * _EDGE + chosen.sum() * sites * _SITE
    every = math.ceil(ladders / 2 * visits / (LANES * rows * max(sites, 1)) / _SHARE)
    return chosen, max(every, 1) if chosen.any() else 0


# NumPy's `interp` and `convolve` may fuse operations or change their order, depending on the CPU,
# but the ladder must have the same bits on every computer.


def _between(x: FloatArray, known: FloatArray, values: FloatArray) -> FloatArray:
    """Interpolate linearly between the positions `known`, with constant values beyond the ends."""
    x = x.clip(known[0], known[-1])
    left = np.searchsorted(known, x, "right").clip(1, len(known) - 1) - 1
    gaps = known[left + 1] - known[left]
    shares = np.divide(x - known[left], gaps, out=np.ones(len(x)), where=gaps > 0)
    found: FloatArray = values[left] + shares * (values[left + 1] - values[left])
    return found


def _smooth(values: FloatArray) -> FloatArray:
    """Return running means over five values, with fewer values at the ends."""
    numbers = values.tolist()
    near = [numbers[max(k - 2, 0) : k + 3] for k in range(len(numbers))]
    return np.array([math.fsum(some) / len(some) for some in near])
