"""Shared Hypothesis strategies: small random problems of every kind."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from glasshouse.problems import Ising, Max2Sat, Problem, Qubo, Rbm

Numbers = st.SearchStrategy[float] | None

whole = st.integers(-9, 9)
# Eighths are exact in binary, so that float identities can be tested with ==.
eighths = st.integers(-40, 40).map(lambda k: k / 8)


# Limits of int64 and float64: sums and products of a few such numbers wrap, round or overflow.
INTEGER_MAGNITUDES = [
    1, 3, 2**31, 2**32, 2**53 - 1, 2**53 + 1, 2**60, 2**61, 2**62 - 1, 2**62, 2**63 - 1,
]  # fmt: skip
FLOAT_MAGNITUDES = [5e-324, 1e-310, 1e-300, 1.0, 1e150, 1e300, 1.7e308]


def numbers(exact: bool, values: Numbers = None) -> st.SearchStrategy[float]:
    if values is not None:
        return values
    return whole if exact else eighths


def _array(values: list[float], exact: bool) -> np.ndarray:
    return np.array(values, dtype=np.int64 if exact else np.float64)


@st.composite
def pair_terms(
    draw: st.DrawFn, size: int, exact: bool, values: Numbers = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw unique ascending pairs of a random graph, and weights (including zeros)."""
    possible = list(itertools.combinations(range(size), 2))
    chosen = sorted(draw(st.lists(st.sampled_from(possible), unique=True))) if possible else []
    number = numbers(exact, values)
    weights = draw(st.lists(number, min_size=len(chosen), max_size=len(chosen)))
    return np.array(chosen, dtype=np.int32).reshape(-1, 2), _array(weights, exact)


@st.composite
def isings(
    draw: st.DrawFn,
    max_spins: int = 7,
    min_spins: int = 1,
    exact: bool | None = True,
    values: Numbers = None,
) -> Ising:
    exact = draw(st.booleans()) if exact is None else exact
    size = draw(st.integers(min_spins, max_spins))
    edges, weights = draw(pair_terms(size, exact, values))
    fields = draw(st.lists(numbers(exact, values), min_size=size, max_size=size))
    return Ising(size, edges, weights, _array(fields, exact), draw(numbers(exact, values)))


@st.composite
def qubos(
    draw: st.DrawFn, max_variables: int = 6, exact: bool | None = True, values: Numbers = None
) -> Qubo:
    exact = draw(st.booleans()) if exact is None else exact
    size = draw(st.integers(1, max_variables))
    edges, weights = draw(pair_terms(size, exact, values))
    linear = draw(st.lists(numbers(exact, values), min_size=size, max_size=size))
    return Qubo(size, edges, weights, _array(linear, exact), draw(numbers(exact, values)))


@st.composite
def rbms(
    draw: st.DrawFn, max_side: int = 4, exact: bool | None = True, values: Numbers = None
) -> Rbm:
    exact = draw(st.booleans()) if exact is None else exact
    n, m = draw(st.integers(1, max_side)), draw(st.integers(1, max_side))
    entries = draw(st.lists(numbers(exact, values), min_size=n * m, max_size=n * m))
    matrix = _array(entries, exact).reshape(n, m)
    biases = draw(st.lists(numbers(exact, values), min_size=n + m, max_size=n + m))
    visible, hidden = _array(biases[:n], exact), _array(biases[n:], exact)
    if draw(st.booleans()):
        from scipy.sparse import csr_array

        matrix = csr_array(matrix)
    return Rbm(matrix, visible, hidden, draw(numbers(exact, values)))


@st.composite
def max2sats(
    draw: st.DrawFn,
    max_variables: int = 6,
    hard: bool = True,
    exact: bool = True,
    values: Numbers = None,
) -> Max2Sat:
    """Draw random clauses, including repeated, tautological, unit and (rarely) empty clauses."""
    size = draw(st.integers(1, max_variables))
    literal = st.integers(1, size).flatmap(lambda v: st.sampled_from([v, -v]))
    unit = literal.map(lambda x: (x, 0))
    clause = st.one_of(st.tuples(literal, literal), unit)
    soft = draw(st.lists(st.one_of(clause, clause, clause, st.just((0, 0))), max_size=12))
    number = numbers(exact, values).map(abs)
    weights = draw(st.lists(number, min_size=len(soft), max_size=len(soft)))
    hards = draw(st.lists(clause, max_size=3)) if hard else []
    return Max2Sat(
        size,
        np.array(soft, dtype=np.int32).reshape(-1, 2),
        _array(weights, exact),
        np.array(hards, dtype=np.int32).reshape(-1, 2),
    )


problems = st.one_of(isings(exact=None), qubos(exact=None), rbms(exact=None), max2sats())


@st.composite
def extreme_problems(draw: st.DrawFn, exact: bool) -> Problem:
    """Draw small problems of every kind, with weights at the limits of int64 or of float64."""
    magnitude = st.sampled_from(INTEGER_MAGNITUDES if exact else FLOAT_MAGNITUDES)
    pool = draw(st.lists(magnitude, min_size=1, max_size=3))
    zero = 0 if exact else 0.0
    # Zeros allow a few large weights with a valid sum.
    values = st.sampled_from([*pool, *(-x for x in pool), zero, zero, zero])
    kinds = {
        isings: {"max_spins": 4}, qubos: {"max_variables": 4}, rbms: {"max_side": 2},
        max2sats: {"max_variables": 4},
    }  # fmt: skip
    kind = draw(st.sampled_from(list(kinds)))
    try:
        return draw(kind(exact=exact, values=values, **kinds[kind]))
    except ValueError as error:  # the sum of the weights is refused, in our own words
        if "add up" not in str(error):
            raise
        reject()
