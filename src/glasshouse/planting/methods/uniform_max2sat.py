"""Unweighted MAX-2-SAT instances with a planted optimum."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand, layers_of
from glasshouse.planting.method import planting_method
from glasshouse.planting.methods.random_loops import NoRoomError, random_loops
from glasshouse.planting.planted import Planted
from glasshouse.planting.recipe import Recipe
from glasshouse.randomness import RngLike, Seed


def _loops(clause_density: Ratio, variables: int) -> int:
    """A loop has four edges, and an edge two clauses."""
    density = arguments.ratio(clause_density, "clause_density")
    if density <= 0:
        raise ValueError(f"clause_density={clause_density} must be above 0: clauses per variable")
    return math.ceil(density * variables / 8)


def _demand(asked: Mapping[str, Any]) -> Demand:
    n, m = layers_of(asked)
    density: Any = asked.get("clause_density")
    return Demand.of_loops_on_rbm(n, m, _loops(density, n + m))


@planting_method(
    "uniform",
    grows_on="rbm",
    demand=_demand,
    examples=({"n": 100, "clause_density": "3"},),
)
def uniform_max2sat(
    n: int,
    m: int,
    *,
    clause_density: Ratio,
    state: State | None = None,
    rng: RngLike = None,
) -> Planted:
    """Plant unweighted MAX-2-SAT: disjoint loops, all clauses of weight 1 (paper, "Algorithm").

    Disjoint random loops at f = 1/4 leave weights 0 and ±1 only. `to_max2sat` turns each of the
    4N weights into two clauses of the same weight, so that the clause density is 8N/(n+m).

    Args:
        n: visible spins, at least 2; with m, the variables of the formula.
        m: hidden spins, at least 2.
        clause_density: clauses per variable; the number of loops is rounded up.
        state: the state to plant, visible spins first; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = uniform_max2sat(50, 50, clause_density=4, rng=1)
    >>> plant.loops.num_loops, plant.energy
    (50, -100)
    """
    n, m = arguments.layer_sizes(n, m)
    density = arguments.ratio(clause_density, "clause_density")
    loops = _loops(density, n + m)
    seed = Seed.of(rng)
    try:
        plant = random_loops(
            n, m, frustration=Fraction(1, 4), loops=loops, overlap="none", state=state, rng=seed
        )
    except NoRoomError as error:
        density = Fraction(8 * error.most, n + m)
        found = f"{error.most} was the most that found room; use at most {float(density):.4g}"
        bound = f"not even {error.most + 1} can fit; use a density well below {float(density):.4g}"
        raise ValueError(
            f"clause_density={clause_density} needs {loops} disjoint loops on {n} × {m}, but "
            f"{found if error.reached else bound} or larger layers"
        ) from None
    values = arguments.parameters(state, plant.state, n=n, m=m, clause_density=density)
    return replace(plant, recipe=Recipe("uniform_max2sat", values, seed))
