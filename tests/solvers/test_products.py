"""Polynomials of any degree: exact search, and their own annealing kernel.

Seeds are fixed. With other seeds a correct kernel would fail the statistical tests here with a
probability of about 1 in 1000 a test.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.problems.test_polynomial import polynomials, states
from tests.solvers.block_runs import final_states
from tests.solvers.test_boltzmann import chi_square_p, ks_p

import glasshouse as gh
from glasshouse.planting import Seed
from glasshouse.solvers.annealing import key_of
from glasshouse.solvers.engine import Hypergraph
from glasshouse.solvers.engines import choose_engine
from glasshouse.solvers.replicas import RowTask

CUBIC = gh.Polynomial.from_terms(
    5, {(0, 1, 2): -2, (1, 2, 3, 4): 1, (0, 4): 1, (3,): -1, (0, 2, 3): 3}, offset=7
)
FLOATS = gh.Polynomial.from_terms(
    5, {(0, 1, 2): -0.7, (1, 2, 3, 4): 1.3, (0, 1, 2, 3, 4): 0.4, (3,): -0.25, (4,): 0.9}
)


@settings(max_examples=60)
@given(polynomials(most=9, degree=6))
def test_brute_force_finds_all_ground_states(drawn):
    size, rows, weights, units = drawn
    problem = gh.Polynomial.from_terms(size, rows, weights, units=units)
    if problem.degree <= 2 or not problem.is_integer:
        return
    table = states(size, units)
    energies = problem.energy(table)
    found = gh.brute_force(problem)
    assert found.energy == energies.min()
    assert found.count == (energies == energies.min()).sum()
    assert sorted(map(tuple, found.states.tolist())) == sorted(
        map(tuple, table[energies == energies.min()].tolist())
    )


def test_brute_force_of_eighteen_variables_and_its_limits():
    rng = np.random.default_rng(3)
    rows = [rng.choice(18, 4, replace=False) for _ in range(40)]
    problem = gh.Polynomial.from_terms(18, rows, rng.integers(-9, 10, 40))
    found = gh.brute_force(problem, keep=3)
    assert found.energy == problem.energy(states(18, "spin")).min()
    assert len(found.states) <= 3
    wide = gh.Polynomial.from_terms(40, {(0, 1, 2): 1})
    with pytest.raises(ValueError, match="at most 26 variables"):
        gh.brute_force(wide)


@pytest.mark.parametrize("problem", [CUBIC, FLOATS], ids=["integers", "floats"])
@pytest.mark.parametrize("beta", [0.1, 0.4])
def test_fixed_beta_gives_the_boltzmann_distribution(problem, beta):
    runs, sweeps = 6400, 40
    final = last_states(problem, beta, runs, sweeps)
    table = states(5, "spin")
    energies = problem.energy(table).astype(float)
    chances = np.exp(-beta * (energies - energies.min()))
    chances /= chances.sum()
    codes = (final > 0) @ (1 << np.arange(5)[::-1])
    assert chi_square_p(np.bincount(codes, minlength=32), runs * chances) > 1e-4
    assert ks_p(problem.energy(final), energies, chances) > 1e-4


def last_states(problem, beta, runs, sweeps):
    """The states at the end of the runs, whatever came before."""
    _, made = choose_engine(Hypergraph(problem))
    return final_states(made, problem, np.full(sweeps, beta), runs, seed=7)


def test_annealing_finds_optima_in_either_unit_and_reaches_targets():
    rng = np.random.default_rng(1)
    rows = [rng.choice(14, 3, replace=False) for _ in range(20)]
    problem = gh.Polynomial.from_terms(14, rows, rng.integers(1, 4, 20) * rng.choice([-1, 1], 20))
    best = gh.brute_force(problem).energy
    other, reduction = gh.to_polynomial(problem, "binary")
    for check in ("sweep", "flip"):
        result = gh.anneal(problem, sweeps=300, runs=32, target=best, check=check, rng=1)
        assert (result.best_energy, result.kernel) == (best, "product lanes")
        assert result.success_probability > 0.5
        assert problem.energy(result.states).tolist() == result.energies.tolist()
    bits = gh.anneal(other, sweeps=300, runs=32, rng=1)
    assert reduction.source_energy(int(bits.best_energy)) == best
    assert set(np.unique(bits.states)) <= {0, 1}


def test_runs_are_the_same_whatever_their_number_and_the_threads():
    one = gh.anneal(CUBIC, sweeps=20, runs=16, rng=5)
    two = gh.anneal(CUBIC, sweeps=20, runs=48, rng=5, threads=2)
    assert (one.states == two.states[:16]).all()


def test_what_floats_cannot_hold_is_annealed_as_pairs():
    large = gh.Polynomial.from_terms(4, {(0, 1, 2): 2**54 + 1, (1, 2, 3): 1})
    result = gh.anneal(large, sweeps=20, runs=16, rng=1)
    assert result.kernel != "product lanes"
    assert result.best_energy == -(2**54) - 2
    assert gh.temper(large, sweeps=20, runs=2, rng=1).kernel != "product lanes"


def test_tempering_takes_polynomials_as_they_are():
    rng = np.random.default_rng(1)
    rows = [rng.choice(16, 4, replace=False) for _ in range(30)]
    problem = gh.Polynomial.from_terms(16, rows, rng.integers(1, 4, 30) * rng.choice([-1, 1], 30))
    best = gh.brute_force(problem).energy
    result = gh.temper(problem, sweeps=2000, runs=8, target=best, rng=1)
    assert (result.best_energy, result.kernel) == (best, "product lanes")
    assert result.success_probability == 1
    assert problem.energy(result.states).tolist() == result.energies.tolist()
    again = gh.temper(problem, sweeps=2000, runs=24, target=best, rng=1, threads=2)
    assert (again.states[:8] == result.states).all()
    bits, reduction = gh.to_polynomial(problem, "binary")
    assert reduction.source_energy(int(gh.temper(bits, sweeps=2000, rng=1).best_energy)) == best


@pytest.mark.parametrize("problem", [CUBIC, FLOATS], ids=["integers", "floats"])
def test_replicas_at_each_temperature_have_the_boltzmann_distribution(problem):
    betas = np.array([0.05, 0.15, 0.3])
    _, made = choose_engine(Hypergraph(problem))
    table = states(5, "spin")
    energies = problem.energy(table).astype(float)
    seen = [[], [], []]
    task = RowTask(made, betas, 40, made.never, key_of(Seed(3)))
    for index in range(300):
        (replicas,) = task.start(index)
        task.advance((replicas,), 0, 40)
        for k, spins in enumerate(replicas.spins):
            seen[k].append(spins[:-16].reshape(-1, 16).T)
    for beta, drawn in zip(betas, seen, strict=True):
        codes = (np.concatenate(drawn) > 0) @ (1 << np.arange(5)[::-1])
        chances = np.exp(-beta * (energies - energies.min()))
        chances /= chances.sum()
        assert chi_square_p(np.bincount(codes, minlength=32), len(codes) * chances) > 1e-4
