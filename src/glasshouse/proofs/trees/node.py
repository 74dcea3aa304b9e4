"""Nodes of a search tree, the certificate that they are, and the bytes that they hold."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from glasshouse.certificates import Branch, Certificate, Cover, Leaf, Pair, Parts, Tree
from glasshouse.certificates.tree import Row
from glasshouse.proofs.parts import certificate_of, joined_parts
from glasshouse.proofs.signed_graph import Spins


@dataclass(eq=False)
class Node:
    """Some states: those that keep the pairs on the way to it.

    Attributes:
        pairs: over the core's vertices.
        parts: loops and squares that bound them, over the whole problem; a new node has those of
            its parent, which hold for it, too. Only leaves have any.
        bound: exactly what they prove.
        least: the least value that this leaves possible.
        warm: what a relaxation may start from.
        cover: nodes to look at all states of, instead of the parts.
        children: of a node that was branched on: where the pair agrees, and where it differs.
        is_finished: whether nothing is left to do, because floats cannot tell what is left.
    """

    pairs: list[Pair]
    parts: Parts
    bound: Fraction
    least: int
    warm: Any = None
    cover: tuple[int, ...] | None = None
    children: list[Node] = field(default_factory=list)
    is_finished: bool = False

    def leaves(self) -> Iterator[Node]:
        """The node itself, or the leaves below it, in the order of a certificate."""
        return (node for node in self.nodes() if not node.children)

    def nodes(self) -> Iterator[Node]:
        """All nodes, each before those below it."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            waiting += reversed(node.children)
            yield node

    def take(self, other: Node) -> None:
        """Become what the same node became elsewhere."""
        self.parts, self.bound, self.least = other.parts, other.bound, other.least
        self.cover, self.children, self.is_finished = other.cover, other.children, other.is_finished

    def forget(self) -> None:
        """Let go of what only leaves need that are bounded by parts."""
        self.parts, self.warm = self.parts.chosen([slice(0, 0)], [slice(0, 0)]), None

    def split(self, pair: Pair) -> tuple[Node, Node]:
        """Branch on a pair; the half that its sign names comes first in what is returned."""
        a, b, sign = pair
        self.children = [
            Node([*self.pairs, (a, b, side)], self.parts, self.bound, self.least, self.warm)
            for side in (1, -1)
        ]
        self.forget()
        first, second = self.children if sign > 0 else reversed(self.children)
        return first, second


def certificate_of_tree(root: Node, common: Parts, names: Any, spins: Spins) -> Certificate:
    """The certificate that a tree is, at a state; nodes that are open are leaves like all others.

    Args:
        root: of the tree.
        common: what all leaves have.
        names: which node of the problem each vertex of the pairs is.
        spins: of the problem, the ghost's behind them.
    """
    parts, rows = [common], list[Row]()
    for node in root.nodes():
        if node.children:
            a, b, _ = node.children[0].pairs[-1]
            rows.append(Branch(int(names[a]), int(names[b])))
        elif node.cover is not None:
            rows.append(Cover(node.cover))
        else:
            parts.append(node.parts)
            rows.append(Leaf(len(node.parts.multipliers), node.parts.squares.num_squares))
    counts = len(common.multipliers), common.squares.num_squares
    is_one_leaf = len(rows) == 1 and root.cover is None
    tree = None if is_one_leaf else Tree(tuple(rows), *counts)
    return certificate_of(joined_parts(parts), spins, tree)


class Holdings:
    """Parts and warm starts of the leaves of a tree.

    Children begin with the parts and the warm start of their parent, and the warm starts of an LP
    share most of their cuts.

    Attributes:
        num_bytes: what they take together.
    """

    def __init__(self) -> None:
        self.num_bytes = 0
        self._users: dict[int, int] = {}

    def recount(self, root: Node) -> None:
        """Count the leaves of a tree, and nothing else."""
        self.num_bytes = 0
        self._users.clear()
        self._keep(root)

    @contextmanager
    def changing(self, node: Node) -> Iterator[None]:
        """Change a leaf in this block, or what is below a node."""
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
        """One user more or less; the first one counts the thing itself, and what it shares."""
        if thing is None:
            return
        before = self._users.pop(id(thing), 0)
        if before + change:
            self._users[id(thing)] = before + change
        if before == 0 or before + change == 0:
            self.num_bytes += change * thing.num_bytes
            for shared in getattr(thing, "shared", ()):
                self._count(shared, change)
