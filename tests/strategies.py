"""Shared Hypothesis strategies: small random problems of every kind."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from glasshouse.problems import Ising, Max2Sat, Qubo, Rbm

whole = st.integers(-9, 9)
# Eighths are exact in binary, so that float identities can be tested with ==.
eighths = st.integers(-40, 40).map(lambda k: k / 8)


def numbers(exact: bool) -> st.SearchStrategy[float]:
    return whole if exact else eighths


def _array(values: list[float], exact: bool) -> np.ndarray:
    return np.array(values, dtype=np.int64 if exact else np.float64)


@st.composite
def pair_terms(draw: st.DrawFn, size: int, exact: bool) -> tuple[np.ndarray, np.ndarray]:
    """Unique ascending pairs of a random graph, and weights (zeros allowed)."""
    possible = list(itertools.combinations(range(size), 2))
    chosen = sorted(draw(st.lists(st.sampled_from(possible), unique=True))) if possible else []
    weights = draw(st.lists(numbers(exact), min_size=len(chosen), max_size=len(chosen)))
    return np.array(chosen, dtype=np.int32).reshape(-1, 2), _array(weights, exact)


@st.composite
def isings(
    draw: st.DrawFn, max_spins: int = 7, min_spins: int = 1, exact: bool | None = True
) -> Ising:
    exact = draw(st.booleans()) if exact is None else exact
    size = draw(st.integers(min_spins, max_spins))
    edges, weights = draw(pair_terms(size, exact))
    fields = draw(st.lists(numbers(exact), min_size=size, max_size=size))
    return Ising(size, edges, weights, _array(fields, exact), draw(numbers(exact)))


@st.composite
def qubos(draw: st.DrawFn, max_variables: int = 6, exact: bool | None = True) -> Qubo:
    exact = draw(st.booleans()) if exact is None else exact
    size = draw(st.integers(1, max_variables))
    edges, weights = draw(pair_terms(size, exact))
    linear = draw(st.lists(numbers(exact), min_size=size, max_size=size))
    return Qubo(size, edges, weights, _array(linear, exact), draw(numbers(exact)))


@st.composite
def rbms(draw: st.DrawFn, max_side: int = 4, exact: bool | None = True) -> Rbm:
    exact = draw(st.booleans()) if exact is None else exact
    n, m = draw(st.integers(1, max_side)), draw(st.integers(1, max_side))
    entries = draw(st.lists(numbers(exact), min_size=n * m, max_size=n * m))
    matrix = _array(entries, exact).reshape(n, m)
    biases = draw(st.lists(numbers(exact), min_size=n + m, max_size=n + m))
    visible, hidden = _array(biases[:n], exact), _array(biases[n:], exact)
    if draw(st.booleans()):
        from scipy.sparse import csr_array

        matrix = csr_array(matrix)
    return Rbm(matrix, visible, hidden, draw(numbers(exact)))


@st.composite
def max2sats(
    draw: st.DrawFn, max_variables: int = 6, hard: bool = True, exact: bool = True
) -> Max2Sat:
    """Random clauses, with repeated ones, x ∨ x, x ∨ ¬x, unit and (seldom) empty ones."""
    size = draw(st.integers(1, max_variables))
    literal = st.integers(1, size).flatmap(lambda v: st.sampled_from([v, -v]))
    unit = literal.map(lambda x: (x, 0))
    clause = st.one_of(st.tuples(literal, literal), unit)
    soft = draw(st.lists(st.one_of(clause, clause, clause, st.just((0, 0))), max_size=12))
    weights = draw(st.lists(numbers(exact).map(abs), min_size=len(soft), max_size=len(soft)))
    hards = draw(st.lists(clause, max_size=3)) if hard else []
    return Max2Sat(
        size,
        np.array(soft, dtype=np.int32).reshape(-1, 2),
        _array(weights, exact),
        np.array(hards, dtype=np.int32).reshape(-1, 2),
    )


problems = st.one_of(isings(exact=None), qubos(exact=None), rbms(exact=None), max2sats())
