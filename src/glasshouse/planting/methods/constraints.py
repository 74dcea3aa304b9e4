"""Planted constraint satisfaction: exactly-k-of-m, not-all-equal and 2-in-4 clauses as squares.

A literal is a spin or its negation, l = ±s, and true where it is +1. Of the literals of a clause,
exactly k of m are true where Σ l = 2k - m, so that (Σ l - (2k - m))² is zero.

Clauses are drawn one by one, as `dimod.generators` and the literature do: their variables are
distinct, but two clauses may be alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from glasshouse.certificates import Squares
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand
from glasshouse.planting.graph_names import Extent, refuse_large
from glasshouse.planting.kernels.clauses import draw_clauses
from glasshouse.planting.method import planting_method
from glasshouse.planting.planted import Planted
from glasshouse.planting.recipe import Recipe
from glasshouse.problems import validation
from glasshouse.randomness import RngLike, Seed

_NAMES = "clauses", "clause_density"


def clause_demand(asked: Mapping[str, Any], literals: int) -> Demand:
    """What clauses ask for, by their number or density; the ghost may be a node of each."""
    n, clauses, density = (asked.get(name) for name in ("n", *_NAMES))
    spins, number = _sizes(n, clauses, density, literals)
    return Demand.of_squares(spins, number, literals + 1)


def plant_clauses(
    method: str,
    n: int,
    literals: int,
    true_literals: int,
    *,
    clauses: int | None,
    clause_density: Ratio | None,
    state: State | None,
    rng: RngLike,
    mirrored: bool = False,
    held: Mapping[str, object] | None = None,
) -> Planted:
    """Plant a state in which so many literals of every clause are true.

    Args:
        method: the name of the family, for the recipe.
        n: spins.
        literals: of each clause.
        true_literals: how many of them are true.
        clauses: how many there are; give this or `clause_density`.
        clause_density: clauses per spin; their number is rounded up.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.
        mirrored: whether as many false literals do as well; then a clause is (Σ l)², and must not
            tell the one from the other.
        held: parameters that the recipe holds besides.
    """
    size, number = _sizes(n, clauses, clause_density, literals)
    seed = Seed.of(rng)
    streams = seed.streams(2)
    spins = arguments.planted_state(state, size, streams[0])
    nodes = np.empty((number, literals), dtype=np.int32)
    signs = np.empty((number, literals), dtype=np.int64)
    draw_clauses(streams[1].copy(), size, true_literals, mirrored, nodes, signs)
    signs *= spins[nodes]
    target = 0 if mirrored else 2 * true_literals - literals
    if target:
        nodes = np.column_stack([nodes, np.full(number, size, dtype=np.int32)])
        signs = np.column_stack([signs, np.full(number, -target)])
    density = None if clause_density is None else arguments.ratio(clause_density, _NAMES[1])
    values = arguments.parameters(
        state, spins, n=size, **(held or {}), clauses=clauses, clause_density=density
    )
    squares = Squares.alike(nodes, signs, 1)
    return Planted.of_squares(size, squares, spins, Recipe(method, values, seed))


def _sizes(n: Any, clauses: Any, clause_density: Any, literals: int) -> tuple[int, int]:
    spins = arguments.spins(n, 1)
    if spins < literals:
        raise ValueError(f"n={n} is too few for clauses of {literals} variables; use more spins")
    number = arguments.number_of(clauses, clause_density, spins, _NAMES)
    pairs = min(number * literals * (literals - 1), spins * (spins - 1)) // 2
    refuse_large(Extent(spins, pairs))
    return spins, number


def _shape(literals: Any, true_literals: Any) -> tuple[int, int]:
    """Literals of a clause, and how many of them are true."""
    length = validation.count(literals, "literals", 2)
    number = validation.count(true_literals, "true_literals")
    if not 0 < number < length:
        raise ValueError(
            f"true_literals={number} of literals={length} leaves nothing to choose; use 1 to "
            f"{length - 1}"
        )
    return length, number


def _exactly_demand(asked: Mapping[str, Any]) -> Demand:
    length, _ = _shape(asked.get("literals"), asked.get("true_literals"))
    return clause_demand(asked, length)


@planting_method(
    "exactly",
    grows_on="spins",
    demand=_exactly_demand,
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
) -> Planted:
    """Plant a state in which exactly k of the m literals of every clause are true.

    A clause of literals l = ±s is half of (Σ l - (2k - m))² without its constant; the number 2k - m
    becomes fields. Zero is reached by exactly k true literals and by nothing else. 1 of 3 is
    1-in-3-SAT (Schaefer 1978). Variables of a clause are distinct; clauses are drawn with
    replacement, their signs uniformly among those that the planted state satisfies. At 2k = m there
    are no fields, and the planted state turned upside down is a ground state as well.

    Args:
        n: spins, at least as many as a clause has literals.
        literals: m of each clause, at least 2.
        true_literals: k of them are true, at least 1 and fewer than m.
        clauses: how many there are; give this or `clause_density`.
        clause_density: clauses per spin; their number is rounded up.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = exactly(40, literals=3, true_literals=1, clause_density="3/5", rng=1)
    >>> plant
    Planted(exactly, 40 spins, 24 squares, ground energy -48)
    >>> plant.verify()
    """
    length, number = _shape(literals, true_literals)
    return plant_clauses(
        "exactly", n, length, number, clauses=clauses, clause_density=clause_density, state=state,
        rng=rng, held={"literals": length, "true_literals": number},
    )  # fmt: skip


@planting_method(
    "nae3sat",
    grows_on="spins",
    demand=partial(clause_demand, literals=3),
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


@planting_method(
    "two-in-four",
    grows_on="spins",
    demand=partial(clause_demand, literals=4),
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
