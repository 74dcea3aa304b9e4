"""Search trees as lines of a certificate file, in which the ghost is vertex 0."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from glasshouse.certificates import MOST_COVERED, Branch, Cover, Leaf, Order, Tree
from glasshouse.certificates.tree import Row

# The digits of the largest vertex number or count in a file.
_LONGEST_VERTEX = 12


def tree_lines(tree: Tree, ghost: int) -> Iterator[str]:
    """Yield the lines of a certificate file that describe a tree; the ghost is vertex 0.

    >>> from glasshouse.certificates import Cover
    >>> list(tree_lines(Tree((Branch(0, 2), Leaf(3, 1), Cover((1,)))), 2))
    ['tree 3', 'branch 1 0', 'leaf 3 1', 'cover 2']
    """
    yield f"tree {len(tree.rows)}"
    if tree.common_loops or tree.common_squares:
        yield f"common {tree.common_loops} {tree.common_squares}"
    for row in tree.rows:
        if isinstance(row, Leaf):
            yield f"leaf {row.loops} {row.squares}"
            continue
        nodes = row if isinstance(row, Branch) else row.nodes
        word = type(row).__name__.lower()
        yield " ".join([word, *("0" if node == ghost else str(node + 1) for node in nodes)])


@dataclass
class TreeCollector:
    """Collector of the lines of a tree in a certificate file."""

    rows: list[tuple[bytes, list[int]]] = field(default_factory=list)

    def add(self, word: bytes, values: bytes, stated: int) -> None:
        """Store one line of the tree; raise if the tree has more than `stated` lines."""
        if len(self.rows) >= stated:
            raise ValueError("the tree has more lines than the line 'tree' states")
        numbers = _whole_numbers(values, math.inf if word == b"order" else MOST_COVERED)
        if word in (b"branch", b"leaf") and len(numbers) != 2:
            raise ValueError(f"expected two numbers, not {len(numbers)}")
        self.rows.append((word, numbers))

    @property
    def has_orders(self) -> bool:
        """Whether a leaf is an elimination order."""
        return any(word == b"order" for word, _ in self.rows)

    def tree(self, common: bytes, ghost: int) -> Tree:
        """Return the tree that all lines describe; `common` counts the common loops and squares."""
        numbers = _whole_numbers(common)
        if len(numbers) != 2:
            raise ValueError(f"the line 'common' has {len(numbers)} numbers, but must have 2")
        return Tree(tuple(_row(*row, ghost) for row in self.rows), *numbers)


def _row(word: bytes, numbers: list[int], ghost: int) -> Row:
    """Return a row of a tree, given the first word and the numbers of the row's line."""
    if word == b"leaf":
        return Leaf(*numbers)
    if max(numbers, default=0) > ghost:  # the next number would mean the ghost
        raise ValueError(f"the tree has vertex {max(numbers)}, but only {ghost} variables exist")
    nodes = tuple(number - 1 if number else ghost for number in numbers)
    if word == b"branch":
        return Branch(*nodes)
    return Cover(nodes) if word == b"cover" else Order(nodes)


def _whole_numbers(text: bytes, most: float = MOST_COVERED) -> list[int]:
    """Parse the non-negative integers in a line of a tree; there may be at most `most`."""
    words = text.split(maxsplit=-1 if most == math.inf else int(most))
    if not all(word.isdigit() and len(word) < _LONGEST_VERTEX for word in words):
        limit = "" if most == math.inf else f"at most {most} "
        raise ValueError(f"expected {limit}non-negative integers")
    return list(map(int, words))
