"""Small problems with weights small enough to be degenerate, and what their flips cost."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from glasshouse.problems import Ising, Rbm


def flip_costs(problem: Ising | Rbm, states: np.ndarray) -> np.ndarray:
    """Energy change of every single flip of every state, from energies alone."""
    energies = problem.energy(states)
    costs = np.empty(states.shape, dtype=energies.dtype)
    for i in range(states.shape[1]):
        flipped = states.copy()
        flipped[:, i] *= -1
        costs[:, i] = problem.energy(flipped) - energies
    return costs


@st.composite
def isings(draw: st.DrawFn, most: int = 7, fields: bool = True) -> Ising:
    size = draw(st.integers(1, most))
    pairs = list(itertools.combinations(range(size), 2))
    weight = st.integers(-3, 3)
    weights = draw(st.lists(weight, min_size=len(pairs), max_size=len(pairs)))
    field = weight if fields and draw(st.booleans()) else st.just(0)
    values = draw(st.lists(field, min_size=size, max_size=size))
    return Ising.from_edges(size, pairs, weights, values, draw(weight))


@st.composite
def rbms(draw: st.DrawFn, most: int = 4, biases: bool = True) -> Rbm:
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    weight = st.integers(-3, 3)
    weights = draw(st.lists(weight, min_size=n * m, max_size=n * m))
    bias = weight if biases and draw(st.booleans()) else st.just(0)
    visible = draw(st.lists(bias, min_size=n, max_size=n))
    hidden = draw(st.lists(bias, min_size=m, max_size=m))
    return Rbm(np.array(weights).reshape(n, m), visible, hidden, draw(weight))


@st.composite
def with_states(draw: st.DrawFn, problems: st.SearchStrategy, how_many: int) -> tuple:
    problem = draw(problems)
    size = problem.num_variables
    state = st.lists(st.sampled_from((-1, 1)), min_size=size, max_size=size)
    return problem, *(np.array(draw(state), dtype=np.int8) for _ in range(how_many))
