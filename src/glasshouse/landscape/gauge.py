"""Vertex switching, the local gauge transformation of a spin problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from glasshouse.landscape.local import one_state
from glasshouse.problems import Ising, Polynomial, Rbm, given_problem
from glasshouse.problems.convert import HasProblem

SpinProblem = TypeVar("SpinProblem", Ising, Rbm, Polynomial)


@overload
def gauge(problem: SpinProblem, state: npt.ArrayLike) -> SpinProblem: ...


@overload
def gauge(problem: HasProblem, state: npt.ArrayLike) -> Ising | Rbm | Polynomial: ...


def gauge(problem: Any, state: npt.ArrayLike) -> Any:
    """Return the problem with the signs of its weights changed so that `state` becomes all +1.

    The paper's `G_{s,+1}` (section "Vertex Switching as Local Gauge"): `J_ij → s_i s_j J_ij` and
    `h_i → s_i h_i`, so that the new energy of `s·t` is the old energy of t. The operations form an
    abelian group: gauging by s and then by t is gauging by `s·t`, and each undoes itself. The
    paper's `G_{s,s'}` is `gauge(problem, s * s')`.

    Args:
        problem: an Ising problem, an RBM or a polynomial of spins, or a plant. Biases are
            multiplied by their spins, terms of a polynomial by the product of their spins.
        state: the spins s, each of which is ±1.

    >>> problem = Rbm([[1, -1], [1, 1]])
    >>> gauged = gauge(problem, [1, 1, 1, -1])
    >>> gauged.matrix
    array([[ 1,  1],
           [ 1, -1]])
    >>> gauged.energy([1, 1, 1, 1]) == problem.energy([1, 1, 1, -1])
    True
    """
    problem = given_problem(problem)
    if isinstance(problem, Ising):
        spins = one_state(state, problem.num_variables)
        turned = spins[problem.edges[:, 0]] * spins[problem.edges[:, 1]]
        return Ising(
            problem.num_variables,
            problem.edges,
            turned * problem.weights,
            spins * problem.fields,
            problem.offset,
            problem.labels,
        )
    if isinstance(problem, Rbm):
        spins = one_state(state, problem.num_variables)
        return _gauge_rbm(problem, spins[: problem.num_visible], spins[problem.num_visible :])
    if isinstance(problem, Polynomial) and problem.units == "spin":
        spins = one_state(state, problem.num_variables)
        turned = problem.monomials.products(spins[np.newaxis])[0]
        return replace(problem, weights=turned * problem.weights)
    raise ValueError(f"a {type(problem).__name__} has no spins to gauge; convert it with to_ising")


def _gauge_rbm(problem: Rbm, visible: npt.NDArray[np.int8], hidden: npt.NDArray[np.int8]) -> Rbm:
    weights: Any = problem.matrix
    biases: list[Any] = [problem.visible_bias, problem.hidden_bias]
    if problem.is_sparse:
        rows = np.repeat(visible, np.diff(weights.indptr))
        turned = weights.copy()
        turned.data = weights.data * rows * hidden[weights.indices]
    else:
        turned = weights * visible[:, None] * hidden
    return Rbm(turned, visible * biases[0], hidden * biases[1], problem.offset, problem.labels)
