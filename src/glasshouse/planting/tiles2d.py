"""Tile planting on the square lattice: frustrated plaquettes in the colours of a checkerboard."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from functools import cache
from typing import Any

from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand
from glasshouse.planting.method import planting_method
from glasshouse.planting.planted import Planted
from glasshouse.planting.tiles import Boundary, Tile, TileLattice, TileSet
from glasshouse.randomness import RngLike

# The corners of a plaquette in the order in which its couplings join them.
_AROUND = (0, 1, 3, 2)


@cache
def plaquettes() -> TileSet:
    """The tiles of the classes C1 to C4: every place of the negative and of the weak couplings."""
    return TileSet.of([_plaquettes(weak - 1) for weak in (1, 2, 3, 4)])


def _plaquettes(weak: int) -> list[Tile]:
    """Tiles with the coupling -1, so many of +1, and +2 for the others."""
    return [
        [(_AROUND[turn:] + _AROUND[:turn], (*positive, -1))]
        for turn in range(4)
        for positive in sorted(set(itertools.permutations([1] * weak + [2] * (3 - weak))))
    ]


def _plaquette_demand(asked: Mapping[str, Any]) -> Demand:
    lattice = TileLattice.of(asked.get("length"), 2, asked.get("boundary", "periodic"))
    return lattice.demand(plaquettes())


@planting_method(
    "tiles2d",
    grows_on="spins",
    demand=_plaquette_demand,
    examples=({"length": 8, "p1": "1/4", "p2": "3/4"}, {"length": 6, "boundary": "open"}),
    knobs={"p2": ("0", "1")},
)
def tiles2d(
    length: int,
    *,
    p1: Ratio | None = None,
    p2: Ratio | None = None,
    p3: Ratio | None = None,
    boundary: Boundary = "periodic",
    state: State | None = None,
    rng: RngLike = None,
) -> Planted:
    """Plant on the square lattice, by frustrated plaquettes of one colour of a checkerboard.

    Tile planting (Hamze, Jacob, Ochoa, Perera, Wang, Katzgraber, Physical Review E 97, 043303,
    2018, arXiv 1711.04083; Perera, Hamze, Raymond, Weigel, Katzgraber, Physical Review E 101,
    023316, 2020, arXiv 1907.10809). A tile of class Ci has i ground states up to a flip: one
    coupling -1, i-1 of +1 and the others +2, in any order. C1 ties all its spins, so that C1 alone
    has one ground state and its flip; C4 alone is the fully frustrated case of many. The spins are
    those of the lattice, row by row.

    Args:
        length: spins along a side, an even number from 4 on; the paper's L. Open: from 2 on.
        p1: probability of a tile of class C1; 0 where others are given.
        p2: probability of a tile of class C2; without any of the three it is 1, which is the
            hardest for annealing.
        p3: probability of a tile of class C3; C4 gets what all three leave.
        boundary: "periodic", or "open": then half of the border's couplings have no tile, and are
            left out.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = tiles2d(32, p1=1, rng=1)
    >>> plant
    Planted(tiles2d, 1024 spins, 512 loops, ground energy -2560)
    >>> print(plant.summary().ground_states)
    2 (proven: one component can be flipped)
    """
    lattice = TileLattice.of(length, 2, boundary)
    given = {"p1": p1, "p2": p2, "p3": p3}
    if all(share is None for share in given.values()):
        given["p2"] = 1
    named = {name: 0 if share is None else share for name, share in given.items()}
    loops, spins, recipe = lattice.tiled("tiles2d", plaquettes(), named, "C4", state, rng)
    weight = int(loops.positive_weights.min())
    return Planted.of_ising(lattice.num_spins, loops, spins, weight, recipe)
