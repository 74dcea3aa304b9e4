"""Parallel tempering: replicas at several temperatures that exchange their states."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glasshouse.compiled import announces
from glasshouse.problems import FloatArray, validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.solvers.annealing import key_of
from glasshouse.solvers.crew import Crew, RunProgress
from glasshouse.solvers.engines import Network, make_ready
from glasshouse.solvers.ladder import STAGES, LadderPlan
from glasshouse.solvers.result import AnnealResult
from glasshouse.solvers.schedule import Beta, inverse_temperatures, sweep_count
from glasshouse.solvers.spin_form import Solvable, SpinForm, Target

_MOST_REPLICAS = 2**16


@announces("tempering")
def temper(
    problem: Solvable,
    *,
    sweeps: int = 1000,
    runs: int = 16,
    beta: Beta = None,
    replicas: int | None = None,
    target: Target = "planted",
    rng: RngLike = None,
    threads: int = 1,
    time_limit: float | None = None,
    progress: Callable[[RunProgress], None] | None = None,
) -> AnnealResult:
    """Run parallel tempering on a problem, and return the best state of each run.

    After each sweep, replicas at neighbouring temperatures exchange their states with probability
    min(1, exp(Δβ ΔE)), every other pair in turn. Longer runs are always better. A short warm-up
    finds a ladder of temperatures on which exchanges are accepted equally often.

    On sparse problems with integer weights (kernel "byte lanes"), each run has as many ladders as
    fill the lanes of the kernel, but at least two, with about 64 replicas in all. Two replicas of
    different ladders make isoenergetic cluster moves at temperatures where the warm-up shows that
    sweeps alone are slow, and that clusters of spins in which replicas differ do not percolate.

    Args:
        problem: any problem, a plant, or a dimod model. Polynomials need no ancillas.
        sweeps: the number of sweeps of each replica, below 2^31.
        runs: the number of independent runs, each with one or more ladders.
        beta: (hottest, coldest), or the whole ladder: more than two rising numbers. The default
            hottest β is one at which replicas forget their state within ten sweeps; the default
            coldest β is the last β of `anneal`.
        replicas: the number of temperatures of the ladder, unless `beta` lists them; by default,
            the warm-up determines the number, from 4 to 32.
        target: an energy to search for at the end of each sweep, in all replicas; by default the
            energy of the plant, if a plant is given. None sets no target.
        rng: a seed, or anything that numpy.random.default_rng takes.
        threads: the number of threads; the result does not depend on it.
        time_limit: the seconds after which the best states so far are returned; None sets no limit.
        progress: a function that is called about ten times a second with a `RunProgress`.

    Returns:
        An AnnealResult. Its states are the best of all replicas of a run, and of the combinations
        that cluster moves could form. `betas` is the ladder, and `ladder` has statistics of the
        moves. Times to solution in sweeps count the sweeps of all replicas.

    >>> from glasshouse.planting import random_loops
    >>> planted = random_loops(30, 30, frustration="0.22", loop_density=0.45, rng=1)
    >>> result = temper(planted, sweeps=200, runs=64, target=planted.energy, rng=1)
    >>> result.success_probability
    1.0
    """
    form = SpinForm(problem, any_degree=True)
    target = form.wanted(target)
    sweeps, runs = sweep_count(sweeps), validation.count(runs, "runs", 1)
    threads, limit = validation.count(threads, "threads", 1), validation.time_limit(time_limit)
    goal, seed, ladder = form.target(target), Seed.of(rng), form.beta(beta)
    number = _temperatures(ladder, replicas)
    ready = make_ready(form)
    kernel, engine = ready.engine()
    plan = LadderPlan(form, engine, key_of(seed), limit)
    plan.make(_grid(ready.graph, ladder), ladder, number)
    task = plan.task(sweeps, engine.goal(goal, form.ising))
    log = Crew(threads, plan.time_left, progress).work(task, runs, form)
    states = form.own_states(log.states)
    energies = form.energies_of_runs(states)
    hits = form.confirmed_hits(log.hits, energies, target, sweeps)
    return AnnealResult(
        energies, states, hits, sweeps, form.own_betas(plan.betas), target,
        "sweep", kernel, log.seconds, log.complete, plan.stopped or log.stopped,
        seed, task.ladders * len(plan.betas), log.share, form.problem.labels,
        form.problem.space.low < 0, task.report(plan.seconds),
    )  # fmt: skip


def _temperatures(beta: FloatArray | None, replicas: int | None) -> int | None:
    """Return the number of temperatures, or None if it is not given; raise if it is invalid."""
    number = None if replicas is None else validation.count(replicas, "replicas", 2)
    if beta is not None and len(beta) != 2:
        number = len(beta)
    if number is not None and number > _MOST_REPLICAS:
        raise ValueError(
            f"{number} temperatures are too many for a ladder; use at most {_MOST_REPLICAS}"
        )
    if beta is not None and (len(beta) < 2 or not (np.diff(beta) >= 0).all()):
        raise ValueError("beta must contain at least two inverse temperatures in ascending order")
    return number


def _grid(network: Network, beta: FloatArray | None) -> FloatArray:
    """Return the warm-up's β: at most 24 values of a given ladder, otherwise a geometric range."""
    if beta is None or len(beta) == 2:
        return inverse_temperatures(network, beta, STAGES, "geometric")
    some: FloatArray = beta[np.unique(np.linspace(0, len(beta) - 1, STAGES).round().astype(int))]
    return some
