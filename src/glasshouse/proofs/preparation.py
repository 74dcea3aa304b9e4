"""A problem prepared for proofs: its graph, and the known states."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.certificates import Certificate, ExactForm, Parts, check_fit
from glasshouse.problems import Max2Sat, Problem, to_spins, validation
from glasshouse.problems.hard_clauses import satisfy
from glasshouse.proofs.kernels import graphs
from glasshouse.proofs.parts import (
    NO_PARTS,
    certificate_of,
    clause_parts,
    joined_parts,
    named_parts,
)
from glasshouse.proofs.signed_graph import SignedGraph, Spins


class Prepared:
    """A problem prepared for a proof: its exact form, its graph, and the known states.

    Attributes:
        problem: the problem to prove.
        form: the problem in the checker's exact form.
        graph: the problem as a graph for searches; hard clauses weigh only as much as needed.
        lighter: the weight by which hard clauses are lighter in the graph.
        known: the known states, each followed by the ghost's spin.

    Args:
        problem: the problem to prove.
        state: a state to start from, or None.
        start: a certificate whose state to start from, or None.
    """

    def __init__(
        self, problem: Problem, state: npt.ArrayLike | None, start: Certificate | None
    ) -> None:
        self.problem, self.form = problem, ExactForm.of(problem)
        self.graph, self.lighter = SignedGraph.of_form(self.form), Fraction(0)
        self.known = [] if state is None else [spins_of(problem, state)]
        if isinstance(problem, Max2Sat):
            feasible = _feasible(problem, self.graph)
            self.known.append(feasible)
            self._lighten(problem, feasible)
        if start is not None:
            check_fit(start, problem.num_variables)
            self.known.append(np.append(start.state, np.int8(1)))

    @property
    def best(self) -> Spins:
        """The best of all known states, flipped if needed so that the ghost is up."""
        least = min(self.known, key=self.graph.cost, default=None)
        if least is None:
            least = np.ones(self.graph.num_vertices, dtype=np.int8)
            graphs.descend(*self.graph.rows, self.graph.couplings, least)
        self.known = [least]
        turned: Spins = least * least[self.graph.ghost]
        return turned

    def loop_certificate(self, loops: Parts) -> Certificate:
        """Return the certificate of given loops, corrected if hard clauses were made lighter."""
        lighter = named_parts(self.clause_loops(), self.graph.loop_scale)
        return certificate_of(joined_parts([loops, lighter]), self.best)

    def clause_loops(self) -> Parts:
        """Return the loops that compensate for lighter hard clauses, in the graph's units."""
        if not isinstance(self.problem, Max2Sat):
            return NO_PARTS
        return clause_parts(self.problem, self.lighter * self.graph.loop_scale / 2)

    def _lighten(self, problem: Max2Sat, feasible: Spins) -> None:
        """Make the graph's hard clauses no heavier than needed.

        A weight above the cost of a feasible state is enough, and floats lose less between numbers
        of similar size. Triangles compensate for the difference.
        """
        graph = self.graph
        if not problem.num_hard or not problem.is_integer:
            return
        cost = Fraction(graph.value(graph.cost(feasible)), graph.scale)
        enough = min(int(problem.hard_weight), 2 * int(cost) + 1)
        self.graph = SignedGraph.of_form(ExactForm.of_max2sat(problem, enough))
        self.lighter = Fraction(problem.hard_weight - enough)


def spins_of(problem: Problem, state: npt.ArrayLike) -> Spins:
    """Return a state of the problem as spins, with the ghost's +1 appended."""
    if np.ndim(state) > 1:
        raise ValueError(f"state has shape {np.shape(state)}; pass a single state")
    allowed = (problem.space.low, 1)
    own = validation.states(state, problem.num_variables, allowed, "state")
    return np.append(to_spins(own), np.int8(1))


def _feasible(problem: Max2Sat, graph: SignedGraph) -> Spins:
    """Return spins that satisfy the hard clauses, improved by single flips if possible."""
    own = np.zeros(problem.num_variables, dtype=np.int8)
    spins = spins_of(problem, satisfy(len(own), problem.hard) if problem.num_hard else own)
    better = spins.copy()
    graphs.descend(*graph.rows, graph.couplings, better)
    better *= better[graph.ghost]
    return min(better, spins, key=graph.cost)
