"""Planted constraints as squares: exactly-k-of-m, not-all-equal and 2-in-4 clauses.

A literal is a spin or its negation, l = ±s, and true if it is +1. Of the literals of a clause,
exactly k of m are true if Σ l = 2k - m, so that (Σ l - (2k - m))² is zero.

Clauses are drawn one by one, as `dimod.generators` and the literature do: their variables are
distinct, but two clauses may be equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasshouse.certificates import Squares
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand, Meter
from glasshouse.planting.graph_names import Extent, refuse_large
from glasshouse.planting.kernels.clauses import draw_clauses
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.planted import Planted
from glasshouse.problems import validation
from glasshouse.randomness import RngLike, Streams

# The densities at which random clauses stop having solutions; planted ones are hard there.
_NAE_HARDEST = "21/10", "near which random clauses stop being satisfiable (Achlioptas et al. 2001)"
_TWO_IN_FOUR_HARDEST = "7/10", "near which random clauses have one solution on average"


def _plan(
    n: Any,
    clauses: Any,
    clause_density: Any,
    state: State | None,
    literals: int,
    true_literals: int,
    *,
    mirrored: bool = False,
    hardest: tuple[str, str] | None = None,
) -> Plan:
    """Plan clauses that all have the same number of true literals in the planted state.

    Args:
        n: the number of spins.
        clauses: the number of clauses; use this or `clause_density`.
        clause_density: clauses per spin; their number is rounded up.
        state: the state to plant; uniform at random if None.
        literals: the number of literals in each clause.
        true_literals: the number of true literals in each clause.
        mirrored: whether the same number of false literals is allowed as well; then a clause is (Σ
            l)², and cannot distinguish the two.
        hardest: the clause density to use if neither number nor density is given, and the reason.
    """
    resolved, chosen = {}, ""
    if hardest is not None and clauses is None and clause_density is None:
        clause_density, why = hardest
        resolved = {"clause_density": clause_density}
        chosen = f"clause_density={clause_density}, {why}"
    size = arguments.spins(n, 1)
    if size < literals:
        raise ValueError(f"n={n} is too small for clauses of {literals} variables; use more spins")
    number = arguments.number_of(clauses, clause_density, size, "clauses", "clause_density")
    refuse_large(Extent(size, min(number * literals * (literals - 1), size * (size - 1)) // 2))

    def draw(streams: Streams, meter: Meter) -> Planted:
        spins = arguments.planted_state(state, size, streams[0])
        nodes = np.empty((number, literals), dtype=np.int32)
        signs = np.empty((number, literals), dtype=np.int64)
        draw_clauses(streams[1], size, true_literals, mirrored, nodes, signs)
        signs *= spins[nodes]
        target = 0 if mirrored else 2 * true_literals - literals
        if target:
            nodes = np.column_stack([nodes, np.full(number, size, dtype=np.int32)])
            signs = np.column_stack([signs, np.full(number, -target)])
        return Planted.of_squares(size, Squares.alike(nodes, signs, 1), spins, meter=meter)

    # The ghost may be a node of each square.
    demand = Demand.of_squares(size, number, literals + 1)
    return Plan(demand, draw, resolved, chosen=chosen)


@planting_method(
    "exactly",
    grows_on="spins",
    examples=(
        {"n": 40, "literals": 3, "true_literals": 1, "clause_density": "3/5"},
        {"n": 30, "literals": 6, "true_literals": 3, "clauses": 12},
    ),
    knobs={"clause_density": ("1/5", "3/5")},
)
def exactly(
    n: int,
    *,
    literals: int,
    true_literals: int,
    clauses: int | None = None,
    clause_density: Ratio | None = None,
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant a state in which exactly k of the m literals of every clause are true.

    A clause of literals l = ±s is half of (Σ l - (2k - m))² without its constant; the number 2k - m
    becomes fields. Only exactly k true literals give zero. 1 of 3 is 1-in-3-SAT (Schaefer 1978).
    Variables of a clause are distinct; clauses are drawn with replacement, their signs uniformly
    among those that the planted state satisfies. At 2k = m there are no fields, and the flipped
    planted state is a ground state as well.

    Args:
        n: spins, at least as many as a clause has literals.
        literals: the number m of literals in each clause, at least 2.
        true_literals: the number k of true literals, at least 1 and below m.
        clauses: the number of clauses; use this or `clause_density`.
        clause_density: clauses per spin; their number is rounded up.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = exactly(40, literals=3, true_literals=1, clause_density="3/5", rng=1)
    >>> plant
    Planted(exactly, 40 spins, 24 squares, ground energy -48)
    >>> plant.verify()
    """
    length = validation.count(literals, "literals", 2)
    number = validation.count(true_literals, "true_literals")
    if not 0 < number < length:
        raise ValueError(
            f"true_literals={number} with literals={length} leaves nothing to choose; use 1 to "
            f"{length - 1}"
        )
    return _plan(n, clauses, clause_density, state, length, number)


@planting_method(
    "nae3sat",
    grows_on="spins",
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
) -> Plan:
    """Plant a state in which no clause has three equal literals (not-all-equal 3-SAT).

    NAE-3-SAT as in Douglass, King, Raymond ("Constructing SAT filters with a quantum annealer", SAT
    2015): a clause is half of (±s1 ±s2 ±s3)² without its constant, -1 if its literals are not all
    equal and 3 if they are. Variables of a clause are distinct; clauses are drawn with replacement,
    their signs uniformly among those that the planted state satisfies. Energies, and the
    distribution for the state of all +1, are those of
    `dimod.generators.random_nae3sat(plant_solution=True)`. The flipped planted state is a ground
    state as well.

    Args:
        n: spins, at least 3.
        clauses: the number of clauses; use this, or `clause_density`, or neither.
        clause_density: clauses per spin, the literature's ρ or α; their number is rounded up. 21/10
            if neither is given: near this ratio random clauses stop being satisfiable (Achlioptas,
            Chtcherba, Istrate and Moore, SODA 2001).
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = nae3sat(40, clause_density="21/10", rng=1)
    >>> plant
    Planted(nae3sat, 40 spins, 84 squares, ground energy -84)
    >>> plant.verify()
    """
    return _plan(n, clauses, clause_density, state, 3, 1, mirrored=True, hardest=_NAE_HARDEST)


@planting_method(
    "two-in-four",
    grows_on="spins",
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
) -> Plan:
    """Plant a state in which exactly two of the four literals of every clause are true.

    2-in-4-SAT as in Douglass, King, Raymond ("Constructing SAT filters with a quantum annealer",
    SAT 2015): a clause is half of (±s1 ±s2 ±s3 ±s4)² without its constant, -2 if two literals are
    true, 0 if one or three are, 6 if all or none are. Variables of a clause are distinct; clauses
    are drawn with replacement, their signs uniformly among those that the planted state satisfies.
    Energies, and the distribution for the state of all +1, are those of
    `dimod.generators.random_2in4sat(plant_solution=True)`. The flipped planted state is a ground
    state as well.

    Args:
        n: spins, at least 4.
        clauses: the number of clauses; use this, or `clause_density`, or neither.
        clause_density: clauses per spin; their number is rounded up. 7/10 if neither is given:
            above ln 2/ln(8/3) = 0.707, random clauses have less than one solution on average.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = two_in_four(40, clauses=28, rng=1)
    >>> plant
    Planted(two_in_four, 40 spins, 28 squares, ground energy -56)
    >>> plant.verify()
    """
    return _plan(n, clauses, clause_density, state, 4, 2, hardest=_TWO_IN_FOUR_HARDEST)
