"""Parallel tempering: replicas at all temperatures at once, which escape from local minima."""

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
    """Sweep replicas at a ladder of temperatures, which exchange their states.

    After each sweep, replicas at neighbouring temperatures exchange their states with probability
    min(1, exp(Δβ ΔE)), every other pair in turn. Nothing has to be tuned to the length of a run:
    longer is better. A short warm-up finds the ladder on which exchanges are accepted equally
    often.

    On sparse problems with integer weights (kernel "byte lanes") each run has several ladders, at
    least two, as many as fill the lanes of the kernel, about 64 replicas together. Replicas of two
    ladders at the same temperature make isoenergetic cluster moves. They are made at the
    temperatures at which the warm-up shows that sweeps alone are slow, and that clusters of spins
    in which two replicas differ do not percolate.

    Args:
        problem: any problem, or a planted one; polynomials of any degree as they are.
        sweeps: sweeps of every replica, below 2^31.
        runs: how many independent runs, each of one or more ladders.
        beta: (hottest, coldest), or more than two numbers: the ladder itself, rising. By default
            from where replicas forget within ten sweeps what they were to the coldest that
            `anneal` uses.
        replicas: temperatures of the ladder, unless `beta` lists them; by default as many as the
            warm-up asks for, 4 to 32.
        target: an energy to look for, at the end of each sweep, in all replicas; by default that
            of the plant, if one is given.
        rng: a seed, or anything that numpy.random.default_rng takes.
        threads: the number of threads; the result does not depend on it.
        time_limit: the seconds after which the best states so far are returned; None sets no limit.
        progress: called about ten times a second with a `RunProgress`.

    Returns:
        An AnnealResult: energies and states are the best of all replicas of a run, and of the
        combinations that cluster moves could form; `betas` is the ladder, `ladder` shows how
        replicas moved on it; times to solution in sweeps count the sweeps of all replicas.

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
    """Return the number of temperatures requested, or None; raise for an invalid ladder."""
    number = None if replicas is None else validation.count(replicas, "replicas", 2)
    if beta is not None and len(beta) != 2:
        number = len(beta)
    if number is not None and number > _MOST_REPLICAS:
        raise ValueError(
            f"{number} temperatures are more than {_MOST_REPLICAS}, the most that a ladder can have"
        )
    if beta is not None and (len(beta) < 2 or not (np.diff(beta) >= 0).all()):
        raise ValueError("a ladder needs at least two inverse temperatures, rising")
    return number


def _grid(network: Network, beta: FloatArray | None) -> FloatArray:
    """Return the β of the warm-up: some of a given ladder, otherwise a geometric range."""
    if beta is None or len(beta) == 2:
        return inverse_temperatures(network, beta, STAGES, "geometric")
    some: FloatArray = beta[np.unique(np.linspace(0, len(beta) - 1, STAGES).round().astype(int))]
    return some
