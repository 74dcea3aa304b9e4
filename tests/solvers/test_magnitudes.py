"""Solvers on weights at the ends of int64 and float64: exact energies, or a one-line error."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import energy_by_definition, states_of
from tests.strategies import extreme_problems

from glasshouse.planting.methods import random_loops
from glasshouse.problems import Ising, Max2Sat, Rbm
from glasshouse.proofs import prove
from glasshouse.solvers import anneal, brute_force, descend, sweeps_to_solution, temper

OURS = r"add up|(above|at most) 2\^63-1|multiply all weights by a common factor"


def or_refusal(make):
    """The result, or None after a refusal in our own words."""
    try:
        return make()
    except ValueError as error:
        if not re.search(OURS, str(error)):
            raise
        return None


def scale_of(problem) -> Fraction:
    most = Fraction(problem.total_weight) + abs(Fraction(getattr(problem, "offset", 0)))
    return most + getattr(problem, "num_hard", 0) * Fraction(getattr(problem, "hard_weight", 0))


@settings(max_examples=50)
@given(extreme_problems(exact=True))
def test_exhaustive_search_and_descent_of_large_integers(problem):
    states = states_of(problem)
    energies = {tuple(s): int(energy_by_definition(problem, s)) for s in states}
    best = min(energies.values())
    found = or_refusal(lambda: brute_force(problem))
    if found is None:
        return
    assert (found.energy, found.count) == (best, list(energies.values()).count(best))
    low = descend(problem, states)
    assert low.energies.tolist() == [energies[tuple(s)] for s in low.states]
    again = descend(problem, low.states)
    assert not again.flips.any()
    values = np.array(list(energies.values()), dtype=object)
    assert all(low.energies.astype(object) <= values)


@settings(max_examples=30)
@given(extreme_problems(exact=True), st.sampled_from(["best", "above", "below"]), st.booleans())
def test_annealed_energies_of_large_integers_are_exact(problem, which, by_flip):
    energies = {tuple(s): int(energy_by_definition(problem, s)) for s in states_of(problem)}
    target = {"best": min(energies.values()), "above": 3 * 2**63, "below": -3 * 2**63}[which]
    check = "flip" if by_flip else "sweep"
    for result in (
        or_refusal(lambda: anneal(problem, sweeps=20, runs=4, target=target, check=check, rng=1)),
        or_refusal(lambda: temper(problem, sweeps=10, runs=3, target=target, rng=1)),
    ):
        if result is not None:
            assert result.energies.tolist() == [energies[tuple(s)] for s in result.states]
            assert np.array_equal(result.hits > 0, [e <= target for e in result.energies.tolist()])


@settings(max_examples=30)
@given(extreme_problems(exact=False))
def test_tiny_and_huge_floats_are_solved_or_refused_in_one_line(problem):
    states = states_of(problem)
    energies = {tuple(s): energy_by_definition(problem, s, Fraction) for s in states}
    # Rounding of sums; the tolerance of the enumeration of floats, 1e-12, is the larger one.
    near, best = scale_of(problem) / 10**11, min(energies.values())
    exhaustive = or_refusal(lambda: brute_force(problem))
    if exhaustive is not None:
        assert abs(Fraction(exhaustive.energy) - best) <= near
    for result in (
        or_refusal(lambda: anneal(problem, sweeps=30, runs=4, target=float(best), rng=1)),
        or_refusal(lambda: temper(problem, sweeps=20, runs=3, rng=1)),
        or_refusal(lambda: descend(problem, states)),
    ):
        if result is not None:
            for energy, state in zip(result.energies.tolist(), result.states, strict=True):
                assert abs(Fraction(energy) - energies[tuple(state)]) <= near
    if not isinstance(problem, Max2Sat):  # hard clauses may contradict each other
        proof = prove(problem)
        assert Fraction(proof.lower_bound) <= best + near
        assert not proof.optimal or abs(Fraction(proof.energy) - best) <= near


@pytest.mark.parametrize("weight", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_annealing_does_not_depend_on_the_unit_of_energy(weight):
    """Squares of these weights leave the floats; the range of β followed them to 0 or infinity."""
    rng = np.random.default_rng(1)
    weights = rng.choice([-1, 1], size=(8, 8)) * weight
    result = anneal(Rbm(weights), sweeps=200, runs=16, rng=1)
    assert np.isfinite(result.betas).all()
    assert result.best_energy == brute_force(Rbm(weights)).energy
    cold = result.betas[-1] * weight
    assert cold == pytest.approx(anneal(Rbm(weights / weight), sweeps=2, runs=1).betas[-1])


def test_weights_too_small_for_a_temperature_are_refused_with_the_remedy():
    ring = Ising.from_edges(3, [(0, 1), (1, 2), (0, 2)], [5e-324, 5e-324, -5e-324])
    with pytest.raises(ValueError, match="multiply all weights by a common factor"):
        anneal(ring, runs=1)
    assert brute_force(ring).energy == -5e-324


def test_a_beta_that_kernels_cannot_double_is_refused():
    ring = Ising.from_edges(2, [(0, 1)], [1.0])
    for run in (anneal, temper):
        with pytest.raises(ValueError, match=r"beta=1\.7e\+308 is above"):
            run(ring, beta=(1.0, 1.7e308), runs=1)


def test_descent_takes_no_gain_that_rounding_may_have_made():
    """0.1 + 0.2 - 0.3 is a gain of 5.6e-17 as floats add up. Such gains could repeat forever."""
    star = Ising.from_edges(4, [(0, 1), (0, 2), (0, 3)], [0.1, 0.2, -0.3], fields=[0, 9, 9, 9])
    assert star.energy([-1, 1, 1, 1]) == star.energy([1, 1, 1, 1])
    found = descend(star, [[-1, 1, 1, 1], [1, 1, 1, 1]])
    assert found.flips.tolist() == [0, 0]


def test_more_sweeps_than_int64_counts_are_refused():
    plant = random_loops(4, 4, frustration="1/5", loops=1, rng=1)
    with pytest.raises(ValueError, match="max_sweeps=9223372036854775808 must be at most"):
        sweeps_to_solution(plant, max_sweeps=2**63, rng=1)
