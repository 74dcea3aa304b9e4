"""Ties: pairs of spins that agree or differ on a path of a search tree, combined into classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

# (a, b, sign): the spins of a and b agree (sign +1) or differ (-1).
Pair = tuple[int, int, int]


class Ties(NamedTuple):
    """The root of each vertex's class, and the vertex's sign: s_v = signs[v] · s_roots[v]."""

    roots: npt.NDArray[np.int32]
    signs: npt.NDArray[np.int8]


def ties_of(size: int, pairs: Iterable[Pair]) -> Ties | None:
    """Combine `size` vertices into classes by tied pairs; None if the pairs are contradictory.

    >>> ties = ties_of(4, [(0, 2, -1), (2, 3, -1)])
    >>> ties.roots.tolist(), ties.signs.tolist()
    ([0, 1, 0, 0], [1, 1, -1, 1])
    >>> ties_of(3, [(0, 1, 1), (1, 2, 1), (0, 2, -1)]) is None
    True
    """
    near: dict[int, list[tuple[int, int]]] = {}
    for a, b, sign in pairs:
        near.setdefault(a, []).append((b, sign))
        near.setdefault(b, []).append((a, sign))
    found: dict[int, tuple[int, int]] = {}
    for root in sorted(near):
        waiting = [] if root in found else [(root, 1)]
        while waiting:
            vertex, sign = waiting.pop()
            if vertex not in found:
                found[vertex] = root, sign
                waiting += [(other, sign * relative) for other, relative in near[vertex]]
            elif found[vertex] != (root, sign):
                return None
    roots, signs = np.arange(size, dtype=np.int32), np.ones(size, dtype=np.int8)
    tied = list(found)
    roots[tied] = [root for root, _ in found.values()]
    signs[tied] = [sign for _, sign in found.values()]
    return Ties(roots, signs)
