"""Proofs by looking at all states of a few vertices (see `certificates.cover`)."""

from __future__ import annotations

import numpy as np

from glasshouse.certificates import MOST_COVERED, ExactForm
from glasshouse.problems import Ising, Problem, to_spins
from glasshouse.proofs.signed_graph import Spins

# Numbers that a checker looks at; Python integers take so many times longer than those of 64 bits.
_MOST_NUMBERS = 1 << 27
_WIDE = 16
_NUMBERS_PER_SECOND = 1 << 26


class Covering:
    """A few vertices without which no edge is left.

    Attributes:
        nodes: the vertices, without the ghost.
        seconds: about how long it takes to look at all their states, and to check that.
    """

    def __init__(self, nodes: tuple[int, ...], numbers: int) -> None:
        self.nodes, self.seconds = nodes, numbers / _NUMBERS_PER_SECOND

    @classmethod
    def of(cls, form: ExactForm) -> Covering | None:
        """A small cover of a problem; None if its states are too many to look at."""
        from glasshouse.solvers.exhaustive import small_cover

        inner = form.edges[form.edges[:, 1] < form.num_variables]
        degrees = np.bincount(inner.reshape(-1), minlength=form.num_variables)
        if np.sort(degrees)[-MOST_COVERED:].sum() < len(inner):  # so few cannot cover all edges
            return None
        graph = Ising.from_edges(form.num_variables, inner, np.ones(len(inner), dtype=np.int64))
        nodes = tuple(np.flatnonzero(small_cover(graph) & (degrees > 0)).tolist())
        if len(nodes) > MOST_COVERED:
            return None
        numbers = form.num_variables << len(nodes)
        numbers *= _WIDE if form.weights.dtype == object else 1
        return cls(nodes, numbers) if numbers <= _MOST_NUMBERS else None


def lowest_state(problem: Problem, form: ExactForm) -> Spins:
    """The best of all states, the ghost's +1 behind it."""
    from glasshouse.solvers.exhaustive import Enumeration

    # Of floats that are equal up to rounding, the very lowest is wanted.
    found = Enumeration(problem).run(keep=64).states
    best = min((to_spins(state) for state in found), key=form.value)
    return np.append(best, np.int8(1))
