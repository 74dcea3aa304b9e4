"""The switching subset of two states, and the distance between them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from glasshouse.landscape.local import ising_form, one_state
from glasshouse.problems import Given, Ising, Rbm, given_problem

# The most entries of a matrix of booleans, which takes a gigabyte.
_MOST_PAIRS = 1 << 30
_COLUMNS = 1 << 12


def switching_subset(
    problem: Given, state: npt.ArrayLike, other: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """Mark the pairs of spins whose product differs between two states: the paper's F.

    Section "Vertex Switching as Local Gauge" and appendix B. Without biases, the energies differ by
    twice the weights in F, taken in the gauge of the first state.

    Args:
        problem: an RBM, or an Ising problem.
        state: the first state s.
        other: the second state s'.

    Returns:
        For an RBM, an n × m matrix over all pairs of a visible and a hidden spin, coupled or not.
        For an Ising problem, one boolean for each edge.

    >>> switching_subset(Rbm([[1, 1], [1, -1]]), [1, 1, 1, 1], [-1, 1, 1, 1])
    array([[ True,  True],
           [False, False]])
    """
    problem = _with_pairs(problem)
    differs = _differs(problem, state, other)
    if isinstance(problem, Ising):
        return np.not_equal(differs[problem.edges[:, 0]], differs[problem.edges[:, 1]])
    if problem.num_visible * problem.num_hidden > _MOST_PAIRS:
        raise ValueError(
            f"a {problem.num_visible} × {problem.num_hidden} matrix of booleans has more than "
            "2^30 entries; use `distance`, which does not build the matrix"
        )
    return np.not_equal(differs[: problem.num_visible, None], differs[problem.num_visible :])


def distance(problem: Given, state: npt.ArrayLike, other: npt.ArrayLike) -> Fraction:
    """Return the distance between two states: the fraction of pairs in their switching subset.

    This is the paper's pseudometric `d(s, s') = |F| / nm` (section "Metric"). It is 0 for a state
    and its flip, and `n'/n + m'/m - 2n'm'/nm` if n' visible and m' hidden spins differ.

    In an Ising problem the pairs are the edges, so a flip of a whole component changes nothing. In
    an RBM, as in the paper, all n·m pairs of a visible and a hidden spin count, coupled or not. A
    biased spin forms one more pair, with the fixed ghost spin that carries the biases. With biases,
    a flip of all spins therefore changes the distance.

    >>> distance(Rbm([[1, 1], [1, -1]]), [1, 1, 1, 1], [-1, 1, 1, 1])
    Fraction(1, 2)
    >>> distance(Rbm([[1, 1], [1, -1]]), [1, 1, 1, 1], [-1, -1, -1, -1])
    Fraction(0, 1)
    """
    problem = _with_pairs(problem)
    differs = _differs(problem, state, other)
    if isinstance(problem, Ising):
        moved = int((differs[problem.edges[:, 0]] != differs[problem.edges[:, 1]]).sum())
        pairs, biased = problem.num_edges, problem.fields != 0
    else:
        n, m = problem.num_visible, problem.num_hidden
        visible, hidden = int(differs[:n].sum()), int(differs[n:].sum())
        moved = visible * m + n * hidden - 2 * visible * hidden
        pairs, biased = n * m, ising_form(problem).fields != 0
    moved += int((differs & biased).sum())
    pairs += int(biased.sum())
    return Fraction(moved, max(pairs, 1))


def least_distance(
    problem: Ising | Rbm, states: npt.NDArray[np.int8], others: npt.NDArray[np.int8]
) -> Fraction:
    """Return the smallest `distance` between a state of one set and a state of another set."""
    biased = np.flatnonzero(ising_form(problem).fields)
    moved: Any = _different(states[:, biased], others[:, biased])
    if isinstance(problem, Ising):
        pairs = problem.num_edges
        first, second = problem.edges[:, 0], problem.edges[:, 1]
        products = (spins[:, first] * spins[:, second] for spins in (states, others))
        moved += _different(*products)
    else:
        n, m = problem.num_visible, problem.num_hidden
        pairs = n * m
        visible = _different(states[:, :n], others[:, :n])
        hidden = _different(states[:, n:], others[:, n:])
        moved += visible * m + n * hidden - 2 * visible * hidden
    return Fraction(int(moved.min()), max(pairs + len(biased), 1))


def _different(rows: npt.NDArray[np.int8], others: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Return, for each row of `rows` and each row of `others`, the number of spins that differ."""
    different = np.full((len(rows), len(others)), rows.shape[1], dtype=np.int64)
    for start in range(0, rows.shape[1], _COLUMNS):  # short sums of ±1 are exact in float32
        mine, theirs = (x[:, start : start + _COLUMNS].astype(np.float32) for x in (rows, others))
        different -= (mine @ theirs.T).astype(np.int64)
    different //= 2
    return different


def _with_pairs(given: Given) -> Ising | Rbm:
    """Return the given problem, or raise if it is neither an Ising problem nor an RBM."""
    problem = given_problem(given)
    if not isinstance(problem, Ising | Rbm):
        raise ValueError(f"a {type(problem).__name__} has no spin pairs; convert it with to_ising")
    return problem


def _differs(
    problem: Ising | Rbm, state: npt.ArrayLike, other: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """Return a mask of the spins that differ between two states."""
    size = problem.num_variables
    return np.not_equal(one_state(state, size), one_state(other, size, "other"))
