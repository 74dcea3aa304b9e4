"""Proofs by enumerating all states of a few vertices (see `certificates.cover`)."""

from __future__ import annotations

import numpy as np

from glasshouse.certificates import MOST_COVERED, ExactForm
from glasshouse.problems import Ising, Problem, to_spins
from glasshouse.proofs.signed_graph import Spins

# The most numbers that a checker reads; Python integers take many times longer than int64.
_MOST_NUMBERS = 1 << 27
_WIDE = 16
_NUMBERS_PER_SECOND = 1 << 26


class Covering:
    """A small vertex cover: every edge has at least one end in it.

    Attributes:
        nodes: the vertices, without the ghost.
        seconds: the estimated time to enumerate all states of the nodes, and to check this.
    """

    def __init__(self, nodes: tuple[int, ...], numbers: int) -> None:
        self.nodes, self.seconds = nodes, numbers / _NUMBERS_PER_SECOND

    @classmethod
    def of(cls, form: ExactForm) -> Covering | None:
        """Return a small vertex cover of a problem, or None if the cover has too many states."""
        from glasshouse.solvers.exhaustive import small_cover

        inner = form.edges[form.edges[:, 1] < form.num_variables]
        degrees = np.bincount(inner.reshape(-1), minlength=form.num_variables)
        if np.sort(degrees)[-MOST_COVERED:].sum() < len(inner):  # too few to cover all edges
            return None
        graph = Ising.from_edges(form.num_variables, inner, np.ones(len(inner), dtype=np.int64))
        nodes = tuple(np.flatnonzero(small_cover(graph) & (degrees > 0)).tolist())
        if len(nodes) > MOST_COVERED:
            return None
        numbers = form.num_variables << len(nodes)
        numbers *= _WIDE if form.weights.dtype == object else 1
        return cls(nodes, numbers) if numbers <= _MOST_NUMBERS else None


def lowest_state(problem: Problem, form: ExactForm) -> Spins:
    """Return a state of least energy, found by enumeration, followed by the ghost's +1."""
    from glasshouse.solvers.exhaustive import Enumeration

    # Energies in floats may be equal up to rounding, so exact values decide.
    found = Enumeration(problem).run(keep=64).states
    best = min((to_spins(state) for state in found), key=form.value)
    return np.append(best, np.int8(1))
