"""The frustration index of a problem at a state."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.landscape.spins import at_state
from glasshouse.problems import exact
from glasshouse.problems.convert import Given


def frustration_index(problem: Given, state: npt.ArrayLike) -> Fraction | float:
    """The weight that `state` leaves unsatisfied, as a share of all weight: the paper's f.

    Section "Frustration": `f = ½ (Σ|J| - Σ J_ij s_i s_j) / Σ|J|`, with fields as edges to a
    ghost spin. The paper takes it at the ground state; at any other state it is larger. A problem
    without weights has f = 0. For QUBO and MAX-2-SAT it is the index of their Ising form.

    Args:
        problem: any problem.
        state: one state, in the problem's own values.

    Returns:
        An exact Fraction for integer problems, else a float.

    >>> from glasshouse.problems import Ising
    >>> triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, -1])
    >>> frustration_index(triangle, [1, 1, 1])
    Fraction(1, 3)
    """
    form, spins = at_state(problem, state)
    products = spins[form.edges[:, 0]] * spins[form.edges[:, 1]]
    # Straight from the terms: in a difference of energies a large offset would drown the weights.
    unsatisfied = exact.total(np.abs(form.weights[products * np.sign(form.weights) < 0]))
    unsatisfied += exact.total(np.abs(form.fields[spins * np.sign(form.fields) < 0]))
    if form.is_integer:
        return Fraction(int(unsatisfied), int(form.total_weight) or 1)
    return unsatisfied / form.total_weight if form.total_weight else 0.0
