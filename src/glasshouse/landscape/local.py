"""Local fields, local minima and the frustration index of a problem at one state.

All quantities are computed on the Ising form of the problem.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from glasshouse.problems import (
    Given,
    Ising,
    Polynomial,
    SpinArray,
    WeightArray,
    exact,
    given_problem,
    to_ising,
    validation,
)
from glasshouse.problems.expansion import in_units

# With float weights, an energy gain below this fraction of the total weight counts as rounding.
TOLERANCE = 1e-12


def ising_form(problem: Given) -> Ising:
    """Return the Ising form of a problem, with one spin per variable in the same order."""
    return to_ising(problem)[0]


def at_state(problem: Given, state: npt.ArrayLike) -> tuple[Ising, SpinArray]:
    """Return the Ising form of a problem, and a state of the problem converted to spins."""
    form, reduction = to_ising(problem)
    return form, one_state(reduction.forward(state), form.num_variables)


def one_state(state: npt.ArrayLike, num_spins: int, name: str = "state") -> SpinArray:
    """Return a single state as an array of ±1 spins, or raise if it is a batch of states."""
    spins = validation.states(state, num_spins, (-1, 1), name)
    if spins.ndim != 1:
        raise ValueError(f"{name} has shape {spins.shape}; pass a single state, not a batch")
    return spins


def local_fields(problem: Given, state: npt.ArrayLike) -> WeightArray:
    """Return the local field `θ_i = Σ_j J_ij s_j + h_i` of each spin.

    A flip of spin i costs `2 s_i θ_i`. In an RBM the fields are `W·h + a`, then `Wᵀ·v + b`.

    >>> from glasshouse.problems import Rbm
    >>> local_fields(Rbm([[1, 2], [1, -1]]), [1, 1, 1, 1])
    array([3, 0, 2, 1])
    """
    return fields_of(*at_state(problem, state))


def is_local_minimum(problem: Given, state: npt.ArrayLike) -> bool:
    """Return whether no flip of a single spin lowers the energy.

    Flips that cost nothing are allowed, as in the paper (section "Local Minima").

    >>> from glasshouse.problems import Rbm
    >>> is_local_minimum(Rbm([[1, 2], [1, -1]]), [1, 1, 1, 1])
    True
    """
    form, spins = at_state(problem, state)
    slack = 0 if form.is_integer else TOLERANCE * form.total_weight
    return bool((spins * fields_of(form, spins) >= -slack).all())


def fields_of(form: Ising, spins: SpinArray) -> WeightArray:
    """Return the local field of each spin of an Ising problem, exact for integer weights."""
    fields = form.fields.copy()
    first, second = form.edges[:, 0], form.edges[:, 1]
    # add.at keeps int64 exact; bincount would convert to floats.
    np.add.at(fields, first, form.weights * spins[second])
    np.add.at(fields, second, form.weights * spins[first])
    return fields


def frustration_index(problem: Given, state: npt.ArrayLike) -> Fraction | float:
    """Return the fraction of the total weight that is unsatisfied at `state`: the paper's f.

    Section "Frustration": `f = ½ (Σ|J| - Σ J_ij s_i s_j) / Σ|J|`, with fields as edges to a
    ghost spin. The paper evaluates f at the ground state; at excited states f is larger. A problem
    without weights has f = 0. For QUBO and MAX-2-SAT, f is the index of the Ising form; for
    polynomials, f is the index of their terms as products of spins.

    Args:
        problem: any problem.
        state: one state, in the problem's own values.

    Returns:
        An exact Fraction for integer problems, otherwise a float.

    >>> from glasshouse.problems import Ising
    >>> triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, -1])
    >>> frustration_index(triangle, [1, 1, 1])
    Fraction(1, 3)
    """
    problem = given_problem(problem)
    if isinstance(problem, Polynomial):
        return _frustration_of_terms(problem, state)
    form, spins = at_state(problem, state)
    products = spins[form.edges[:, 0]] * spins[form.edges[:, 1]]
    # Summed term by term, because a large offset would swamp the weights in an energy difference.
    unsatisfied = exact.total(np.abs(form.weights[products * np.sign(form.weights) < 0]))
    unsatisfied += exact.total(np.abs(form.fields[spins * np.sign(form.fields) < 0]))
    if form.is_integer:
        return Fraction(int(unsatisfied), int(form.total_weight) or 1)
    return unsatisfied / form.total_weight if form.total_weight else 0.0


def _frustration_of_terms(problem: Polynomial, state: npt.ArrayLike) -> Fraction | float:
    form, reduction = in_units(problem, "spin")
    spins = one_state(reduction.forward(state), form.num_variables)
    is_high = form.monomials.products(spins[np.newaxis])[0] * np.sign(form.weights) > 0
    unsatisfied = exact.total(np.abs(form.weights[is_high]))
    if form.is_integer:
        return Fraction(int(unsatisfied), int(form.total_weight) or 1)
    return unsatisfied / form.total_weight if form.total_weight else 0.0
