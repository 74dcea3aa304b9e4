"""Tile planting: frustrated plaquettes on square lattices, and frustrated cubes on cubic ones."""

from __future__ import annotations

import itertools
from functools import cache

from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.method import Plan, planting_method
from glasshouse.planting.methods.tiles import Boundary, Tile, TileLattice, TileSet, symmetries
from glasshouse.randomness import RngLike

# The corners of a plaquette in the order in which its couplings join them.
_AROUND = (0, 1, 3, 2)


@cache
def plaquettes() -> TileSet:
    """Return all tiles of classes C1 to C4: negative and weak couplings at all positions."""
    return TileSet.of([_plaquettes(weak - 1) for weak in (1, 2, 3, 4)])


def _plaquettes(weak: int) -> list[Tile]:
    """Return tiles with one coupling of -1, `weak` couplings of +1, and +2 for the others."""
    return [
        [(_AROUND[turn:] + _AROUND[:turn], (*positive, -1))]
        for turn in range(4)
        for positive in sorted(set(itertools.permutations([1] * weak + [2] * (3 - weak))))
    ]


@planting_method(
    "tiles2d",
    grows_on="spins",
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
) -> Plan:
    """Plant on the square lattice with frustrated plaquettes on one colour of a checkerboard.

    Tile planting (Hamze, Jacob, Ochoa, Perera, Wang, Katzgraber, Physical Review E 97, 043303,
    2018, arXiv 1711.04083; Perera, Hamze, Raymond, Weigel, Katzgraber, Physical Review E 101,
    023316, 2020, arXiv 1907.10809). A tile of class Ci has i ground states up to a flip: one
    coupling of -1, i-1 of +1 and the others +2, in any order. A lattice of C1
    only has one ground state and its flip; a lattice of C4 only is fully frustrated, with many
    ground states. The spins are numbered row by row.

    Args:
        length: spins along a side, an even number of at least 4 (2 if open); the paper's L.
        p1: probability of a tile of class C1; 0 if others are given.
        p2: probability of a tile of class C2; 1 if none of the three is given, which is the hardest
            for annealing.
        p3: probability of a tile of class C3; C4 gets the remaining probability.
        boundary: "periodic", or "open": then half of the border's couplings have no tile, and are
            left out.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

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
    return lattice.plan(plaquettes(), named, "C4", state)


# Loops over quarters prove the cubes: halves would suffice, but would not show which couplings all
# ground states satisfy.
_DENOMINATOR = 4
# One cube of each class. Its loops add up to four times its couplings, which are -1 on the last
# edges of loops and +1 on all others. Edges whose weights exceed the loops' multipliers are those
# that all ground states of the cube satisfy, so the loops show everything about one cube.
CUBES: dict[str, Tile] = {
    "F21": (
        ((1, 3, 2, 0), (1, 4, 1, -1)),
        ((1, 5, 7, 6, 4, 0), (4, 1, 4, 1, 4, -1)),
        ((1, 3, 7, 5, 4, 6, 2, 0), (3, 4, 3, 4, 3, 4, 3, -2)),
    ),
    "F22": (
        ((1, 5, 4, 0), (3, 3, 3, -3)),
        ((3, 7, 6, 2), (3, 3, 3, -3)),
        ((1, 3, 7, 5, 4, 6, 2, 0), (2, 1, 3, 1, 2, 1, 3, -1)),
        ((3, 1, 5, 7, 6, 4, 0, 2), (2, 1, 1, 1, 2, 1, 1, -1)),
    ),
    "F41": (
        ((1, 3, 2, 0), (4, 1, 3, -1)),
        ((1, 5, 4, 0), (2, 3, 2, -2)),
        ((6, 4, 0, 2), (2, 1, 1, -1)),
        ((2, 3, 7, 6), (2, 3, 3, -2)),
        ((1, 5, 7, 6, 4, 0), (2, 3, 1, 1, 1, -1)),
        ((2, 3, 7, 5, 4, 6), (1, 1, 1, 1, 1, -1)),
    ),
    "F42": (
        ((1, 3, 2, 0), (4, 2, 4, -2)),
        ((1, 5, 4, 0), (4, 2, 4, -2)),
        ((6, 2, 3, 7), (4, 2, 4, -2)),
        ((6, 4, 5, 7), (4, 2, 4, -2)),
    ),
    "F6": (
        ((1, 3, 2, 0), (2, 2, 2, -2)),
        ((1, 5, 4, 0), (2, 2, 2, -2)),
        ((6, 4, 0, 2), (2, 2, 2, -2)),
        ((2, 3, 7, 6), (2, 2, 2, -2)),
        ((5, 1, 3, 7), (2, 2, 2, -2)),
        ((7, 6, 4, 5), (2, 2, 2, -2)),
    ),
}


@cache
def cubes() -> TileSet:
    """Return the cubes of each class, rotated and mirrored in all 48 ways."""
    return TileSet.of([[_moved(cube, move) for move in symmetries(3)] for cube in CUBES.values()])


def _moved(cube: Tile, move: tuple[int, ...]) -> Tile:
    return [(tuple(move[corner] for corner in corners), weights) for corners, weights in cube]


@planting_method(
    "tiles3d",
    grows_on="spins",
    examples=({"length": 4}, {"length": 4, "boundary": "open", "p22": "1/2", "p42": "1/4"}),
    knobs={"p22": ("1", "0"), "p42": ("1", "0")},
)
def tiles3d(
    length: int,
    *,
    p21: Ratio = 0,
    p22: Ratio = 0,
    p41: Ratio = 0,
    p42: Ratio = 0,
    boundary: Boundary = "periodic",
    state: State | None = None,
    rng: RngLike = None,
) -> Plan:
    """Plant on the cubic lattice (couplings ±1) with frustrated cubes that share no coupling.

    Tile planting in three dimensions (Hamze, Jacob, Ochoa, Perera, Wang, Katzgraber, Physical
    Review E 97, 043303, 2018, arXiv 1711.04083). Cubes start where all coordinates are even, or all
    odd. The classes count frustrated faces: F21 has one coupling -1; F22 two, on opposite sides of
    one face; F41 two that are skew; F42 two that are diagonally opposite; F6 three that are skew to
    each other, so that all six faces are frustrated. Up to a flip, a cube has 1, 4, 2, 2 and 8
    ground states. A cube is drawn in any of its 48 positions. The spins are those of the lattice,
    row by row. Cubes are planar graphs, so loops prove them, in quarters.

    Args:
        length: spins along a side, an even number of at least 4 (2 if open); the paper's L.
        p21: probability of a cube of class F21.
        p22: probability of a cube of class F22.
        p41: probability of a cube of class F41.
        p42: probability of a cube of class F42; F6 gets the remaining probability.
        boundary: "periodic", or "open": then couplings of the border that have no cube are left
            out.
        state: the state to plant; uniform at random if None.
        rng: a seed, or anything that `numpy.random.default_rng` takes.

    >>> plant = tiles3d(8, rng=1)
    >>> plant
    Planted(tiles3d, 512 spins, 768 loops, ground energy -768)
    >>> plant.verify()
    """
    lattice = TileLattice.of(length, 3, boundary)
    named = {"p21": p21, "p22": p22, "p41": p41, "p42": p42}
    return lattice.plan(cubes(), named, "F6", state, _DENOMINATOR)
