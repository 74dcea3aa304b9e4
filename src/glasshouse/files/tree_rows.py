"""Search trees in the text of a certificate: one keyword line per row."""

from __future__ import annotations

from dataclasses import dataclass, field

from glasshouse.certificates import Branch, Cover, Leaf, Tree
from glasshouse.certificates.tree import MOST_COVERED, Row

WORDS = (b"branch", b"leaf", b"cover")
# No vertex and no count of a file has more digits.
_MOST_DIGITS = 12


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
