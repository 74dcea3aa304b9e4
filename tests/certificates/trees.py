"""Hypothesis strategies for certificates with a tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from glasshouse.certificates import Branch, Certificate, Cover, Leaf, Order, Squares, Tree
from glasshouse.certificates.tree import Row


def forest_of_parts(certificate: Certificate, tree: Tree) -> Certificate:
    """A certificate with a tree over its loops and squares."""
    return replace(certificate, tree=tree)


@st.composite
def rows(draw: st.DrawFn, size: int, depth: int = 3) -> list[Row]:
    """A tree's rows, leaves with a few parts each."""
    if depth and draw(st.booleans()):
        pair = draw(st.lists(st.integers(0, size), min_size=2, max_size=2, unique=True))
        return [Branch(*pair), *draw(rows(size, depth - 1)), *draw(rows(size, depth - 1))]
    kind = draw(st.integers(0, 7))
    if kind < 2:
        order = draw(st.permutations(range(size + 1)))
        return [Order(tuple(order[draw(st.integers(0, 1)) * draw(st.integers(0, 1)) :]))]
    if kind < 4:
        return [Cover(tuple(draw(st.lists(st.integers(0, size), max_size=size, unique=True))))]
    return [Leaf(draw(st.integers(0, 2)), draw(st.integers(0, 2)))]


@st.composite
def trees(draw: st.DrawFn, size: int, largest: int = 9) -> Certificate:
    """Any tree over some spins and the ghost, with any loops and squares."""
    if size < 2:  # too small for loops
        return Certificate(np.ones(size, dtype=np.int8), [], [0], [], tree=Tree((Leaf(0),)))
    tree = Tree(tuple(draw(rows(size))), draw(st.integers(0, 2)), draw(st.integers(0, 2)))
    nodes = st.integers(0, size)
    cycles = [draw(st.lists(nodes, min_size=3, max_size=min(6, size + 1), unique=True))
              for _ in range(tree.num_loops)]  # fmt: skip
    factor = st.integers(-3, 3).filter(bool)
    squares = [
        [(node, draw(factor)) for node in draw(st.lists(nodes, min_size=1, unique=True))]
        for _ in range(tree.num_squares)
    ]
    numbers = st.integers(1, largest)
    marks = [[*(draw(st.booleans()) for _ in cycle[1:]), True] for cycle in cycles]
    for mark in marks:
        mark[0] ^= sum(mark) % 2 == 0  # an odd number of violated edges
    return Certificate(
        np.array([draw(st.sampled_from([-1, 1])) for _ in range(size)], dtype=np.int8),
        np.array([node for cycle in cycles for node in cycle], dtype=np.int64),
        np.cumsum([0, *map(len, cycles)]),
        np.array([draw(numbers) for _ in cycles], dtype=np.int64),
        draw(st.integers(1, 4)),
        np.array([mark for row in marks for mark in row], dtype=bool),
        Squares.of(squares, np.array([draw(numbers) for _ in squares], dtype=np.int64)),
        tree,
    )
