"""The fingerprint of a problem: a hash of its couplings that does not depend on the file format.

Every problem is a weighted Max-Cut graph: variables are its vertices from 1, fields are edges to
vertex 0, and the energy of a state is an affine function of its cut. The fingerprint is the SHA-256
of that graph as text, one edge `a b weight` per line with a < b, in ascending order, its weights
divided by their greatest common divisor. So the order of edges, the format, a constant and a common
factor do not matter; the numbering of the variables does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from glasshouse.certificates.exact_form import ExactForm, gcd_of
from glasshouse.problems import Given, Ising, Measure, given_problem

_BLOCK = 1 << 16  # edges formatted at once


@dataclass(frozen=True)
class Scale:
    """The exact affine map `factor · K + shift` from a reduced graph's sum K to a problem's value.

    K is the sum of weight · s_a · s_b over the edges of the reduced graph, at a state s.

    Attributes:
        factor: the factor of K; below 0 if the largest value is the best, as for a cut.
        shift: the value at K = 0.

    >>> energies = Scale(Fraction(2), Fraction(0))
    >>> energies.measured(Measure("cut", True, Fraction(-1, 2), Fraction(17)))
    Scale(factor=Fraction(-1, 1), shift=Fraction(17, 1))
    """

    factor: Fraction
    shift: Fraction

    def measured(self, measure: Measure) -> Scale:
        """Return the map to values in `measure`, derived from this map to energies."""
        shift = measure.factor * self.shift + measure.shift
        return Scale(measure.factor * self.factor, shift)


class ReducedGraph:
    """The Max-Cut graph of a problem, with weights that have no common divisor.

    Attributes:
        num_vertices: the number of vertices with an edge.
        num_edges: the number of edges.
        scale: the map from its sums K to the problem's energies.

    >>> from glasshouse.problems import Ising
    >>> chain = Ising.from_edges(3, [(0, 1), (1, 2)], [-4, 6], fields=[0, 0, 2])
    >>> graph = ReducedGraph(chain)
    >>> print(graph.text(), end="")
    0 3 -1
    1 2 2
    2 3 -3
    >>> graph.scale.factor, graph.num_vertices
    (Fraction(2, 1), 4)
    """

    def __init__(self, problem: Given) -> None:
        form = ExactForm.of(given_problem(problem))
        if form.monomials is not None:
            raise ValueError("a polynomial has no fingerprint; convert it with to_ising")
        divisor = gcd_of(form.weights) or 1
        ends = form.edges.astype(np.int64) + 1
        ends[ends > form.num_variables] = 0  # the ghost spin, to which fields are edges
        ends.sort(axis=1)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        self._ends, self._weights = ends[order], -form.weights[order] // divisor
        self.num_edges, self.num_vertices = len(order), len(np.unique(ends))
        self.scale = Scale(Fraction(divisor, form.scale), Fraction(form.constant, form.scale))

    def text(self) -> str:
        """Return the text that is hashed: all edges with their weights, one per line."""
        return "".join(self._blocks())

    def problem(self, num_variables: int) -> Ising:
        """Return the Ising problem with the energy K = Σ weight · s_a · s_b over the reduced graph.

        Args:
            num_variables: the number of spins, including those without an edge.

        >>> twice = Ising.from_edges(2, [(0, 1)], [6], fields=[0, -2])
        >>> ReducedGraph(twice).problem(2)
        Ising(2 spins, 1 edges, 1 fields, integer weights 3 to 3)
        """
        is_field = self._ends[:, 0] == 0
        fields = np.zeros(num_variables, dtype=self._weights.dtype)
        fields[self._ends[is_field, 1] - 1] = -self._weights[is_field]
        edges, weights = self._ends[~is_field] - 1, -self._weights[~is_field]
        return Ising.from_edges(num_variables, edges, weights, fields=fields)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the graph's text, in hexadecimal digits."""
        digest = hashlib.sha256()
        for block in self._blocks():
            digest.update(block.encode("ascii"))
        return digest.hexdigest()

    def _blocks(self) -> Iterator[str]:
        """Yield the graph's text in blocks, because the text of a large graph takes gigabytes."""
        for start in range(0, self.num_edges, _BLOCK):
            part = slice(start, start + _BLOCK)
            rows = zip(*self._ends[part].T.tolist(), self._weights[part].tolist(), strict=True)
            yield "".join(f"{a} {b} {weight}\n" for a, b, weight in rows)
