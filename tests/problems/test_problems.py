"""Every kind of problem: its energy by definition, equality by value, and what it refuses."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from tests.oracles import energies_of, energy_by_definition, states_of
from tests.strategies import isings, max2sats, problems, rbms

from glasshouse.problems import Ising, Max2Sat, Qubo, Rbm


@given(problems)
def test_energy_is_the_definition_for_every_state(problem):
    energies = energies_of(problem)
    for state, energy in zip(states_of(problem), energies, strict=True):
        assert energy == energy_by_definition(problem, state)
    one = problem.cost if isinstance(problem, Max2Sat) else problem.energy
    assert one(states_of(problem)[-1]) == energies[-1]


@given(problems)
def test_integer_energies_are_python_integers_of_integer_problems(problem):
    one = problem.cost if isinstance(problem, Max2Sat) else problem.energy
    assert type(one(states_of(problem)[0])) is (int if problem.is_integer else float)


@given(problems)
def test_equality_is_by_value(problem):
    twin = copy.deepcopy(problem)
    assert twin is not problem
    assert twin == problem
    assert not twin != problem  # noqa: SIM202  # a method of its own
    assert hash(twin) == hash(problem)
    assert repr(twin) == repr(problem)


@given(isings())
def test_a_changed_number_makes_another_problem(problem):
    fields = problem.fields.copy()
    fields[0] += 1
    assert problem != Ising(problem.num_variables, problem.edges, problem.weights, fields)


@given(isings())
def test_arrays_are_locked(problem):
    with pytest.raises(ValueError, match="read-only"):
        problem.fields[0] = 1
    with pytest.raises(AttributeError):
        problem.offset = 3


def test_the_caller_s_arrays_stay_writable_and_apart():
    weights = np.array([[1, 2], [3, 4]])
    problem = Rbm(weights)
    weights[0, 0] = 100
    assert problem.matrix[0, 0] == 1


def test_nobody_can_write_to_a_problem_through_the_arrays_it_came_from():
    weights, fields = np.array([1, 2, 3]), np.zeros(3, dtype=int)
    problem = Ising(3, [[0, 1], [0, 2], [1, 2]], weights, fields)
    view = weights[:]
    view.flags.writeable = False
    other = Ising(3, [[0, 1], [0, 2], [1, 2]], view, fields)
    weights[0] = fields[0] = 2**62
    for one in (problem, other):
        assert one.energy([1, 1, 1]) == -6


def test_repeated_sparse_entries_add_up():
    from scipy.sparse import coo_array

    twice = coo_array(([1, 2], ([0, 0], [0, 0])), shape=(1, 1))
    assert Qubo.from_matrix(twice).linear.tolist() == [3]
    small = coo_array((np.int8([100, 100]), ([0, 0], [0, 0])), shape=(1, 1))
    assert Rbm(small).weights.tolist() == [200]


def test_equal_problems_have_equal_hashes_whatever_the_sign_of_zero():
    one, other = Ising(2, [], [], [0.0, 1.0]), Ising(2, [], [], [-0.0, 1.0])
    assert one == other
    assert hash(one) == hash(other)


@given(isings())
def test_matrix_constructor_takes_symmetric_and_triangular(problem):
    upper = np.zeros((problem.num_variables, problem.num_variables), dtype=np.int64)
    upper[problem.edges[:, 0], problem.edges[:, 1]] = problem.weights
    forms = [upper, upper.T, upper + upper.T]
    from scipy.sparse import coo_array

    forms += [coo_array(form) for form in forms]
    reference = Ising.from_edges(problem.num_variables, problem.edges, problem.weights)
    for form in forms:
        assert Ising.from_matrix(form) == reference


@given(isings(exact=None))
def test_networkx_and_dimod_constructors(problem):
    import dimod
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from((i, {"field": h}) for i, h in enumerate(problem.fields.tolist()))
    graph.add_weighted_edges_from(
        (*edge, w) for edge, w in zip(problem.edges.tolist(), problem.weights.tolist(), strict=True)
    )
    states = states_of(problem)
    energies = Ising.from_networkx(graph).energy(states) + problem.offset
    assert (energies == problem.energy(states)).all()

    model = dimod.BinaryQuadraticModel(
        dict(enumerate((-problem.fields).tolist())),
        {
            tuple(edge): -w
            for edge, w in zip(problem.edges.tolist(), problem.weights.tolist(), strict=True)
        },
        problem.offset,
        "SPIN",
    )
    assert (Ising.from_bqm(model).energy(states) == problem.energy(states)).all()
    assert (Ising.from_bqm(model.binary).energy(states) == problem.energy(states)).all()


@given(rbms())
def test_rbm_is_the_same_sparse_and_dense(problem):
    from scipy.sparse import csr_array

    dense = problem.matrix.toarray() if problem.is_sparse else problem.matrix
    other = Rbm(
        dense if problem.is_sparse else csr_array(dense),
        problem.visible_bias,
        problem.hidden_bias,
        problem.offset,
    )
    assert other == problem
    assert hash(other) == hash(problem)
    assert problem.num_edges == np.count_nonzero(dense)


@given(max2sats())
def test_simplified_keeps_every_cost(problem):
    simple = problem.simplified()
    states = states_of(problem)
    # Fewer soft weights can make breaking a hard clause cheaper, but never cheap.
    assert (simple.broken(states) == 0).tolist() == (problem.broken(states) == 0).tolist()
    kept = problem.broken(states) == 0
    assert (simple.cost(states)[kept] == problem.cost(states)[kept]).all()
    assert (simple.cost(states)[~kept] >= simple.hard_weight).all()
    rows = [tuple(row) for row in simple.clauses.tolist()]
    assert len(set(rows)) == len(rows)
    assert all(a != -b or a == 0 for a, b in rows)
    assert (simple.weights > 0).all()
    assert simple.simplified() == simple


def test_a_broken_hard_clause_says_so():
    problem = Max2Sat.from_clauses(2, [[1], [2]], [3, 4], hard=[[-1, -2]])
    assert problem.cost([1, 0]) == 4
    assert problem.broken([1, 1]) == 1
    assert problem.cost([1, 1]) >= problem.hard_weight == 8


BAD = [
    (lambda: Ising(2, [[1, 0]], [1], [0, 0]), "unique pairs i < j"),
    (lambda: Ising(2, [[0, 1], [0, 1]], [1, 1], [0, 0]), "unique pairs i < j"),
    (lambda: Ising(2, [[0, 2]], [1], [0, 0]), "contains spin 2"),
    (lambda: Ising(2, [[0, 1]], [1], [0]), "2 spins but 1 fields"),
    (lambda: Ising(2, [[0, 1]], [np.nan], [0, 0]), "must be finite"),
    (lambda: Ising(2, [[0, 1]], [1], [0, 0], offset=np.inf), "must be finite"),
    (lambda: Ising(2, [[0, 1]], [1], [0, 0], offset=0.5), "offset=0.5 is not an integer"),
    (lambda: Ising(-1, [], [], []), "num_variables=-1"),
    (lambda: Ising(2.5, [], [], []), "not an integer"),
    (lambda: Ising(2, [[0, 1]], ["a"], [0, 0]), "integers or floats"),
    (lambda: Ising(2, [[0, 1]], [2**63], [0, 0]), r"2\^63-1"),
    (lambda: Ising(2, [[0, 1]], [2**62], [2**62, 0]), r"2\^63-1"),
    (lambda: Ising.from_edges(2, [[1, 1]], [1]), "to itself"),
    (lambda: Ising.from_matrix([[1, 0], [0, 0]]), "diagonal"),
    (lambda: Ising.from_matrix([[0, 1], [2, 0]]), "must be symmetric or triangular"),
    (lambda: Ising.from_matrix([[0, 1, 2]]), "must be square"),
    (lambda: Ising(1, [], [], [1]).energy([0]), "only -1 and 1"),
    (lambda: Ising(1, [], [], [1]).energy([1, 1]), "1 variables"),
    (lambda: Qubo(1, [], [], [1]).energy([2]), "only 0 and 1"),
    (lambda: Qubo(2, [], [], [1]), "2 variables but 1 linear"),
    (lambda: Rbm(np.zeros((0, 3), dtype=int)), "shape"),
    (lambda: Rbm([1, 2]), "matrix"),
    (lambda: Rbm([[1, 2]], visible_bias=[1, 1]), "1 visible spins but 2"),
    (lambda: Max2Sat(1, [[1, 2]], [1]), "variable 2 is used"),
    (lambda: Max2Sat(1, [[1, 0]], [-1]), "must not be negative"),
    (lambda: Max2Sat(1, [[1, 0]], [np.inf]), "must be finite"),
    (lambda: Max2Sat(1, [[0, 1]], [1]), "literal first"),
    (lambda: Max2Sat(1, [[1, 0]], [1], hard=[[0, 0]]), "hard clause is empty"),
    (lambda: Max2Sat.from_clauses(3, [[1, 2, 3]], [1]), "one or two literals"),
    (lambda: Max2Sat(1, [[1, 0]] * 2, [2**62] * 2), r"2\^63-1"),
    (lambda: Max2Sat.from_clauses(2, [[2**32 + 1]], [1]), "one or two literals"),
    (lambda: Max2Sat.from_clauses(2, [[1.9, 2]], [1]), "one or two literals"),
    (lambda: Max2Sat(2**40, [], []), "the largest number allowed"),
    (lambda: Qubo.from_edges(2**33, [], []), "the largest number allowed"),
    (lambda: Ising(2, [[0, 1]], [1e308], [1e308, 1e308]), "a float can hold"),
]


@pytest.mark.parametrize(("make", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_input_is_refused_with_the_reason(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_empty_problems_have_an_energy():
    assert Ising(0, [], [], [], offset=5).energy(np.zeros(0)) == 5
    assert Max2Sat(0, [], []).cost(np.zeros(0)) == 0
