"""Repeated annealing or tempering that doubles the number of sweeps in each round.

The number of sweeps that a problem needs is not known in advance. All rounds together take at most
about twice the time of the last round, and the first good states are available at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from glasshouse.problems import validation
from glasshouse.randomness import RngLike, Seed
from glasshouse.solvers.result import AnnealResult
from glasshouse.solvers.schedule import MOST_SWEEPS, sweep_count
from glasshouse.solvers.spin_form import Solvable
from glasshouse.stopping import working_time

_FIRST = 16  # sweeps


def iter_rounds(
    solve: Callable[..., AnnealResult],
    problem: Solvable,
    *,
    sweeps: int = MOST_SWEEPS,
    rng: RngLike = None,
    time_limit: float | None = None,
    **options: Any,
) -> Iterator[AnnealResult]:
    """Yield the results of runs with 16, 32, 64, … sweeps until the target or a limit is reached.

    Args:
        solve: `anneal` or `temper`.
        problem: any problem that `solve` takes.
        sweeps: the sweeps of the last round.
        rng: a seed, from which each round derives its own.
        time_limit: the time limit of all rounds together, in seconds without compilation.
        **options: further options of `solve`.

    >>> from glasshouse.planting import random_loops
    >>> from glasshouse.solvers import anneal
    >>> plant = random_loops(20, 20, frustration="1/5", loop_density=0.4, rng=1)
    >>> [r.sweeps for r in iter_rounds(anneal, plant, target=None, runs=8, sweeps=40, rng=1)]
    [16, 32, 40]
    """
    seed, limit = Seed.of(rng), validation.time_limit(time_limit)
    deadline = math.inf if limit is None else working_time() + limit
    number, last = 0, min(_FIRST, sweep_count(sweeps))
    while True:
        left = deadline - working_time()
        if left <= 0 and number:
            return
        result = solve(
            problem, sweeps=last, rng=seed.child(number), time_limit=max(left, 1e-3), **options
        )
        yield result
        if last >= sweeps or result.stopped is not None or result.hits.any():
            return
        number, last = number + 1, min(2 * last, sweeps)
