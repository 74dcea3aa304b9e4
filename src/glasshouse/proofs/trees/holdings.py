"""How many bytes the leaves of a tree hold; what several leaves share counts once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from glasshouse.proofs.trees.search_tree import Node


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
