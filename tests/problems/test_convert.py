"""Every reduction keeps every state's energy up to its identity, and the set of optima."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import energies_of, optimum, rc2_cost, states_of
from tests.strategies import isings, max2sats, problems, qubos, rbms

from glasshouse.problems import Ising, Max2Sat, Qubo
from glasshouse.problems.bipartite import ising_to_rbm, qubo_to_bipartite, rbm_to_ghost
from glasshouse.problems.convert import (
    ising_to_maxcut,
    ising_to_qubo,
    max2sat_to_qubo,
    qubo_to_ising,
    rbm_to_ising,
    to_ising,
    to_max2sat,
    to_maxcut,
    to_qubo,
    to_rbm,
)


def check(source, target, reduction, ghosts=()):
    """The identity on every image, the promise of `back` on every target state, the optima."""
    states, energies = states_of(source), energies_of(source)
    images = reduction.forward(states)
    evaluate = target.cost if isinstance(target, Max2Sat) else target.energy
    assert (evaluate(images) == reduction.target_energy(energies)).all()
    assert (reduction.source_energy(evaluate(images)) == energies).all()
    assert (reduction.back(images) == states).all()

    targets, costs = states_of(target), energies_of(target)
    kept = np.all(targets[:, list(ghosts)] == 1, axis=1)
    targets, costs = targets[kept], costs[kept]
    value = source.cost if isinstance(source, Max2Sat) else source.energy
    mapped = value(reduction.back(targets))
    claimed = reduction.source_energy(costs)
    assert (mapped <= claimed).all()
    if reduction.bijective:
        assert (mapped == claimed).all()

    best, optima = optimum(source)
    assert min(claimed) == best
    found = reduction.back(targets[costs == costs.min()])
    assert {tuple(map(int, state)) for state in found} == optima


@given(max2sats())
def test_max2sat_to_qubo(problem):
    check(problem, *max2sat_to_qubo(problem))


@given(qubos(exact=None))
def test_qubo_to_ising_and_back(problem):
    ising, reduction = qubo_to_ising(problem)
    check(problem, ising, reduction)
    assert reduction.factor in (1, 2, 4)
    again, _ = ising_to_qubo(ising)
    factor = int(reduction.factor)
    assert again == Qubo(
        problem.num_variables,
        problem.edges,
        factor * problem.weights,
        factor * problem.linear,
        factor * problem.offset,
    )


@given(isings(exact=None))
def test_ising_to_qubo_and_back_is_the_identity(problem):
    qubo, reduction = ising_to_qubo(problem)
    check(problem, qubo, reduction)
    again, back = qubo_to_ising(qubo)
    assert again == problem
    assert reduction.then(back).identity == "E_target = E_source"


@given(qubos())
def test_the_factor_is_the_smallest(problem):
    ising, reduction = qubo_to_ising(problem)
    numbers = [*ising.weights.tolist(), *ising.fields.tolist(), ising.offset]
    if reduction.factor > 1:
        assert any(number % 2 for number in numbers)


@pytest.mark.parametrize("penalty", ["tight", "paper"])
@given(problem=qubos(max_variables=5, exact=None))
def test_qubo_to_bipartite(penalty, problem):
    doubled, reduction = qubo_to_bipartite(problem, penalty=penalty)
    check(problem, doubled, reduction)
    size = problem.num_variables
    assert (doubled.edges[:, 0] < size).all()
    assert (doubled.edges[:, 1] >= size).all()


@given(qubos(max_variables=5))
def test_the_tight_penalty_forces_equal_copies_at_every_optimum(problem):
    doubled, _ = qubo_to_bipartite(problem)
    size = problem.num_variables
    assert all(state[:size] == state[size:] for state in optimum(doubled)[1])


@given(rbms(exact=None))
def test_rbm_to_ising_and_back_is_the_identity(problem):
    ising, reduction = rbm_to_ising(problem)
    check(problem, ising, reduction)
    assert ising_to_rbm(ising, num_visible=problem.num_visible)[0] == problem


@given(rbms(), st.randoms(use_true_random=False))
def test_a_bipartite_graph_is_found_in_any_order(problem, random):
    ising, _ = rbm_to_ising(problem)
    order = list(range(ising.num_variables))
    random.shuffle(order)
    shuffled = Ising.from_edges(
        ising.num_variables,
        np.array(order)[ising.edges],
        ising.weights,
        ising.fields[np.argsort(order)],
        ising.offset,
    )
    rbm, reduction = ising_to_rbm(shuffled)
    check(shuffled, rbm, reduction)


@given(rbms(max_side=3, exact=None))
def test_fixed_ghosts(problem):
    ghost, reduction = rbm_to_ghost(problem)
    n, m = problem.num_visible, problem.num_hidden
    check(problem, ghost, reduction, ghosts=(n, n + m + 1))
    assert not ghost.visible_bias.any()
    assert not ghost.hidden_bias.any()


@given(rbms(max_side=3, exact=None))
def test_free_ghosts_need_no_fixing(problem):
    check(problem, *rbm_to_ghost(problem, free=True))


@given(problems)
def test_to_max2sat(problem):
    clauses, reduction = to_max2sat(problem)
    if not isinstance(problem, Max2Sat):
        check(problem, clauses, reduction)
        assert not clauses.num_hard


@given(isings(exact=None))
def test_weights_of_clauses_are_the_magnitudes_of_the_couplings(problem):
    clauses, reduction = to_max2sat(problem)
    assert reduction.factor == Fraction(1, 2)
    magnitudes = np.repeat(np.abs(problem.weights), 2).tolist()
    assert (
        clauses.weights.tolist()
        == magnitudes + np.abs(problem.fields[problem.fields != 0]).tolist()
    )


@given(isings(exact=None))
def test_ising_to_maxcut(problem):
    graph, reduction = ising_to_maxcut(problem)
    check(problem, graph, reduction)
    assert not graph.fields.any()
    # E = offset - ΣJ - 2·cut with edge weights -J
    states = states_of(graph)
    cut = (states[:, graph.edges[:, 0]] != states[:, graph.edges[:, 1]]) @ -graph.weights
    assert (graph.energy(states) == graph.offset - graph.weights.sum() - 2 * cut).all()


@given(problems)
def test_every_kind_reaches_every_other(problem):
    for convert in (to_ising, to_qubo, to_max2sat, to_maxcut):
        check(problem, *convert(problem))


@settings(max_examples=50)
@given(max2sats(max_variables=4))
def test_the_paper_s_chain(problem):
    for penalty in ("tight", "paper"):
        check(problem, *to_rbm(problem, penalty=penalty))


@given(max2sats(hard=True))
def test_an_optimum_found_elsewhere_is_ours(problem):
    best, _ = optimum(problem)
    if best < problem.hard_weight:
        assert rc2_cost(problem) == best


def test_an_odd_cycle_is_refused_as_rbm():
    triangle = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [1, 1, 1])
    with pytest.raises(ValueError, match="not bipartite"):
        ising_to_rbm(triangle)
    check(triangle, *to_rbm(triangle))  # doubled instead
    with pytest.raises(ValueError, match="different sides"):
        ising_to_rbm(triangle, num_visible=2)
    with pytest.raises(ValueError, match="at least 2 spins"):
        to_rbm(Ising(1, [], [], [1]))
    with pytest.raises(ValueError, match="str is not an Ising"):
        to_ising("problem")
    with pytest.raises(ValueError, match="penalty='none'"):
        to_rbm(Qubo(2, [], [], [1, 1]), penalty="none")


def test_worked_example_of_the_errata():
    # 3(1∨2) 2(¬1∨2) 1(¬2) 4(1∨¬3) 5(¬2∨¬3) 2(3∨3) 7(1∨¬1) 0(2∨3) 1(¬1∨2)
    problem = Max2Sat(
        3,
        [[1, 2], [-1, 2], [-2, 0], [1, -3], [-2, -3], [3, 3], [1, -1], [2, 3], [-1, 2]],
        [3, 2, 1, 4, 5, 2, 7, 0, 1],
    )
    assert problem.total_weight == 25
    cost, optima = optimum(problem)
    assert 25 - cost == 22
    assert optima == {(0, 1, 0), (1, 0, 1), (1, 1, 0)}

    qubo, _ = to_qubo(problem)  # minimised: the paper's signs turned, 25 - constant as offset
    assert (-qubo.linear).tolist() == [0, 2, -2]
    assert qubo.edges.tolist() == [[0, 2], [1, 2]]
    assert (-qubo.weights).tolist() == [4, -5]
    assert 25 - qubo.offset == 20

    rbm, reduction = to_rbm(problem)
    scale = int(reduction.factor)
    assert scale == 16
    assert (rbm.matrix.toarray() / scale).tolist() == [
        [0.3125, 0, 0.5],
        [0, 0.375, -0.625],
        [0.5, -0.625, 0.625],
    ]
    assert (rbm.visible_bias / scale).tolist() == [0.5, -0.125, -0.625]
    assert (rbm.hidden_bias / scale).tolist() == [0.5, -0.125, -0.625]
    assert 5 - rbm.offset / scale == -1.5625
    ground, states = optimum(rbm)
    assert (ground - rbm.offset) / scale == -3.5625
    assert {tuple(map(int, reduction.back(s))) for s in states} == optima


def test_weights_up_to_the_last_int64_stay_exact():
    largest = 2**63 - 1
    half = largest // 2
    problem = Max2Sat.from_clauses(2, [[1, -2], [-1, 2]], [half, half])
    assert problem.total_weight == largest - 1
    ising, reduction = to_ising(problem)
    assert ising.weights.tolist() == [half]
    for bits in states_of(problem):
        assert reduction.source_energy(ising.energy(reduction.forward(bits))) == problem.cost(bits)
    with pytest.raises(ValueError, match=r"2\^63-1"):
        to_ising(Max2Sat.from_clauses(2, [[1, 2]], [largest]))


def test_large_batches_agree_with_single_states():
    rng = np.random.default_rng(1)
    edges = np.argwhere(np.triu(rng.random((300, 300)) < 0.2, 1))
    problem = Ising.from_edges(300, edges, rng.integers(-5, 6, len(edges)))
    states = 2 * rng.integers(0, 2, (600, 300), dtype=np.int8) - 1
    assert problem.energy(states).tolist() == [problem.energy(state) for state in states]


def test_states_of_another_problem_are_refused():
    _, reduction = to_ising(Max2Sat.from_clauses(2, [[1, 2]], [3]))
    for bad in ([1], [1, 2], [0.5, 1], [-1, 1], [[0, 1, 1]]):
        with pytest.raises(ValueError, match="MAX-2-SAT form"):
            reduction.forward(bad)
    with pytest.raises(ValueError, match="Ising form"):
        reduction.back([0, 1])
