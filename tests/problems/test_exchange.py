"""Ways in and out: dimod, networkx and matrices give back what they were given, labels included."""

from __future__ import annotations

import sys
from dataclasses import replace

import dimod
import networkx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests import strategies as some
from tests.oracles import all_states, energies_of, optimum, states_of

import glasshouse as gh
from glasshouse.problems import Ising, Max2Sat, Qubo, Rbm
from glasshouse.problems.convert import to_ising, to_max2sat, to_qubo, to_rbm
from glasshouse.problems.naming import sample_of

label = st.one_of(
    st.integers(-3, 9),
    st.text(max_size=3),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.frozensets(st.integers(0, 2)),
)


@st.composite
def labelled(draw, problems):
    problem = draw(problems)
    size = problem.num_variables
    labels = st.none() | st.lists(label, min_size=size, max_size=size, unique=True)
    return replace(problem, labels=draw(labels | st.permutations(range(size))))


def tells_its_kind(problem) -> bool:
    """Whether the numbers show that they are floats; dimod has no others."""
    if problem.is_integer:
        return True
    singles = problem.linear if isinstance(problem, Qubo) else problem.fields
    numbers = np.concatenate([problem.weights, singles, [problem.offset]])
    return bool((numbers != np.rint(numbers)).any())


def energies_by_label(model, problem):
    labels = range(problem.num_variables) if problem.labels is None else problem.labels
    return model.energies((states_of(problem), list(labels)))


@given(labelled(some.isings(exact=None)))
def test_ising_problems_and_dimod(problem):
    assume(tells_its_kind(problem))
    model = problem.to_bqm()
    assert model.vartype is dimod.SPIN
    assert Ising.from_bqm(model) == problem
    assert hash(Ising.from_bqm(model)) == hash(problem)
    assert np.array_equal(energies_by_label(model, problem), energies_of(problem))


@given(labelled(some.qubos(exact=None)))
def test_qubos_and_dimod(problem):
    assume(tells_its_kind(problem))
    model = problem.to_bqm()
    assert model.vartype is dimod.BINARY
    assert Qubo.from_bqm(model) == problem
    assert hash(Qubo.from_bqm(model)) == hash(problem)
    assert np.array_equal(energies_by_label(model, problem), energies_of(problem))


@given(labelled(some.rbms(exact=None)))
def test_rbms_and_dimod(problem):
    assume(tells_its_kind(problem))
    assert Rbm.from_bqm(problem.to_bqm(), num_visible=problem.num_visible) == problem


@given(labelled(some.max2sats()))
def test_clauses_become_a_model_whose_energies_are_the_costs(problem):
    model = problem.to_bqm()
    assert np.array_equal(energies_by_label(model, problem), energies_of(problem))


@given(labelled(some.isings(exact=None)))
def test_the_order_of_a_model_does_not_matter_where_labels_are_numbers(problem):
    problem = replace(problem, labels=None)
    shuffled = dimod.BinaryQuadraticModel(
        problem.to_bqm().linear, problem.to_bqm().quadratic, problem.offset, "SPIN"
    )
    states = states_of(problem)
    assert np.array_equal(Ising.from_bqm(shuffled).energy(states), problem.energy(states))


@given(labelled(some.isings(exact=None) | some.qubos(exact=None) | some.rbms(exact=None)))
def test_networkx(problem):
    graph = problem.to_networkx()
    if isinstance(problem, Rbm):
        assert set(networkx.get_node_attributes(graph, "bipartite").values()) == {0, 1}
    if isinstance(problem, (Ising, Qubo)):  # edges of weight zero go, as in every list of edges
        kept = problem.weights != 0
        problem = replace(problem, edges=problem.edges[kept], weights=problem.weights[kept])
    again = type(problem).from_networkx(graph)
    if len(problem.weights) or not problem.is_integer:
        assert again == problem
    assert np.array_equal(energies_of(again), energies_of(problem))


@given(labelled(some.isings(exact=None)), st.booleans())
def test_matrices_of_ising_problems(problem, sparse):
    kept = problem.weights != 0
    problem = replace(problem, edges=problem.edges[kept], weights=problem.weights[kept])
    matrix = problem.to_matrix(sparse=sparse)
    assert matrix.shape == (problem.num_variables,) * 2
    again = Ising.from_matrix(matrix, problem.fields, problem.offset, problem.labels)
    assert again == problem


@given(labelled(some.qubos(exact=None)), st.booleans())
def test_matrices_of_qubos(problem, sparse):
    kept = problem.weights != 0
    problem = replace(problem, edges=problem.edges[kept], weights=problem.weights[kept])
    matrix = problem.to_matrix(sparse=sparse)
    assert Qubo.from_matrix(matrix, problem.offset, problem.labels) == problem


@given(labelled(some.rbms(exact=None)), st.booleans())
def test_matrices_of_rbms(problem, sparse):
    matrix = problem.to_matrix(sparse=sparse)
    assert hasattr(matrix, "indptr") == sparse
    biases = problem.visible_bias, problem.hidden_bias
    assert Rbm(matrix, *biases, problem.offset, problem.labels) == problem


@given(labelled(some.isings() | some.qubos() | some.rbms() | some.max2sats()))
def test_labels_survive_where_the_variables_are_the_same(problem):
    for convert in (to_ising, to_qubo, to_max2sat):
        assert convert(problem)[0].labels == problem.labels
    if isinstance(problem, Ising) and problem.num_variables > 1:
        rbm, reduction = to_rbm(problem)
        if rbm.num_variables == problem.num_variables:
            names = problem.labels or range(problem.num_variables)
            state = np.arange(problem.num_variables) % 2 * 2 - 1
            mine = dict(zip(names, state, strict=True))
            theirs = rbm.labels or range(problem.num_variables)
            assert mine == dict(zip(theirs, reduction.forward(state), strict=True))


def test_wrong_labels_are_refused():
    for labels, message in (
        (["a"], "1 labels but 2"), (["a", "a"], "only 1 of 2 labels"), ([[], {}], "not hashable"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            Ising.from_edges(2, [(0, 1)], [1], labels=labels)


def test_large_integers_are_refused_by_dimod_and_exact_elsewhere():
    large = Ising.from_edges(2, [(0, 1)], [2**53 + 1])
    with pytest.raises(ValueError, match="inexact for integers above 2\\^53"):
        large.to_bqm()
    assert Ising.from_networkx(large.to_networkx()) == large
    assert Ising.from_matrix(large.to_matrix()) == large
    exact = dimod.BinaryQuadraticModel({}, {("a", "b"): -(2**53) - 1}, 0, "SPIN", dtype=object)
    assert Ising.from_bqm(exact).weights.tolist() == [2**53 + 1]


# dimod models as problems ------------------------------------------------------------------------

MODEL = dimod.BinaryQuadraticModel(
    {"a": 1, (0, 1): -2, 7: 0.5}, {("a", (0, 1)): 2, ((0, 1), 7): -3}, 0.25, "BINARY"
)


@pytest.mark.parametrize("model", [MODEL, MODEL.change_vartype("SPIN", inplace=False)])
def test_solvers_answer_with_the_callers_labels_and_values(model):
    best = min(model.energies(dimod.as_samples(all_samples(model))))
    for result in (gh.anneal(model, runs=8, rng=1), gh.temper(model, runs=8, rng=1)):
        assert model.energy(result.best_sample) == result.best_energy == pytest.approx(best)
        assert set(result.best_sample.values()) <= set(model.vartype.value)
        found = result.to_sampleset()
        assert found.vartype is model.vartype
        assert np.array_equal(model.energies(found), found.record.energy)
    for sample in (
        gh.brute_force(model).sample(), gh.prove(model).sample(),
        gh.low_energy_states(model).sample(),
        gh.descend(model, gh.brute_force(model).states).sample(),
    ):  # fmt: skip
        assert model.energy(sample) == pytest.approx(best)
    spins = gh.brute_force(model).sample(units="spin")
    assert model.spin.energy(spins) == pytest.approx(best)


def all_samples(model):
    low = min(model.vartype.value)
    return [dict(zip(model.variables, map(int, s), strict=True)) for s in all_states(3, low)]


@pytest.mark.parametrize(
    "function",
    [gh.to_ising, gh.to_qubo, gh.to_max2sat, gh.to_maxcut, gh.overview, gh.components,
     gh.free_spins, gh.local_minima, gh.ground_state_count],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_a_model_is_taken_wherever_a_problem_is(function):
    assert type(function(MODEL)) is type(function(Qubo.from_bqm(MODEL)))


def test_what_is_no_model_is_refused():
    with pytest.raises(ValueError, match="nor a plant or a dimod"):
        gh.anneal(dimod.ConstrainedQuadraticModel())


def test_a_pair_of_a_problem_and_its_reduction_is_refused_with_advice():
    with pytest.raises(ValueError, match="tuple of a problem and its reduction"):
        gh.anneal(gh.to_qubo(MODEL))


# 0/1 units ---------------------------------------------------------------------------------------


@given(some.rbms(exact=None))
def test_binary_units_have_the_same_energies(problem):
    n = problem.num_visible
    matrix, a, b = problem.to_matrix(), problem.visible_bias, problem.hidden_bias
    machine = Rbm.from_binary(problem.matrix, a, b, problem.offset)
    bits = all_states(problem.num_variables, 0)
    v, h = bits[:, :n].astype(float), bits[:, n:].astype(float)
    energies = problem.offset - np.einsum("ki,ij,kj->k", v, matrix, h) - v @ a - h @ b
    assert np.array_equal(machine.energy(2 * bits - 1), energies)


def test_binary_units_of_large_integers_are_refused():
    with pytest.raises(ValueError, match="must add up to at most"):
        Rbm.from_binary([[2**52 + 1]])
    assert Rbm.from_binary([[4]]).is_integer


def test_the_mode_of_a_fitted_bernoulli_rbm_is_that_of_enumeration():
    from sklearn.datasets import load_digits
    from sklearn.neural_network import BernoulliRBM

    digits = load_digits().data[:400] / 16
    machine = BernoulliRBM(n_components=6, learning_rate=0.1, n_iter=10, random_state=1)
    machine.fit(digits)
    hidden = all_states(6, 0).astype(float)
    # For each hidden state the best visible one is known unit by unit.
    inputs = hidden @ machine.components_ + machine.intercept_visible_
    energies = -np.maximum(inputs, 0).sum(axis=1) - hidden @ machine.intercept_hidden_
    best = int(np.argmin(energies))
    mode = np.concatenate([inputs[best] > 0, hidden[best]]).astype(int)
    rbm = Rbm.from_sklearn(machine)
    assert (rbm.num_visible, rbm.num_hidden) == (64, 6)
    assert rbm.energy(2 * mode - 1) == pytest.approx(energies[best])
    found = gh.anneal(rbm, runs=64, rng=1)
    assert found.best_energy == pytest.approx(energies[best])
    assert list(found.sample(units="binary").values()) == mode.tolist()
    with pytest.raises(ValueError, match="not a fitted BernoulliRBM"):
        Rbm.from_sklearn(BernoulliRBM())


@given(labelled(st.one_of(some.isings(), some.qubos(), some.rbms(), some.max2sats())), st.randoms())
def test_energies_of_states_by_label(problem, random):
    space = problem.space
    state = np.array([random.choice((space.low, 1)) for _ in range(space.size)], dtype=np.int8)
    named = list(sample_of(state, problem.labels).items())
    random.shuffle(named)
    assert problem.energy(dict(named)) == problem.energy(state)


def test_states_by_label_that_fit_no_problem_are_one_clear_line():
    problem = Ising.from_edges(2, [(0, 1)], [3], labels=["a", "b"])
    with pytest.raises(ValueError, match="no value for 'b', one of 2 variables"):
        problem.energy({"a": 1})
    with pytest.raises(ValueError, match="a value for 'c', which is not a variable"):
        problem.energy({"a": 1, "b": 1, "c": 1})
    with pytest.raises(ValueError, match="state must contain only -1 and 1"):
        problem.energy({"a": 1, "b": 0})
    with pytest.raises(ValueError, match=r"a list of its values in the order of problem.labels"):
        gh.frustration_index(problem, {"a": 1, "b": 1})


def test_equality_looks_at_labels():
    ising = Ising.from_edges(3, [(0, 1), (1, 2)], [1, 2], [3, 4, 5])
    assert ising != replace(ising, labels="abc")
    turned = Ising.from_edges(3, [(2, 1), (1, 0)], [1, 2], [5, 4, 3], labels=[2, 1, 0])
    assert turned == ising
    assert hash(turned) == hash(ising)
    clauses = Max2Sat.from_clauses(2, [[1, 2]], [1])
    assert clauses != replace(clauses, labels="ab")
    assert optimum(turned)[0] == optimum(ising)[0]


def test_without_dimod_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "dimod", None)
    ising = Ising.from_edges(2, [(0, 1)], [1])
    for call in (ising.to_bqm, gh.anneal(ising, runs=1, rng=1).to_sampleset):
        with pytest.raises(gh.MissingPackageError, match=r"needs dimod.*pip install"):
            call()
    with pytest.raises(ValueError, match="nor a plant or a dimod"):
        gh.prove("x")


@pytest.mark.parametrize("label", [10**30, float("nan"), float("inf"), 1 + 2j])
def test_labels_that_dimod_does_not_take_are_one_clear_line(label):
    problem = gh.Ising.from_edges(2, [(0, 1)], [1])
    with pytest.raises(ValueError, match="label"):
        replace(problem, labels=(0, label)).to_bqm()
