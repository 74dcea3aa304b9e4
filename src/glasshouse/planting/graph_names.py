"""Names of graphs, such as "torus:8x8", and how large the graphs are, before any is built."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

# Larger graphs are refused before memory is. Machines are built edge by edge in Python.
MOST_NODES, MOST_EDGES, MOST_MACHINE_EDGES = 1 << 24, 1 << 28, 1 << 22
# NumPy's arrays have no more dimensions.
_MOST_DIMENSIONS = 32

MACHINES = ("chimera", "pegasus", "zephyr")


@dataclass(frozen=True)
class Extent:
    """How large a graph is.

    Attributes:
        nodes: how many nodes, exactly.
        edges: no more edges than these.
        dead: how many nodes of the family's whole graph are left out.
    """

    nodes: int
    edges: int
    dead: int = 0


@dataclass(frozen=True)
class GraphName:
    """A name taken apart: "torus:8x8 without 3" has a family, sizes and a tail.

    Lists of edges may end in labels: "edges:3 0-1 1-2 0-2 as [30,31,45]".
    """

    family: str
    sizes: tuple[int, ...]
    tail: str
    labels: str = ""

    @classmethod
    def parse(cls, name: str) -> GraphName:
        """Take a name apart, or raise a ValueError that says how names look."""
        family, _, rest = name.partition(":")
        sizes, _, tail = rest.partition(" ")
        known = family == "edges" or family in EXTENTS
        if not known or not re.fullmatch(r"[0-9]{1,18}(x[0-9]{1,18})*", sizes, re.ASCII):
            raise ValueError(
                f'{name[:60]!r} is not the name of a graph; names are "edges:3 0-1 1-2 0-2" or '
                f'like "torus:8x8", with one of {", ".join(EXTENTS)}'
            )
        numbers = tuple(int(size) for size in sizes.split("x"))
        if family == "edges":
            if len(numbers) != 1:
                raise ValueError(f'{name[:60]!r} is no list of edges like "edges:3 0-1 1-2"')
            tail, _, labels = f" {tail}".partition(" as ")
            return cls(family, numbers, tail.strip(), labels)
        if tail and not re.fullmatch(r"without [0-9]{1,18}(,[0-9]{1,18})*", tail, re.ASCII):
            raise ValueError(
                f'{name[:60]!r} should end in "without" and numbers of nodes, with commas and no '
                'blanks between them: "without 3,17"'
            )
        most = _MOST_SIZES.get(family)
        if most is not None and len(numbers) > most:
            raise ValueError(f"{name[:60]!r} has {len(numbers)} sizes, more than {family} takes")
        return cls(family, numbers, tail)

    @property
    def dead(self) -> set[int]:
        """The nodes that are left out."""
        if self.family == "edges" or not self.tail:
            return set()
        return set(map(int, self.tail.removeprefix("without ").split(",")))

    @property
    def extent(self) -> Extent:
        """How large the graph is, whatever that takes to build."""
        if self.family == "edges":
            return Extent(self.sizes[0], self.tail.count("-"))
        whole, dead = EXTENTS[self.family](*self.sizes), len(self.dead)
        return Extent(whole.nodes - dead, whole.edges, dead)


def refuse_large(extent: Extent, most_edges: int = MOST_EDGES) -> None:
    """Refuse a graph that nobody could want in memory."""
    sizes = (("nodes", extent.nodes, MOST_NODES), ("edges", extent.edges, most_edges))
    for what, number, most in sizes:
        if number > most:
            raise ValueError(
                f"the graph would have {number} {what}, above {most}, the most we build; "
                "take a smaller one"
            )


def _complete(size: int) -> Extent:
    return Extent(size, size * (size - 1) // 2)


def _layers(*sizes: int) -> Extent:
    nodes = sum(sizes)
    return Extent(nodes, (nodes**2 - sum(size**2 for size in sizes)) // 2)


def _deep(*sizes: int) -> Extent:
    return Extent(sum(sizes), sum(a * b for a, b in itertools.pairwise(sizes)))


def _lattice(*sides: int) -> Extent:
    size = math.prod(sides)
    return Extent(size, size * len(sides))


def _chimera(rows: int, columns: int | None = None, shore: int = 4) -> Extent:
    nodes = 2 * shore * rows * (rows if columns is None else columns)
    return Extent(nodes, nodes * (shore + 2) // 2)


def _pegasus(size: int) -> Extent:
    return Extent(8 * (size - 1) * (3 * size - 1), 180 * size**2)


def _zephyr(size: int, tiles: int = 4) -> Extent:
    nodes = 4 * tiles * size * (2 * size + 1)
    return Extent(nodes, nodes * 2 * (tiles + 1))


# Nodes, and nodes times half the degree of inner ones: no machine has more edges.
EXTENTS: dict[str, Callable[..., Extent]] = {
    "complete": _complete,
    "layers": _layers,
    "deep": _deep,
    "lattice": _lattice,
    "torus": _lattice,
    "chimera": _chimera,
    "pegasus": _pegasus,
    "zephyr": _zephyr,
}
_MOST_SIZES = {
    "complete": 1,
    "lattice": _MOST_DIMENSIONS,
    "torus": _MOST_DIMENSIONS,
    "chimera": 3,
    "pegasus": 1,
    "zephyr": 2,
}
