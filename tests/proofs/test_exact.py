"""Exact solvers of other people agree with `prove` and with enumeration."""

from __future__ import annotations

import importlib.metadata

import numpy as np
import pytest
from hypothesis import given, settings
from tests import strategies
from tests.oracles import optimum
from tests.proofs.instances import loop_sum, spin_glass

from glasshouse.problems import Max2Sat
from glasshouse.proofs import HardClausesUnsatisfiableError, prove
from glasshouse.proofs.exact import EXACT_SOLVERS, ExactSolver, solve_exactly


def installed(solver: str) -> pytest.param:
    package = EXACT_SOLVERS[solver].package
    missing = not list(importlib.metadata.distributions(name=package))
    reason = f"{package} is not installed"
    return pytest.param(solver, marks=pytest.mark.skipif(missing, reason=reason))


SOLVERS = [installed(name) for name in EXACT_SOLVERS]


@pytest.mark.parametrize("solver", SOLVERS)
@given(problem=strategies.max2sats())
@settings(max_examples=20)
def test_clauses_against_enumeration(solver, problem):
    best = optimum(problem)[0]
    if problem.num_hard and best >= problem.hard_weight:
        with pytest.raises(HardClausesUnsatisfiableError):
            solve_exactly(problem, solver=solver)
        return
    result = solve_exactly(problem, solver=solver)
    assert result.optimal
    assert result.energy == best == problem.cost(result.state)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_agree_with_prove(solver):
    rng = np.random.default_rng(6)
    problem, energy = loop_sum(15, 20, rng, fields=True)
    assert solve_exactly(problem, solver=solver).energy == prove(problem).energy == energy
    glass = spin_glass(9, 0.8, rng, gaussian=True)
    proof, result = prove(glass), solve_exactly(glass, solver=solver)
    assert proof.lower_bound <= result.energy <= proof.energy


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_time_limit_ends_the_search(solver):
    problem = spin_glass(150, 0.9, np.random.default_rng(1), gaussian=True)
    result = solve_exactly(problem, solver=solver, time_limit=1)
    assert not result.optimal
    assert result.seconds < 30  # a bound on hanging, not on speed


@pytest.mark.parametrize("solver", SOLVERS)
def test_large_weights_are_solved_exactly_or_refused(solver):
    rng, most = np.random.default_rng(2), EXACT_SOLVERS[solver].most_weight
    size, count = 7, 14
    for _ in range(8):
        clauses = rng.integers(1, size + 1, (count, 2)) * rng.choice([-1, 1], (count, 2))
        clauses[:3, 1] = 0
        # All but equal, so that units decide.
        weights = (most or 2**62) // count - rng.integers(0, 6, count)
        problem = Max2Sat(size, clauses.astype(np.int32), weights)
        result = solve_exactly(problem, solver=solver)
        assert result.optimal
        assert result.energy == optimum(problem)[0]
    if most is None:
        return
    heavy = Max2Sat.from_clauses(2, [[1, 2], [-1, 2]], [most, 1])
    with pytest.raises(ValueError, match=r"exact only up to .*; use solver='rc2-str"):
        solve_exactly(heavy, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_hard_clauses_that_contradict_each_other(solver):
    problem = Max2Sat.from_clauses(2, [[1, 2]], [2**50], hard=[[1], [-1, 2], [-2]])
    with pytest.raises(HardClausesUnsatisfiableError):
        solve_exactly(problem, solver=solver)


@pytest.mark.parametrize("solver", SOLVERS)
def test_time_limits(solver, capfd):
    problem = Max2Sat.from_clauses(2, [[1, 2], [-1], [-2]], [3, 1, 2])
    for limit in (0, -1, np.nan, -np.inf, True, "x"):
        with pytest.raises(ValueError, match=r"time_limit=.* is not a number of seconds above 0"):
            solve_exactly(problem, solver=solver, time_limit=limit)
    for limit in (0.5, 1e30, 10**400, np.inf, None):
        assert solve_exactly(problem, solver=solver, time_limit=limit).energy == 1
    assert "rror" not in capfd.readouterr().err


def test_errors_of_a_solver_are_told_in_our_words(monkeypatch):
    def fail(problem, time_limit):
        raise RuntimeError("Contradiction")

    monkeypatch.setitem(EXACT_SOLVERS, "toulbar2", ExactSolver(fail, "pytoulbar2"))
    with pytest.raises(ValueError, match="solver='toulbar2' failed with RuntimeError: Contr"):
        solve_exactly(Max2Sat.from_clauses(2, [[1, 2], [-1]], [1, 1]), solver="toulbar2")


def test_bad_arguments():
    problem = Max2Sat.from_clauses(2, [[1, 2]], [1])
    with pytest.raises(ValueError, match="solver='magic' is not one of highs, rc2"):
        solve_exactly(problem, solver="magic")
    with pytest.raises(ValueError, match="needs integer weights"):
        solve_exactly(Max2Sat.from_clauses(2, [[1, 2]], [1.5]), solver="highs")
