"""Names of graphs, such as "torus:8x8", and the sizes of these graphs before they are built."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

# Larger graphs are refused before memory is allocated. Chips are built edge by edge in Python.
MOST_NODES, MOST_EDGES, MOST_MACHINE_EDGES = 1 << 24, 1 << 28, 1 << 22
# NumPy's arrays have at most this many dimensions.
_MOST_DIMENSIONS = 32

MACHINES = ("chimera", "pegasus", "zephyr")

_DEAD = re.compile(r"without [0-9]{1,18}(-[0-9]{1,18})?(,[0-9]{1,18}(-[0-9]{1,18})?)*", re.ASCII)


@dataclass(frozen=True)
class Extent:
    """The size of a graph.

    Attributes:
        nodes: the exact number of nodes.
        edges: an upper bound of the number of edges.
        dead: the number of nodes of the whole graph that are left out.
    """

    nodes: int
    edges: int
    dead: int = 0


@dataclass(frozen=True)
class GraphName:
    """The parts of a name: "torus:8x8 without 3,0-1" has a family, sizes and a tail.

    The tail lists dead nodes, and dead edges as two nodes separated by a hyphen. Lists of edges may
    end in labels: "edges:3 0-1 1-2 0-2 as [30,31,45]".
    """

    family: str
    sizes: tuple[int, ...]
    tail: str
    labels: str = ""

    @classmethod
    def parse(cls, name: str) -> GraphName:
        """Parse a name; if the name is not valid, raise a ValueError that explains the format."""
        family, _, rest = name.partition(":")
        sizes, _, tail = rest.partition(" ")
        known = family == "edges" or family in EXTENTS
        if not known or not re.fullmatch(r"[0-9]{1,18}(x[0-9]{1,18})*", sizes, re.ASCII):
            raise ValueError(
                f'{name[:60]!r} is not the name of a graph; use edges as in "edges:3 0-1 1-2 0-2" '
                f'or sizes as in "torus:8x8", with one of {", ".join(EXTENTS)}'
            )
        numbers = tuple(int(size) for size in sizes.split("x"))
        if family == "edges":
            if len(numbers) != 1:
                raise ValueError(f'{name[:60]!r} is not a list of edges like "edges:3 0-1 1-2"')
            tail, _, labels = f" {tail}".partition(" as ")
            return cls(family, numbers, tail.strip(), labels)
        if tail and not _DEAD.fullmatch(tail):
            raise ValueError(
                f'{name[:60]!r} must end in "without" and dead nodes or edges, separated by commas '
                'without spaces: "without 3,17" or "without 3,0-4"'
            )
        most = _MOST_SIZES.get(family)
        if most is not None and len(numbers) > most:
            raise ValueError(f"{name[:60]!r} has {len(numbers)} sizes; {family} has at most {most}")
        return cls(family, numbers, tail)

    @property
    def dead(self) -> set[int]:
        """The dead nodes that the name lists, except for numbers that the chip does not use."""
        return {int(word) for word in self._gone if "-" not in word and not self.is_hole(int(word))}

    @property
    def dead_edges(self) -> set[tuple[int, int]]:
        """The dead edges that the name lists, as pairs i < j; edges of dead nodes are not added."""
        pairs = (sorted(map(int, word.split("-"))) for word in self._gone if "-" in word)
        return {(low, high) for low, high in pairs}

    @property
    def _gone(self) -> list[str]:
        if self.family == "edges" or not self.tail:
            return []
        return self.tail.removeprefix("without ").split(",")

    def lacks(self, label: object) -> bool:
        """Return whether a label names a qubit missing from the chip: a dead qubit, or a hole."""
        return isinstance(label, int) and (label in self.dead or self.is_hole(label))

    def is_hole(self, number: int) -> bool:
        """Return whether the chip's numbering skips this number.

        Pegasus numbers qubits by coordinates, a few of which are not on the chip.
        """
        if self.family != "pegasus":
            return False
        size = self.sizes[0]
        column, place = divmod(number, max(12 * (size - 1), 1))
        column, track = column % size, place // max(size - 1, 1)
        is_border = (column == 0 and track < 2) or (column == size - 1 and track >= 10)
        return is_border and number < 24 * size * (size - 1)

    @property
    def extent(self) -> Extent:
        """The size of the graph, computed without building it."""
        if self.family == "edges":
            return Extent(self.sizes[0], self.tail.count("-"))
        whole, dead = EXTENTS[self.family](*self.sizes), len(self.dead)
        return Extent(whole.nodes - dead, whole.edges, dead)


def refuse_large(extent: Extent, most_edges: int = MOST_EDGES) -> None:
    """Refuse a graph that is too large for memory."""
    sizes = (("nodes", extent.nodes, MOST_NODES), ("edges", extent.edges, most_edges))
    for what, number, most in sizes:
        if number > most:
            raise ValueError(
                f"the graph would have {number} {what}, above the limit of {most}; "
                "use a smaller graph"
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


# Nodes, and nodes times half the degree of inner nodes: no chip has more edges.
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
