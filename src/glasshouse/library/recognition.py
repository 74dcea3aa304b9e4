"""Recognition of standard instances by their content."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from glasshouse.library.fingerprint import ReducedGraph, Scale
from glasshouse.library.table import Instance, Value, instances
from glasshouse.problems import Given, Ising, Max2Sat, Measure, Problem, Qubo, given_problem
from glasshouse.problems.validation import Number, shown
from glasshouse.summaries import Summarised


@dataclass(frozen=True, repr=False)
class Recognition(Summarised):
    """A recognised standard instance, and the map from its reduced graph to the problem's energies.

    Attributes:
        instance: the standard instance.
        scale: the map from the instance's reduced graph to the energies of the problem.
    """

    instance: Instance
    scale: Scale

    def value_in(self, measure: Measure) -> Number:
        """Return the best known value in `measure`, the measure of the problem's file."""
        return measure.of(self._energy(self.instance.value))

    def bound_in(self, measure: Measure) -> Number:
        """Return the proven bound in `measure`, the measure of the problem's file."""
        return measure.bound(self._energy(self.instance.bound))

    def told(self, measure: Measure) -> str:
        """Return one line of text with the instance's name and its known optimum or bounds."""
        value = shown(self.value_in(measure))
        if self.instance.proven:
            return f"this is {self.instance.name}; known optimum {value}, proven"
        bound = f"{measure.bound_name} {shown(self.bound_in(measure))}"
        return f"this is {self.instance.name}; best {measure.name} known {value}, {bound}"

    def _energy(self, value: Value) -> Value:
        return self.scale.factor * self.instance.reduced(value) + self.scale.shift


def recognise(problem: Given, among: tuple[Instance, ...] | None = None) -> Recognition | None:
    """Recognise a problem as a standard instance; return None if it is not one.

    The format, the order of the terms, a constant and a common factor do not matter, but the
    numbering of the variables does. Problems with hard clauses are never recognised.

    Args:
        problem: any problem.
        among: the instances to compare with; by default all that glasshouse includes.

    >>> from glasshouse.problems import Ising
    >>> recognise(Ising.from_edges(2, [(0, 1)], [1])) is None
    True
    """
    problem = given_problem(problem)
    alike = [k for k in (instances() if among is None else among) if _has_size_of(problem, k)]
    if not alike:
        return None
    try:
        graph = ReducedGraph(problem)
    except ValueError:  # exact sums of floats of very different sizes take gigabytes
        return None
    alike = [k for k in alike if (k.vertices, k.edges) == (graph.num_vertices, graph.num_edges)]
    fingerprint = graph.fingerprint() if alike else ""
    return next((Recognition(k, graph.scale) for k in alike if k.fingerprint == fingerprint), None)


def _has_size_of(problem: Problem, instance: Instance) -> bool:
    """Compare numbers of variables and terms; return False if they rule out the instance.

    A file may omit variables without terms, and fields add one vertex.
    """
    if not instance.vertices - 1 <= problem.num_variables <= instance.variables:
        return False
    if isinstance(problem, Ising):
        edges = np.count_nonzero(problem.weights) + np.count_nonzero(problem.fields)
        return bool(edges == instance.edges)
    if isinstance(problem, Qubo):
        fields = instance.edges - int(np.count_nonzero(problem.weights))
        return 0 <= fields <= problem.num_variables
    if isinstance(problem, Max2Sat):
        return not problem.num_hard and 3 * problem.num_clauses >= instance.edges
    return False  # an RBM numbers its visible units first
