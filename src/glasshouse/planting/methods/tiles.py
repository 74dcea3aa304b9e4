"""Tiles: small frustrated problems that share a ground state, laid out on a lattice.

Every coupling of the lattice belongs to at most one tile. All spins up is a ground state of every
tile, so it is one of the lattice as well. A tile is stored as frustrated loops over its corners:
the loops of all tiles prove the plant.

Corner b of a tile is one step along axis d if bit d of b is set; axis 0 is the slowest one of the
lattice, whose spins are numbered row by row.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import NodeArray
from glasshouse.planting import arguments
from glasshouse.planting.arguments import Ratio, State
from glasshouse.planting.demand import Demand, Meter
from glasshouse.planting.kernels.draws import draw_tiles
from glasshouse.planting.loops import Loops
from glasshouse.planting.method import Plan
from glasshouse.planting.planted import Planted
from glasshouse.problems import IntArray, validation
from glasshouse.randomness import Streams

Boundary: TypeAlias = Literal["periodic", "open"]
# One loop of a tile: its corners in order, and the weight of the edge that leaves each corner.
TileLoop: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
Tile: TypeAlias = Sequence[TileLoop]

_MOST_SPINS = 1 << 28  # more are refused before memory is allocated


@dataclass(frozen=True)
class TileSet:
    """The tiles of some classes, in flat arrays.

    Attributes:
        firsts: the first tile of each class, and the end of the last.
        loop_starts: the first loop of each tile, and the end of the last.
        entry_starts: the first entry of each tile, and the end of the last.
        lengths: entries of each loop.
        corners: the corner of each entry.
        weights: the weight of the edge from an entry's corner to the next one in its loop.
    """

    firsts: IntArray
    loop_starts: IntArray
    entry_starts: IntArray
    lengths: IntArray
    corners: IntArray
    weights: IntArray

    @classmethod
    def of(cls, classes: Sequence[Sequence[Tile]]) -> TileSet:
        """Build a tile set from one list of tiles for each class."""
        tiles = [tile for members in classes for tile in members]
        loops = [loop for tile in tiles for loop in tile]
        return cls(
            _starts(map(len, classes)),
            _starts(map(len, tiles)),
            _starts(sum(len(corners) for corners, _ in tile) for tile in tiles),
            np.array([len(corners) for corners, _ in loops]),
            np.array([corner for corners, _ in loops for corner in corners]),
            np.array([weight for _, weights in loops for weight in weights]),
        )

    def lay(
        self, stream: npt.NDArray[np.uint64], shares: Sequence[Fraction], places: NodeArray
    ) -> Loops:
        """Draw a tile for each row of `places`, which lists corner spins; return all loops."""
        units = math.lcm(*(share.denominator for share in shares))
        ends = np.cumsum([int(share * units) for share in shares], dtype=np.int64)
        chosen = np.empty(len(places), dtype=np.int64)
        draw_tiles(stream, ends, self.firsts, chosen)
        entries, owners = _ranges(self.entry_starts, chosen)
        loops, _ = _ranges(self.loop_starts, chosen)
        nodes = places[owners, self.corners[entries]]
        return Loops(nodes, _starts(self.lengths[loops]), self.weights[entries])


@dataclass(frozen=True)
class TileLattice:
    """A square or cubic lattice whose tiles start where all coordinates are even, or all odd.

    Attributes:
        length: spins along an axis.
        dimensions: the number of axes.
        boundary: open lattices have no couplings where no whole tile fits.
    """

    length: int
    dimensions: int
    boundary: Boundary

    @classmethod
    def of(cls, length: Any, dimensions: int, boundary: Any) -> TileLattice:
        """Return a lattice on which tiles fit, or raise an error."""
        arguments.one_of(boundary, "boundary", ("periodic", "open"))
        size = validation.count(length, "length", 4 if boundary == "periodic" else 2)
        if size % 2:
            reason = (
                "the checkerboard of tiles would not close around a periodic lattice"
                if boundary == "periodic"
                else "some corners of an open lattice would have no tile"
            )
            raise ValueError(f"length={length} is odd, so {reason}; use an even length")
        if size**dimensions > _MOST_SPINS:
            raise ValueError(f"length={length} exceeds the limit of 2^28 spins; use a smaller one")
        return cls(size, dimensions, boundary)

    @property
    def num_spins(self) -> int:
        """The number of spins."""
        return int(self.length**self.dimensions)

    @property
    def num_tiles(self) -> int:
        """The number of tiles."""
        half = self.length // 2
        odd = half if self.boundary == "periodic" else half - 1
        return int(half**self.dimensions + odd**self.dimensions)

    def places(self) -> NodeArray:
        """Return the spins of all tiles: one row per tile, one column per corner."""
        end = self.length if self.boundary == "periodic" else self.length - 1
        starts = [
            np.stack(np.meshgrid(*[np.arange(first, end, 2)] * self.dimensions, indexing="ij"))
            for first in (0, 1)
        ]
        origins = np.concatenate([start.reshape(self.dimensions, -1) for start in starts], axis=1)
        spins = np.zeros((origins.shape[1], 2**self.dimensions), dtype=np.int32)
        for corner in range(2**self.dimensions):
            for axis in range(self.dimensions):
                steps = (origins[axis] + (corner >> axis & 1)) % self.length
                spins[:, corner] = spins[:, corner] * self.length + steps
        return spins

    def plan(
        self, tiles: TileSet, named: Mapping[str, Ratio], last: str, state: State | None,
        denominator: int = 1,
    ) -> Plan:  # fmt: skip
        """Plan an instance with a random tile at every position.

        Args:
            tiles: the tiles to draw from.
            named: the probabilities of the classes, except for the last one.
            last: the class that gets the remaining probability.
            state: the state to plant; uniform at random if None.
            denominator: the number that the loops of the tiles are divided by.
        """
        shares, size, number = class_shares(named, last), self.num_spins, self.num_tiles

        def draw(streams: Streams, meter: Meter) -> Planted:
            spins = arguments.planted_state(state, size, streams[0])
            loops = tiles.lay(streams[1], shares, self.places())
            weight = int(loops.positive_weights.min()) if denominator == 1 else 1
            return Planted.of_ising(size, loops, spins, weight, denominator=denominator)

        most = (int(np.diff(starts).max()) for starts in (tiles.loop_starts, tiles.entry_starts))
        demand = Demand.of_loops(size, *(number * each for each in most))
        return Plan(demand, draw, dict(zip(named, shares, strict=False)))


def class_shares(named: Mapping[str, Ratio], last: str) -> list[Fraction]:
    """Return the exact probability of each class; the last class gets the remainder.

    >>> class_shares({"p1": "1/4", "p2": 0.5}, "C3")
    [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    """
    shares = [arguments.ratio(value, name) for name, value in named.items()]
    for (name, value), share in zip(named.items(), shares, strict=True):
        if not 0 <= share <= 1:
            raise ValueError(f"{name}={value} is not a probability; use 0 to 1")
    if sum(shares) > 1:
        given = " + ".join(f"{name}={value}" for name, value in named.items())
        raise ValueError(f"the sum {given} must be at most 1; {last} gets the rest")
    if math.lcm(*(share.denominator for share in shares)) > 1 << 62:
        raise ValueError(f"{', '.join(named)} have no common denominator below 2^62; round them")
    return [*shares, 1 - sum(shares, Fraction(0))]


def symmetries(dimensions: int) -> list[tuple[int, ...]]:
    """Return, for each symmetry of a square or a cube, where it moves the corners.

    >>> symmetries(2)[:3], len(symmetries(3))
    ([(0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1)], 48)
    """
    found = []
    for axes in itertools.permutations(range(dimensions)):
        for mirrored in range(2**dimensions):
            turned = [
                sum((corner >> axis & 1) << place for place, axis in enumerate(axes))
                for corner in range(2**dimensions)
            ]
            found.append(tuple(corner ^ mirrored for corner in turned))
    return found


def _starts(counts: Iterable[int]) -> IntArray:
    """Return the starts of consecutive ranges with these lengths, and the end of the last range."""
    ends = np.cumsum(np.fromiter(counts, dtype=np.int64))
    return np.concatenate([np.zeros(1, dtype=np.int64), ends])


def _ranges(starts: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Return the members of the chosen ranges, concatenated, and the range of each member."""
    counts = starts[chosen + 1] - starts[chosen]
    owners = np.repeat(np.arange(len(chosen)), counts)
    before = np.cumsum(counts) - counts
    return np.arange(len(owners)) + (starts[chosen] - before)[owners], owners
