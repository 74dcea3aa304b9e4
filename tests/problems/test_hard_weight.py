"""Hard clauses stay hard, whatever the soft weights: in every form, for every solver."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles import all_states, energy_by_definition, states_of
from tests.strategies import max2sats

from glasshouse.problems import Max2Sat
from glasshouse.problems.convert import to_ising, to_qubo
from glasshouse.proofs import prove
from glasshouse.solvers import anneal, brute_force, temper

# A sum of twelve of the largest is still a float that every form can hold.
SIZES = [1e-300, 1e-150, 1e-16, 0.5, 1.0, 3.0, 1e16, 1e150, 1e300]


@st.composite
def mixed(draw: st.DrawFn) -> Max2Sat:
    """Float weights of all sizes, and hard clauses that some assignment satisfies."""
    sizes = st.lists(st.sampled_from(SIZES), min_size=1, max_size=4)
    values = st.sampled_from([0.0, *draw(sizes)])
    others = draw(max2sats(max_variables=3, exact=False, values=values))
    # One soft clause contradicts a hard one, and may weigh more than all the rest.
    tempting = np.array([[draw(st.sampled_from([1, -1])), 0]])
    problem = Max2Sat(
        others.num_variables,
        np.concatenate([others.clauses, tempting]),
        np.append(others.weights, draw(st.sampled_from(SIZES))),
        np.concatenate([others.hard, -tempting]),
    )
    assume(is_satisfiable(problem))
    return problem


def is_satisfiable(problem: Max2Sat) -> bool:
    return bool((problem.broken(states_of(problem)) == 0).any())


def test_a_hard_clause_outweighs_floats_above_2_to_53():
    problem = Max2Sat.from_clauses(2, [[1], [2]], [1e16, 0.5], [[-1]])
    assert problem.hard_weight == 2 * (1e16 + 0.5)
    result = anneal(problem, sweeps=100, runs=32, rng=1)
    assert problem.broken(result.states).tolist() == [0] * 32
    assert result.best_energy == 1e16


@pytest.mark.parametrize("weights", [[1e-300, 2e-300], [0.0, 0.0], [5e-324, 0.0], [1e300, 1e-300]])
def test_the_hard_weight_of_floats_is_of_their_own_size(weights):
    problem = Max2Sat.from_clauses(1, [[1], [-1]], weights, [[1]])
    total = sum(map(Fraction, weights))
    assert Fraction(problem.hard_weight) > total
    assert problem.hard_weight <= 2 * float(total) or (total == 0 and problem.hard_weight == 1.0)


def test_integers_keep_the_least_hard_weight():
    assert Max2Sat.from_clauses(1, [[1]], [7], [[1]]).hard_weight == 8


def test_a_sum_of_soft_weights_that_no_float_holds_is_refused():
    with pytest.raises(ValueError, match=r"soft weights add up to .*common factor"):
        Max2Sat.from_clauses(1, [[1], [-1]], [1e308, 1e308], [[1]])


@settings(max_examples=80)
@given(mixed())
def test_no_lowest_state_of_a_reduced_problem_breaks_a_hard_clause(problem):
    for convert in (to_ising, to_qubo):
        form, reduction = convert(problem)
        states = states_of(form)
        energies = [energy_by_definition(form, state, Fraction) for state in states]
        lowest = states[[energy == min(energies) for energy in energies]]
        assert not problem.broken(reduction.back(lowest)).any()


@settings(max_examples=25)
@given(mixed())
def test_solvers_and_proofs_return_feasible_states(problem):
    assert not problem.broken(brute_force(problem).states).any()
    assert not problem.broken(prove(problem).state)
    assert not problem.broken(anneal(problem, sweeps=200, runs=8, rng=1).best_state)
    assert not problem.broken(temper(problem, sweeps=100, runs=4, rng=1).best_state)


@settings(max_examples=40)
@given(mixed())
def test_every_cost_tells_whether_a_hard_clause_is_broken(problem):
    states = all_states(problem.num_variables, 0)
    costs = np.array([energy_by_definition(problem, state, Fraction) for state in states])
    assert np.array_equal(costs >= problem.hard_weight, problem.broken(states) > 0)
