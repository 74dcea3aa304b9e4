"""Clauses as squares: what the families of constraint satisfaction share.

A literal is a spin or its negation, l = ±s, and true where it is +1. Of the literals of a clause,
exactly k of m are true where Σ l = 2k - m, so that (Σ l - (2k - m))² is zero.

Clauses are drawn one by one, as `dimod.generators` and the literature do: their variables are
distinct, but two clauses may be alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from glasshouse.certificates import Squares
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand
from glasshouse.planting.graph_names import Extent, refuse_large
from glasshouse.planting.kernels.clauses import draw_clauses
from glasshouse.planting.planted import Planted
from glasshouse.planting.recipe import Recipe
from glasshouse.randomness import RngLike, Seed

_NAMES = "clauses", "clause_density"


def clause_demand(n: Any, clauses: Any, clause_density: Any, literals: int) -> Demand:
    """What clauses ask for, by their number or density; the ghost may be a node of each."""
    spins, number = _sizes(n, clauses, clause_density, literals)
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
