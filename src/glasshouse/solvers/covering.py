"""Spins that touch every coupling: once they are fixed, each of the others has its best answer.

In an RBM that is a layer, and the smaller one will do; in a sparse graph, about half of the spins.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from glasshouse.landscape.connectivity import components
from glasshouse.problems import Ising
from glasshouse.problems.bipartite import two_colouring

Marks = npt.NDArray[np.bool_]


def small_cover(form: Ising) -> Marks:
    """Mark spins so that each coupling has a marked end: few, though not always the fewest.

    In every connected part it is the smaller of a greedy choice and, where the part has two sides,
    its smaller side. A part has at least one marked spin.

    >>> star = Ising.from_edges(4, [(0, 3), (1, 3), (2, 3)], [1, 1, 1])
    >>> small_cover(star).tolist()
    [False, False, False, True]
    """
    size = form.num_variables
    labels = components(replace(form, fields=np.zeros_like(form.fields)))
    covers = [~_independent(form)]
    sides = two_colouring(form.num_variables, form.edges)
    if sides is not None:
        covers += [sides, ~sides]
    counts = np.array([np.bincount(labels[cover], minlength=size) for cover in covers])
    best = counts.argmin(axis=0)[labels]
    cover: Marks = np.stack(covers)[best, np.arange(size)]
    cover[np.bincount(form.edges.reshape(-1), minlength=size) == 0] = True  # no coupling, no other
    return cover


def _independent(form: Ising) -> Marks:
    """Spins of which no coupling joins two, those of few couplings first.

    In every round the spins that come before all their neighbours are taken, and the neighbours go;
    among equals chance decides, so that there are few rounds.
    """
    size = form.num_variables
    degree = np.bincount(form.edges.reshape(-1), minlength=size)
    rank = np.empty(size, dtype=np.int64)
    rank[np.lexsort((np.random.default_rng(0).permutation(size), degree))] = np.arange(size)
    taken, free = np.zeros(size, dtype=np.bool_), np.ones(size, dtype=np.bool_)
    ends = form.edges
    while free.any():
        ends = ends[free[ends].all(axis=1)]
        later = rank[ends[:, 0]] > rank[ends[:, 1]]
        first = free.copy()
        first[np.where(later, ends[:, 0], ends[:, 1])] = False
        taken |= first
        free &= ~first
        free[ends[first[ends].any(axis=1)].reshape(-1)] = False
    return taken
