"""Clauses of any length: costs by the definition, conversions against enumeration, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.problems import Clauses, MaxSat


@st.composite
def maxsats(draw, most=6, longest=6, floats=True):
    """Any clauses: empty, unit, with repeated literals, tautologies, hard ones."""
    size = draw(st.integers(0, most))
    literal = st.integers(1, size).flatmap(lambda k: st.sampled_from([k, -k])) if size else None
    clause = st.lists(literal, max_size=longest) if size else st.just([])
    soft, hard = draw(st.lists(clause, max_size=8)), draw(st.lists(clause, max_size=4))
    kinds = [st.integers(0, 10**6), st.floats(0, 1e6, allow_nan=False)]
    kind = draw(st.sampled_from(kinds if floats else kinds[:1]))
    return MaxSat(size, soft, [draw(kind) for _ in soft], hard)


def assignments(size):
    return np.array(list(itertools.product((0, 1), repeat=size)), dtype=np.int8).reshape(
        2**size, size
    )


def is_false(clause, model):
    return not any((literal > 0) == bool(model[abs(literal) - 1]) for literal in clause)


def least_by_back(problem, reduction, energies, size):
    """The least target energy of the states whose source state is each assignment."""
    targets = assignments(size) if reduction.target.low == 0 else 2 * assignments(size) - 1
    back = reduction.back(targets)
    keys = back @ (1 << np.arange(problem.num_variables))
    return {int(key): energies(targets)[keys == key].min() for key in np.unique(keys)}


@given(maxsats())
def test_the_cost_is_the_weight_of_the_false_clauses(problem):
    table = assignments(problem.num_variables)
    for model, cost, broken in zip(table, problem.cost(table), problem.broken(table), strict=True):
        assert broken == sum(is_false(clause, model) for clause in problem.hard.lists())
        pairs = zip(problem.soft.lists(), problem.weights.tolist(), strict=True)
        soft = sum(weight for clause, weight in pairs if is_false(clause, model))
        assert cost == pytest.approx(soft + broken * problem.hard_weight, rel=1e-12)
        assert problem.cost(model) == problem.energy(model.tolist()) == pytest.approx(cost)


@given(maxsats(floats=False))
def test_a_polynomial_has_the_costs_as_energies(problem):
    table = assignments(problem.num_variables)
    for units in ("binary", "spin"):
        polynomial, reduction = gh.to_polynomial(problem, units)
        energies = polynomial.energy(reduction.forward(table))
        expected = [reduction.target_energy(cost) for cost in problem.cost(table).tolist()]
        assert energies.tolist() == expected
        assert polynomial.degree <= problem.longest


@settings(max_examples=40)
@given(maxsats(most=4, longest=4, floats=False))
def test_pairs_have_the_costs_at_the_best_ancillas(problem):
    table = assignments(problem.num_variables)
    for convert in (gh.to_qubo, gh.to_ising, gh.to_max2sat):
        if convert is gh.to_max2sat and problem.longest <= 2:
            continue  # see below
        pairs, reduction = convert(problem)
        image = reduction.forward(table)
        costs = [reduction.target_energy(cost) for cost in problem.cost(table).tolist()]
        assert pairs.energy(image).tolist() == costs
        assert (reduction.back(image) == table).all()
        if pairs.num_variables <= 11:
            least = least_by_back(problem, reduction, pairs.energy, pairs.num_variables)
            keys = table @ (1 << np.arange(problem.num_variables))
            assert [least[int(key)] for key in keys] == costs


@given(maxsats(longest=2))
def test_short_clauses_are_max2sat_and_back(problem):
    if not problem.hard.lengths.all():
        with pytest.raises(ValueError, match="hard clause is empty"):
            gh.to_max2sat(problem)
        return
    short, _ = gh.to_max2sat(problem)
    table = assignments(problem.num_variables)
    assert np.array_equal(short.cost(table), problem.cost(table))
    assert gh.to_maxsat(short)[0] == problem


def test_flat_arrays_tables_and_lists_are_one():
    lists = [[1, -2, 3], [2, 3, -1]]
    table = np.array(lists)
    flat = Clauses(table.reshape(-1), np.array([0, 3, 6]))
    problems = [MaxSat(3, clauses, [1, 2], hard=flat) for clauses in (lists, table, flat)]
    assert problems[0] == problems[1] == problems[2]
    assert len(set(problems)) == 1
    assert problems[0] != MaxSat(3, lists, [1, 3], hard=lists)
    assert not problems[0].literals.flags.writeable
    assert (problems[0].literals.dtype, problems[0].starts.dtype) == (np.int32, np.int64)


def test_long_clauses_need_no_terms_beyond_their_length_as_pairs():
    problem = MaxSat(60, [range(1, 61)], [7])
    with pytest.raises(ValueError, match="convert to a QUBO"):
        gh.to_polynomial(problem)
    qubo, reduction = gh.to_qubo(problem)
    assert qubo.num_variables == 60 + 58
    assert qubo.energy(reduction.forward(np.zeros(60))) == 7
    assert qubo.energy(reduction.forward(np.eye(60))).tolist() == [0] * 60


@pytest.mark.parametrize("sign", [1, -1])
def test_pairs_of_a_very_long_clause_grow_with_its_length_alone(sign):
    clause = [sign * k for k in range(1, 2001)]
    qubo, reduction = gh.to_qubo(MaxSat(2000, [clause], [7]))
    assert qubo.num_variables == 2000 + 1998
    assert qubo.num_edges < 5 * 2000
    false = np.full(2000, (1 - sign) // 2)
    turned = false.copy()
    turned[1234] = 1 - turned[1234]
    assert qubo.energy(reduction.forward([false, turned])).tolist() == [7, 0]


def test_a_clause_of_negations_is_one_term():
    problem = MaxSat(60, [range(-60, 0)], [7])
    assert gh.to_polynomial(problem)[0].terms() == {tuple(range(60)): 7}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: MaxSat(2, [[1, 3]], [1]),
            "clauses: there are 2 variables, but variable 3 is used",
        ),
        (lambda: MaxSat(2, [[1, 0]], [1]), r"clauses\[0\] = \[1, 0\] is not a list of literals"),
        (lambda: MaxSat(2, np.array([[1, 0]]), [1]), "a literal is 0"),
        (lambda: MaxSat(2, [[True]], [1]), "is not a list of literals"),
        (lambda: MaxSat(2, [[2**40]], [1]), "is not a list of literals"),
        (lambda: MaxSat(2, [1, 2], [1]), "must be lists of literals"),
        (lambda: MaxSat(2, [[1]], [1, 2]), "1 clauses but 2 weights"),
        (lambda: MaxSat(2, [[1]], [-1]), "weights must not be negative"),
        (lambda: MaxSat(2, [[1], [2]], [2**62, 2**62]), r"above 2\^63-1"),
        (lambda: MaxSat(2, [[1]], [2**64]), r"at most 2\^63-1"),
        (lambda: MaxSat(2, [], [], hard=[[-3]]), "hard: there are 2 variables, but variable 3"),
        (lambda: MaxSat(2, Clauses(np.array([1]), np.array([0, 2])), [1]), "run from 0 to 1"),
        (lambda: MaxSat(2, Clauses(np.array([1]), np.array([0, 2, 1])), [1, 1]), "decreasing"),
        (lambda: MaxSat(2, Clauses(np.array([1.0]), np.array([0, 1])), [1]), "integers"),
    ],
)
def test_what_is_no_maxsat_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
