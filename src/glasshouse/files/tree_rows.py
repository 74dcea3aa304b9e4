"""Search trees in the text of a certificate: one keyword line per row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from glasshouse.certificates import Branch, Cover, Leaf, Tree
from glasshouse.certificates.tree import MOST_COVERED, Row

WORDS = (b"branch", b"leaf", b"cover")
# No vertex and no count of a file has more digits.
_MOST_DIGITS = 12


def tree_lines(tree: Tree, ghost: int) -> Iterator[str]:
    """The lines of a tree; vertices count from 1, and the ghost is 0.

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
        word = "branch" if isinstance(row, Branch) else "cover"
        yield " ".join([word, *("0" if node == ghost else str(node + 1) for node in nodes)])


@dataclass
class TreeCollector:
    """The lines of a tree on their way in; what is wrong with one is a ValueError."""

    rows: list[tuple[bytes, list[int]]] = field(default_factory=list)

    def add(self, word: bytes, values: bytes) -> None:
        """One line, parted into its keyword and the rest."""
        numbers = whole_numbers(values)
        if word != b"cover" and len(numbers) != 2:
            raise ValueError(f"{len(numbers)} numbers; expected two")
        self.rows.append((word, numbers))

    def tree(self, ghost: int, common: bytes) -> Tree:
        """The tree, once the number of variables is known."""
        numbers = whole_numbers(common)
        if len(numbers) != 2:
            raise ValueError(f"common has {len(numbers)} numbers; expected two")
        loops, squares = numbers
        return Tree(tuple(_row(*row, ghost) for row in self.rows), loops, squares)


def whole_numbers(text: bytes) -> list[int]:
    """Some whole numbers, not below 0, as many as a line of a tree may have."""
    words = text.split(maxsplit=MOST_COVERED)
    if not all(word.isdigit() and len(word) < _MOST_DIGITS for word in words):
        raise ValueError(f"expected at most {MOST_COVERED} whole numbers")
    return list(map(int, words))


def _row(word: bytes, numbers: list[int], ghost: int) -> Row:
    if word == b"leaf":
        return Leaf(*numbers)
    if max(numbers, default=0) > ghost:  # the next number would be taken for the ghost
        raise ValueError(f"a tree visits {max(numbers)}, but the state has {ghost} variables")
    nodes = tuple(number - 1 if number else ghost for number in numbers)
    return Branch(*nodes) if word == b"branch" else Cover(nodes)
