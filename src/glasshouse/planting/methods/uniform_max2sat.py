"""Unweighted MAX-2-SAT instances with a planted optimum."""

from __future__ import annotations

import math
from fractions import Fraction

from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Meter
from glasshouse.planting.method import METHODS, Plan, planting_method
from glasshouse.planting.methods.random_loops import NoRoomError
from glasshouse.planting.planted import Planted
from glasshouse.randomness import RngLike, Streams


@planting_method(
    "uniform",
    grows_on="rbm",
    examples=({"n": 100, "clause_density": "3"},),
)
def uniform_max2sat(
    n: int,
    m: int,
    *,
    clause_density: Ratio,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant unweighted MAX-2-SAT: disjoint loops, in which every clause has weight 1 (paper).

    Disjoint random loops at f = 1/4 leave weights 0 and ±1 only. `to_max2sat` turns each of the
    4N weights into two clauses of the same weight, so that the clause density is 8N/(n+m).

    Args:
        n: visible spins, at least 2; with m, the variables of the formula.
        m: hidden spins, at least 2.
        clause_density: clauses per variable; the number of loops is rounded up.
        state: the state to plant, visible spins first; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = uniform_max2sat(50, 50, clause_density=4, rng=1)
    >>> plant.loops.num_loops, plant.energy
    (50, -100)
    """
    n, m = arguments.layer_sizes(n, m)
    density = arguments.ratio(clause_density, "clause_density")
    if density <= 0:
        raise ValueError(
            f"clause_density={clause_density} must be above 0: it counts clauses per variable"
        )
    loops = math.ceil(density * (n + m) / 8)  # a loop has four edges, and an edge two clauses
    plan = METHODS["random_loops"].plan(
        n, m, frustration=Fraction(1, 4), loops=loops, overlap="none", state=state
    )

    def draw(streams: Streams, meter: Meter) -> Planted:
        try:
            return plan.draw(streams, meter)
        except NoRoomError as error:
            most = error.most
            limit = f"{float(Fraction(8 * most, n + m)):.4g}"
            found = f"{most} was the most that fitted; use at most {limit}"
            bound = f"not even {most + 1} can fit; use a density well below {limit}"
            raise ValueError(
                f"clause_density={clause_density} needs {loops} disjoint loops on {n} × {m}, but "
                f"{found if error.reached else bound} or larger layers"
            ) from None

    return Plan(plan.demand, draw)
