"""2-in-4 satisfiability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.clauses import clause_demand, plant_clauses
from glasshouse.planting.demand import Demand
from glasshouse.planting.method import planting_method
from glasshouse.planting.planted import Planted
from glasshouse.randomness import RngLike


def _two_in_four_demand(asked: Mapping[str, Any]) -> Demand:
    return clause_demand(asked.get("n"), asked.get("clauses"), asked.get("clause_density"), 4)


@planting_method(
    "two-in-four",
    grows_on="spins",
    demand=_two_in_four_demand,
    examples=({"n": 40, "clause_density": "7/10"}, {"n": 30, "clauses": 15}),
    knobs={"clause_density": ("1/4", "7/10")},
)
def two_in_four(
    n: int,
    *,
    clauses: int | None = None,
    clause_density: Ratio | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Planted:
    """Plant a state in which exactly two of the four literals of every clause are true.

    2-in-4-SAT as in Douglass, King, Raymond ("Constructing SAT filters with a quantum annealer",
    SAT 2015): a clause is half of (±s1 ±s2 ±s3 ±s4)² without its constant, -2 where two literals
    are true, 0 where one or three are, 6 where all or none are. Variables of a clause are distinct;
    clauses are drawn with replacement, their signs uniformly among those that the planted state
    satisfies. Energies, and the distribution for the state of all +1, are those of
    `dimod.generators.random_2in4sat(plant_solution=True)`. The planted state turned upside down is
    a ground state as well.

    Args:
        n: spins, at least 4.
        clauses: how many there are; give this or `clause_density`.
        clause_density: clauses per spin; their number is rounded up.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = two_in_four(40, clauses=28, rng=1)
    >>> plant
    Planted(two_in_four, 40 spins, 28 squares, ground energy -56)
    >>> plant.verify()
    """
    return plant_clauses(
        "two_in_four", n, 4, 2, clauses=clauses, clause_density=clause_density, state=state, rng=rng
    )
