"""Parallel tempering: replicas at all temperatures at once, none of them ever stuck for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.compiled import announce_compilation
from glasshouse.planting.randomness import RngLike, Seed
from glasshouse.problems import validation
from glasshouse.problems.validation import FloatArray
from glasshouse.solvers.annealing import choose_engine, key_of
from glasshouse.solvers.crew import Crew, RunProgress
from glasshouse.solvers.engine import ColouredGraph, Engine
from glasshouse.solvers.forms import Form, Solvable, Target
from glasshouse.solvers.kernels import tempering
from glasshouse.solvers.kernels.block import LaneBlock
from glasshouse.solvers.kernels.tempering import Replicas
from glasshouse.solvers.result import AnnealResult
from glasshouse.solvers.schedule import Beta, inverse_temperatures, sweep_count

_MOST_REPLICAS = 2**16


def temper(
    problem: Solvable,
    *,
    sweeps: int = 1000,
    runs: int = 64,
    beta: Beta = None,
    replicas: int = 12,
    target: Target = "planted",
    rng: RngLike = None,
    threads: int = 1,
    time_limit: float | None = None,
    progress: Callable[[RunProgress], None] | None = None,
) -> AnnealResult:
    """Sweep replicas at a ladder of temperatures, which exchange their states.

    Each run has a replica at every temperature. After each sweep, replicas at neighbouring
    temperatures exchange their states with probability min(1, exp(Δβ ΔE)), every other pair in
    turn. Nothing has to be tuned to the length of a run: the longer, the better. On planted random
    loops, however, `anneal` with its default range needs less time at every frustration.

    Args:
        problem: an Ising, Rbm, Qubo or Max2Sat problem, or a planted one.
        sweeps: sweeps of every replica, below 2^31.
        runs: how many independent ladders.
        beta: (hottest, coldest), geometric between, or more than two numbers: the ladder itself,
            rising. By default the range that `anneal` uses.
        replicas: temperatures of the ladder, unless `beta` lists them.
        target: an energy to look for, at the end of each sweep, in all replicas; by default that
            of the plant, if one is given.
        rng: a seed, or anything that numpy.random.default_rng takes.
        threads: how many work at the same time; the result does not depend on it.
        time_limit: seconds after which the best so far is returned; None sets no limit.
        progress: called about ten times a second with a `RunProgress`.

    Returns:
        An AnnealResult: energies and states are the best of all replicas of a run, `betas` is the
        ladder; times to solution in sweeps count those of all replicas.

    >>> from glasshouse.planting import random_loops
    >>> planted = random_loops(30, 30, frustration="0.22", loop_density=0.45, rng=1)
    >>> result = temper(planted, sweeps=200, runs=64, target=planted.energy, rng=1)
    >>> result.success_probability
    1.0
    """
    form = Form(problem)
    target = form.wanted(target)
    sweeps, runs = sweep_count(sweeps), validation.count(runs, "runs", 1)
    crew = Crew(validation.count(threads, "threads", 1), time_limit, progress)
    goal, seed = form.target(target), Seed.of(rng)
    announce_compilation(tempering.temper_block, "annealing")
    network = ColouredGraph(form.ising)
    betas = _ladder(network, form.beta(beta), validation.count(replicas, "replicas", 2))
    kernel, engine = choose_engine(network)
    task = TemperTask(engine, betas, sweeps, engine.goal(goal, form.ising), key_of(seed))
    log = crew.work(task, runs, form)
    states = form.own_states(log.states)
    energies = form.energies_of_runs(states)
    hits = form.confirmed_hits(log.hits, energies, target, sweeps)
    return AnnealResult(
        energies, states, hits, sweeps, form.own_betas(betas), target,
        "sweep", kernel, log.seconds, log.complete, log.stopped, seed, len(betas), log.share,
        form.problem.labels, form.problem.space.low < 0,
    )  # fmt: skip


def _ladder(network: ColouredGraph, beta: FloatArray | None, replicas: int) -> FloatArray:
    number = replicas if beta is None or len(beta) == 2 else len(beta)
    if number > _MOST_REPLICAS:
        raise ValueError(
            f"{number} temperatures are more than {_MOST_REPLICAS}, the most a ladder can have"
        )
    betas = inverse_temperatures(network, beta, number, "geometric")
    if number < 2 or not (np.diff(betas) >= 0).all():
        raise ValueError("a ladder has at least two inverse temperatures, rising")
    return betas


class TemperTask:
    """Tempering as the crew does it: a sweep of all replicas a step."""

    def __init__(
        self,
        engine: Engine,
        betas: FloatArray,
        sweeps: int,
        goal: Any,
        key: npt.NDArray[np.uint64],
    ) -> None:
        self.engine, self.betas, self.length = engine, betas, sweeps
        self.goal, self.key = goal, key
        self.cost = engine.cost * len(betas)

    def start(self, index: int) -> Replicas:
        """Random states at all temperatures."""
        block, number = self.engine.new_block(), len(self.betas)
        replicas = Replicas(
            np.empty((number, len(block.generator)), np.uint64),
            np.empty((number, len(block.spins)), block.spins.dtype),
            np.empty((number, len(block.energies)), block.energies.dtype),
            np.empty(4, np.uint64),
            block,
        )
        tempering.start_replicas(self.engine.tables, self.key, index, self.goal, replicas)
        return replicas

    def advance(self, work: Replicas, done: int, until: int) -> int:
        """The sweeps after `done`."""
        lanes = self.engine.lanes
        return int(tempering.temper_block(self.engine.tables, self.betas, done, until, lanes, work))

    def stop(self, work: Replicas, done: int) -> None:
        """Nothing to do: every sweep was looked at."""

    def lowest(self, work: Replicas) -> Any:
        """The lowest energy seen."""
        return work.block.lowest.min()

    def block(self, work: Replicas) -> LaneBlock:
        """What the runs found."""
        return work.block
