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

_DEAD = re.compile(r"without [0-9]{1,18}(-[0-9]{1,18})?(,[0-9]{1,18}(-[0-9]{1,18})?)*", re.ASCII)


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
    """The parts of a name: "torus:8x8 without 3,0-1" has a family, sizes and a tail.

    The tail lists dead nodes, and dead edges as two nodes with a hyphen between them. Lists of
    edges may end in labels: "edges:3 0-1 1-2 0-2 as [30,31,45]".
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
        if tail and not _DEAD.fullmatch(tail):
            raise ValueError(
                f'{name[:60]!r} should end in "without" and dead nodes or edges, with commas and '
                'no blanks between them: "without 3,17" or "without 3,0-4"'
            )
        most = _MOST_SIZES.get(family)
        if most is not None and len(numbers) > most:
            raise ValueError(f"{name[:60]!r} has {len(numbers)} sizes, more than {family} takes")
        return cls(family, numbers, tail)

    @property
    def dead(self) -> set[int]:
        """The nodes that are left out; numbers that no node of the whole graph has do not count."""
        return {int(word) for word in self._gone if "-" not in word and not self.is_hole(int(word))}

    @property
    def dead_edges(self) -> set[tuple[int, int]]:
        """The edges that are left out, besides those of dead nodes, as pairs i < j."""
        pairs = (sorted(map(int, word.split("-"))) for word in self._gone if "-" in word)
        return {(low, high) for low, high in pairs}

    @property
    def _gone(self) -> list[str]:
        if self.family == "edges" or not self.tail:
            return []
        return self.tail.removeprefix("without ").split(",")

    def lacks(self, label: object) -> bool:
        """Return whether a label names a qubit that the chip does not have: dead, or a hole."""
        return isinstance(label, int) and (label in self.dead or self.is_hole(label))

    def is_hole(self, number: int) -> bool:
        """Return whether a chip numbers its qubits so that no qubit ever has this number.

        Pegasus numbers qubits by coordinates, of which a few have no place on the chip.
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
