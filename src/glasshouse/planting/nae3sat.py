"""Not-all-equal 3-satisfiability."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.clauses import clause_demand, plant_clauses
from glasshouse.planting.demand import Demand
from glasshouse.planting.method import planting_method
from glasshouse.planting.planted import Planted
from glasshouse.randomness import RngLike


def _nae3sat_demand(asked: Mapping[str, Any]) -> Demand:
    return clause_demand(asked.get("n"), asked.get("clauses"), asked.get("clause_density"), 3)


@planting_method(
    "nae3sat",
    grows_on="spins",
    demand=_nae3sat_demand,
    examples=({"n": 40, "clause_density": "21/10"}, {"n": 30, "clauses": 45}),
    knobs={"clause_density": ("1", "21/10")},
)
def nae3sat(
    n: int,
    *,
    clauses: int | None = None,
    clause_density: Ratio | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Planted:
    """Plant a state in which no clause of three literals has all of them equal.

    NAE-3-SAT as in Douglass, King, Raymond ("Constructing SAT filters with a quantum annealer",
    SAT 2015): a clause is half of (±s1 ±s2 ±s3)² without its constant, -1 where its literals are
    not all equal and 3 where they are. Variables of a clause are distinct; clauses are drawn with
    replacement, their signs uniformly among those that the planted state satisfies. Energies, and
    the distribution for the state of all +1, are those of
    `dimod.generators.random_nae3sat(plant_solution=True)`. The planted state turned upside down is
    a ground state as well.

    Args:
        n: spins, at least 3.
        clauses: how many there are; give this or `clause_density`.
        clause_density: clauses per spin, the literature's ρ or α; their number is rounded up.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = nae3sat(40, clause_density="21/10", rng=1)
    >>> plant
    Planted(nae3sat, 40 spins, 84 squares, ground energy -84)
    >>> plant.verify()
    """
    return plant_clauses(
        "nae3sat", n, 3, 1, clauses=clauses, clause_density=clause_density, state=state, rng=rng,
        mirrored=True,
    )  # fmt: skip
