"""Connected components of the coupling graph, and isolated spins."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from glasshouse.landscape.local import ising_form
from glasshouse.problems import Clauses, Given, Ising, MaxSat, Monomials, Polynomial, given_problem
from glasshouse.problems.two_sides import lowest_nodes


def components(problem: Given) -> npt.NDArray[np.int32]:
    """Return, for each spin, the index of its connected component.

    Components are numbered from 0, in the order of their first spins. An isolated spin is its own
    component. Spins with a field are connected through the ghost spin that carries the fields.

    >>> from glasshouse.problems import Ising
    >>> components(Ising.from_edges(5, [(0, 2), (1, 4)], [1, -1]))
    array([0, 1, 0, 2, 1], dtype=int32)
    """
    form = graph_form(problem)
    biased = np.flatnonzero(form.fields)
    rows = np.concatenate([form.edges[:, 0], np.full(len(biased), form.num_variables)])
    columns = np.concatenate([form.edges[:, 1], biased])
    lowest = lowest_nodes(form.num_variables + 1, rows, columns)[:-1]
    return np.unique(lowest, return_inverse=True)[1].astype(np.int32)


def free_spins(problem: Given) -> npt.NDArray[np.int32]:
    """Return the indices of all spins without couplings and without a field.

    >>> from glasshouse.problems import Ising
    >>> free_spins(Ising.from_edges(5, [(0, 2), (1, 4)], [1, -1]))
    array([3], dtype=int32)
    """
    form = graph_form(problem)
    touched = form.fields != 0
    touched[form.edges.reshape(-1)] = True
    return np.flatnonzero(~touched).astype(np.int32)


def graph_form(problem: Given) -> Ising:
    """Return an Ising problem that has the same connected components as the given problem.

    It is the Ising form. For polynomials and clauses, it is a graph in which each term is a path.
    """
    problem = given_problem(problem)
    if isinstance(problem, MaxSat):
        clauses = Clauses.joined([problem.soft, problem.hard])
        held = Monomials(np.abs(clauses.literals) - 1, clauses.starts)
    elif isinstance(problem, Polynomial):
        held = problem.monomials
    else:
        return ising_form(problem)
    joins = np.flatnonzero(np.diff(held.rows) == 0)
    ends = np.column_stack([held.indices[joins], held.indices[joins + 1]])
    ends = ends[ends[:, 0] != ends[:, 1]]
    fields = np.zeros(problem.num_variables, dtype=np.int64)
    fields[held.indices[held.starts[:-1][held.degrees == 1]]] = 1
    return Ising.from_edges(problem.num_variables, ends, np.ones(len(ends), int), fields)
