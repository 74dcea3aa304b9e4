"""Search trees in certificates: their leaves cover all states, and each leaf has its own bound.

A branch splits the states in two: in the first half, the spins of two vertices agree; in the second
half, they differ. The rows of a tree are in prefix order, so that no row needs a number: a branch
is followed by its first half, then by its second. A leaf is bounded by its loops and squares, by
enumerating all states of a vertex cover, or by eliminating all vertices in a given order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from glasshouse.certificates.ties import Pair
from glasshouse.problems import validation
from glasshouse.summaries import Summarised

# The largest number of vertices in a cover, all of whose states a checker enumerates.
MOST_COVERED = 24
# The 64-bit integers that are added in the time of one step of Python.
_STEPS = 500
# The 64-bit integers that are added in the time in which one vertex of an order is prepared.
_STEPS_PER_VERTEX = 200


class Branch(NamedTuple):
    """A branch: two vertices whose spins agree in the first subtree, and differ in the second."""

    first: int
    second: int


class Leaf(NamedTuple):
    """A leaf that owns the next `loops` loops and `squares` squares of the certificate."""

    loops: int
    squares: int = 0


class Cover(NamedTuple):
    """A leaf with a vertex cover: every edge has at least one end among these nodes or the ghost.

    Its least value is found by enumerating all states of these vertices.
    """

    nodes: tuple[int, ...]


class Order(NamedTuple):
    """A leaf whose least value is found by eliminating all vertices in this order.

    Vertices without edges, and the ghost, may be omitted.
    """

    nodes: tuple[int, ...]


Row: TypeAlias = Branch | Leaf | Cover | Order


class PlacedLeaf(NamedTuple):
    """A leaf with the pairs on its path, and the slices of the loops and squares that it owns."""

    row: Leaf | Cover | Order
    pairs: list[Pair]
    loops: slice
    squares: slice


@dataclass(frozen=True, repr=False)
class Tree(Summarised):
    """A search tree, stored as its rows in prefix order.

    Attributes:
        rows: the branches, leaves, covers and orders, in prefix order.
        common_loops: the number of the certificate's first loops that belong to every leaf.
        common_squares: the number of its first squares that belong to every leaf.

    >>> tree = Tree((Branch(0, 1), Leaf(2), Branch(1, 3), Leaf(1), Cover((0, 2))))
    >>> tree, [leaf.pairs for leaf in tree.leaves()][-1]
    (Tree(2 branches, 3 leaves), [(0, 1, -1), (1, 3, -1)])
    """

    rows: tuple[Row, ...]
    common_loops: int = 0
    common_squares: int = 0

    def __post_init__(self) -> None:
        for name in ("common_loops", "common_squares"):
            object.__setattr__(self, name, validation.count(getattr(self, name), name, 0))
        object.__setattr__(self, "rows", tuple(_checked_rows(self.rows)))

    @property
    def num_branches(self) -> int:
        """The number of branches."""
        return len(self.rows) // 2

    @property
    def num_leaves(self) -> int:
        """The number of leaves, one more than the number of branches."""
        return len(self.rows) - self.num_branches

    @property
    def num_covers(self) -> int:
        """The number of leaves that are covers."""
        return sum(isinstance(row, Cover) for row in self.rows)

    @property
    def num_orders(self) -> int:
        """The number of leaves that are elimination orders."""
        return sum(isinstance(row, Order) for row in self.rows)

    @property
    def num_loops(self) -> int:
        """The number of loops that a certificate with this tree must have."""
        return self.common_loops + sum(row.loops for row in self.rows if isinstance(row, Leaf))

    @property
    def num_squares(self) -> int:
        """The number of squares that a certificate with this tree must have."""
        return self.common_squares + sum(row.squares for row in self.rows if isinstance(row, Leaf))

    @property
    def highest_node(self) -> int:
        """The largest vertex that a branch, cover or order names; -1 if no vertex is named."""
        named = (row if isinstance(row, Branch) else row.nodes
                 for row in self.rows if not isinstance(row, Leaf))  # fmt: skip
        return max((node for nodes in named for node in nodes), default=-1)

    def effort(self, num_vertices: int, num_edges: int) -> int:
        """Estimate how many numbers a check of the tree reads, not counting loops and squares.

        Ties are found in steps of Python, each of which takes as long as hundreds of numbers. The
        tables of orders are not counted, because their sizes depend on the edges.
        """
        walked = depth = 0
        waiting: list[int] = []
        for row in self.rows:
            if isinstance(row, Branch):
                depth += 1
                waiting.append(depth)
                continue
            walked += _STEPS * (1 + depth) + num_vertices + num_edges
            if isinstance(row, Cover):
                walked += num_vertices << len(row.nodes)
            elif isinstance(row, Order):
                walked += _STEPS_PER_VERTEX * len(row.nodes)
            depth = waiting.pop() if waiting else 0
        return walked

    def leaves(self) -> Iterator[PlacedLeaf]:
        """Yield all leaves in order, each with its path and parts."""
        path: list[Pair] = []
        waiting: list[tuple[int, Pair]] = []
        loops, squares = self.common_loops, self.common_squares
        for row in self.rows:
            if isinstance(row, Branch):
                waiting.append((len(path), (*row, -1)))
                path.append((*row, 1))
                continue
            own = row if isinstance(row, Leaf) else Leaf(0)
            ends = loops + own.loops, squares + own.squares
            yield PlacedLeaf(row, path, slice(loops, ends[0]), slice(squares, ends[1]))
            loops, squares = ends
            if waiting:
                depth, pair = waiting.pop()
                path = [*path[:depth], pair]

    def __repr__(self) -> str:
        count = self.num_branches
        return f"Tree({count} branch{'es' * (count != 1)}, {self.num_leaves} lea" + (
            "f)" if self.num_leaves == 1 else "ves)"
        )


def _checked_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows of a tree; raise unless they form one complete tree."""
    open_ends = 1
    for k, row in enumerate(rows):
        if not isinstance(row, Row):
            raise ValueError(
                f"row {k} of a tree is {row!r:.40}; expected Branch, Leaf, Cover or Order"
            )
        if not open_ends:
            raise ValueError(f"row {k} of a tree comes after its last leaf; remove the row")
        numbers = row.nodes if isinstance(row, Cover | Order) else row
        if any(type(x) is not int or not 0 <= x < validation.MOST_VARIABLES for x in numbers):
            raise ValueError(f"row {k} of a tree, {row!r:.60}, has a number out of range")
        if not isinstance(row, Leaf) and len(set(numbers)) < len(numbers):
            raise ValueError(f"row {k} of a tree, {row!r:.60}, must not name a vertex twice")
        if isinstance(row, Cover) and len(numbers) > MOST_COVERED:
            raise ValueError(
                f"row {k} of a tree covers {len(numbers)} vertices; at most {MOST_COVERED}"
                " can be enumerated"
            )
        open_ends += 1 if isinstance(row, Branch) else -1
        yield row
    if open_ends:
        raise ValueError(f"a tree ends too early: it lacks {open_ends} of its subtrees")
