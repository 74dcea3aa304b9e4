"""Nodes of a search tree, the certificate of a tree, and the memory use of its leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from glasshouse.certificates import Branch, Certificate, Cover, Leaf, Order, Pair, Parts, Tree
from glasshouse.certificates.tree import Row
from glasshouse.proofs.parts import certificate_of, joined_parts
from glasshouse.proofs.signed_graph import Spins


@dataclass(eq=False)
class Node:
    """A node of a search tree: the states that satisfy the pairs on the path to the node.

    Attributes:
        pairs: the pairs on the path, over the core's vertices.
        parts: loops and squares that bound the states, over the whole problem. A new node has the
            parts of its parent, which are valid for both children. Only leaves have parts.
        bound: the exact bound of the parts.
        least: the least value that the bound allows.
        warm: data from which a relaxation may start.
        exact: a row of the tree whose least value is computed, instead of the parts.
        children: the two halves of a branched node: the pair agrees, and the pair differs.
        is_finished: whether the search is done because floats cannot resolve the remaining gap.
    """

    pairs: list[Pair]
    parts: Parts
    bound: Fraction
    least: int
    warm: Any = None
    exact: Cover | Order | None = None
    children: list[Node] = field(default_factory=list)
    is_finished: bool = False

    def leaves(self) -> Iterator[Node]:
        """Yield the node itself if it is a leaf, else the leaves below it, in certificate order."""
        return (node for node in self.nodes() if not node.children)

    def nodes(self) -> Iterator[Node]:
        """Yield this node and all nodes below it, each before its children."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            waiting += reversed(node.children)
            yield node

    def take(self, other: Node) -> None:
        """Replace this node by the result of exploring it in another process."""
        self.parts, self.bound, self.least = other.parts, other.bound, other.least
        self.exact, self.children, self.is_finished = other.exact, other.children, other.is_finished

    def forget(self) -> None:
        """Drop the parts and the warm start, because only leaves need them."""
        self.parts, self.warm = self.parts.chosen([slice(0, 0)], [slice(0, 0)]), None

    def split(self, pair: Pair) -> tuple[Node, Node]:
        """Branch on a pair; return both children, beginning with the child of the given sign."""
        a, b, sign = pair
        self.children = [
            Node([*self.pairs, (a, b, side)], self.parts, self.bound, self.least, self.warm)
            for side in (1, -1)
        ]
        self.forget()
        first, second = self.children if sign > 0 else reversed(self.children)
        return first, second


def certificate_of_tree(root: Node, common: Parts, names: Any, spins: Spins) -> Certificate:
    """Return the certificate of a tree with the given state; open nodes count as leaves.

    Args:
        root: the root of the tree.
        common: the parts that all leaves share.
        names: for each vertex of the pairs, its node in the problem.
        spins: the spins of the problem, followed by the ghost's.
    """
    parts, rows = [common], list[Row]()
    for node in root.nodes():
        if node.children:
            a, b, _ = node.children[0].pairs[-1]
            rows.append(Branch(int(names[a]), int(names[b])))
        elif node.exact is not None:
            rows.append(node.exact)
        else:
            parts.append(node.parts)
            rows.append(Leaf(len(node.parts.multipliers), node.parts.squares.num_squares))
    counts = len(common.multipliers), common.squares.num_squares
    is_one_leaf = len(rows) == 1 and root.exact is None
    tree = None if is_one_leaf else Tree(tuple(rows), *counts)
    return certificate_of(joined_parts(parts), spins, tree)


class Holdings:
    """A counter of the memory that the parts and warm starts of a tree's leaves take.

    Children begin with the parts and the warm start of their parent, and the warm starts of an LP
    share most of their cuts.

    Attributes:
        num_bytes: the memory of all parts and warm starts, in bytes.
    """

    def __init__(self) -> None:
        self.num_bytes = 0
        self._users: dict[int, int] = {}

    def recount(self, root: Node) -> None:
        """Count the memory of all leaves of a tree from scratch."""
        self.num_bytes = 0
        self._users.clear()
        self._keep(root)

    @contextmanager
    def changing(self, node: Node) -> Iterator[None]:
        """Keep the count correct while the leaves below `node` change in the `with` block."""
        for leaf in node.leaves():
            self._count(leaf.parts, -1)
            self._count(leaf.warm, -1)
        try:
            yield
        finally:
            self._keep(node)

    def _keep(self, node: Node) -> None:
        for leaf in node.leaves():
            self._count(leaf.parts, 1)
            self._count(leaf.warm, 1)

    def _count(self, thing: Any, change: int) -> None:
        """Add or remove a user of an object; objects with several users are counted once."""
        if thing is None:
            return
        before = self._users.pop(id(thing), 0)
        if before + change:
            self._users[id(thing)] = before + change
        if before == 0 or before + change == 0:
            self.num_bytes += change * thing.num_bytes
            for shared in getattr(thing, "shared", ()):
                self._count(shared, change)
