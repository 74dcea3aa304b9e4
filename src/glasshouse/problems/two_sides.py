"""The two sides of a bipartite graph, which become the visible and the hidden spins of an RBM."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from glasshouse.problems import validation
from glasshouse.problems.ising import Ising


class Sides(NamedTuple):
    """An order of all spins: the visible spins first, and each side in ascending order.

    Attributes:
        order: the spin at each position.
        place: the position of each spin.
        num_visible: the number of visible spins.
    """

    order: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    num_visible: int


def sides_of(
    problem: Ising,
    *,
    num_visible: int | None = None,
    hidden: npt.NDArray[np.bool_] | None = None,
) -> Sides:
    """Split the spins of a problem with a bipartite graph into visible and hidden spins.

    Args:
        problem: the problem.
        num_visible: the number of visible spins, which are then the first ones.
        hidden: marks the hidden spins. Without `num_visible` and `hidden`, the lowest spin of every
            component is visible.

    Raises:
        ValueError: the graph is not bipartite, or an edge joins two spins of one side.
    """
    if hidden is None and num_visible is not None:
        visible = validation.count(num_visible, "num_visible", 1)
        hidden = np.arange(problem.num_variables) >= visible
    hidden = _hidden_side(problem, hidden)
    order = np.argsort(hidden, kind="stable")  # visible spins first
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Sides(order, place, int(len(hidden) - hidden.sum()))


def _hidden_side(problem: Ising, hidden: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_]:
    """Return a mask of the hidden spins; raise for an odd cycle or an edge inside a side."""
    size = problem.num_variables
    if size < 2:
        raise ValueError(f"a bipartite problem needs at least 2 spins, but this one has {size}")
    if hidden is not None:
        inside = hidden[problem.edges[:, 0]] == hidden[problem.edges[:, 1]]
        if inside.any():
            i, j = problem.edges[np.flatnonzero(inside)[0]]
            raise ValueError(f"spins {i} and {j} are coupled, so they must be on different sides")
        return hidden
    colours = two_colouring(size, problem.edges)
    if colours is None:
        raise ValueError("the graph is not bipartite; use `to_rbm`, which doubles the spins")
    if not colours.any():  # without edges, any split will do
        colours[-1] = True
    return colours


def two_colouring(size: int, edges: npt.NDArray[Any]) -> npt.NDArray[np.bool_] | None:
    """Return the side of each node as a boolean, or None if the graph is not bipartite.

    The lowest node of each component gets False. In the graph of pairs (node, colour), with an edge
    for "the other end has the other colour", a component holds both colours of a node exactly when
    the node lies on an odd walk.

    >>> two_colouring(3, np.array([[0, 1], [1, 2]]))
    array([False,  True, False])
    """
    first, second = edges[:, 0].astype(np.int64), edges[:, 1].astype(np.int64)
    rows, columns = np.concatenate([first, second]), np.concatenate([second, first]) + size
    labels = lowest_nodes(2 * size, rows, columns)
    if (labels[:size] == labels[size:]).any():
        return None
    return np.asarray(labels[:size] > labels[size:])


def lowest_nodes(size: int, first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return, for each node of a graph, the lowest node of its connected component.

    Each round hangs the root of a tree below the lowest root of its neighbouring trees, if that is
    lower. Two rounds halve the number of unfinished trees. SciPy does it too, but loads slowly.

    >>> lowest_nodes(5, np.array([4, 0]), np.array([1, 2]))
    array([0, 1, 0, 3, 1])
    """
    roots = np.arange(size)
    while True:
        low, high = np.minimum(roots[first], roots[second]), np.maximum(roots[first], roots[second])
        joins = np.flatnonzero(low != high)
        if not joins.size:
            return roots
        first, second = first[joins], second[joins]
        np.minimum.at(roots, high[joins], low[joins])
        while not np.array_equal(above := roots[roots], roots):
            roots = above
