"""Tile planting on the cubic lattice: frustrated unit cells that share no coupling."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand
from glasshouse.planting.method import planting_method
from glasshouse.planting.planted import Planted
from glasshouse.planting.tiles import Boundary, Tile, TileLattice, TileSet, symmetries
from glasshouse.randomness import RngLike

# Loops over quarters prove the cubes: halves would do, but would not tell which couplings all
# ground states satisfy.
_DENOMINATOR = 4
# One cube of each class. Its loops add up to four times its couplings, which are -1 on the last
# edges of loops and +1 on all others. Edges whose weights exceed the loops' multipliers are those
# that all ground states of the cube satisfy; so the loops tell all there is to tell of one cube.
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
    """The cube of each class, turned and mirrored in all 48 ways."""
    return TileSet.of([[_moved(cube, move) for move in symmetries(3)] for cube in CUBES.values()])


def _moved(cube: Tile, move: tuple[int, ...]) -> Tile:
    return [(tuple(move[corner] for corner in corners), weights) for corners, weights in cube]


def _cube_demand(asked: Mapping[str, Any]) -> Demand:
    lattice = TileLattice.of(asked.get("length"), 3, asked.get("boundary", "periodic"))
    return lattice.demand(cubes())


@planting_method(
    "tiles3d",
    grows_on="spins",
    demand=_cube_demand,
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
) -> Planted:
    """Plant on the cubic lattice with couplings ±1, by frustrated cubes that share no coupling.

    Tile planting in three dimensions (Hamze, Jacob, Ochoa, Perera, Wang, Katzgraber, Physical
    Review E 97, 043303, 2018, arXiv 1711.04083). Cubes start where all coordinates are even, or all
    odd. The classes count frustrated faces: F21 has one coupling -1; F22 two, on opposite sides of
    one face; F41 two that are skew; F42 two that are diagonally opposite; F6 three that are skew to
    each other, so that all six faces are frustrated. Up to a flip, a cube has 1, 4, 2, 2 and 8
    ground states. A cube is drawn in any of its 48 positions. The spins are those of the lattice,
    row by row. Cubes are planar graphs, so loops prove them, in quarters.

    Args:
        length: spins along a side, an even number from 4 on; the paper's L. Open: from 2 on.
        p21: probability of a cube of class F21.
        p22: probability of a cube of class F22.
        p41: probability of a cube of class F41.
        p42: probability of a cube of class F42; F6 gets what is left.
        boundary: "periodic", or "open": then couplings of the border that have no cube are left
            out.
        state: the state to plant; uniform at random when None.
        rng: a seed, or whatever `numpy.random.default_rng` takes.

    >>> plant = tiles3d(8, rng=1)
    >>> plant
    Planted(tiles3d, 512 spins, 768 loops, ground energy -768)
    >>> plant.verify()
    """
    lattice = TileLattice.of(length, 3, boundary)
    named = {"p21": p21, "p22": p22, "p41": p41, "p42": p42}
    loops, spins, recipe = lattice.tiled("tiles3d", cubes(), named, "F6", state, rng)
    return Planted.of_ising(lattice.num_spins, loops, spins, 1, recipe, denominator=_DENOMINATOR)
