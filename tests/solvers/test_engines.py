"""The last problem is cached: the same results, faster, without unused memory."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from glasshouse.problems import Ising, Qubo
from glasshouse.solvers import anneal, engines, temper
from glasshouse.solvers.spin_form import SpinForm


def problem_of(seed: int) -> Ising:
    draws = np.random.default_rng(seed)
    return Ising.from_matrix(np.triu(draws.integers(-9, 10, (20, 20)), 1))


@pytest.fixture(autouse=True)
def _nothing_is_ready():
    engines.forget()


def test_the_same_problem_is_ready_and_another_is_not():
    one, two = SpinForm(problem_of(1)), SpinForm(problem_of(2))
    first = engines.make_ready(one)
    assert engines.make_ready(one) is first
    assert engines.make_ready(two) is not first
    assert engines.make_ready(one) is not first  # only the last one is
    equal = SpinForm(problem_of(1))
    assert engines.make_ready(equal) is not engines.make_ready(one)


def test_few_and_many_runs_have_engines_of_their_own():
    ring = Ising.from_edges(40, [(i, (i + 1) % 40) for i in range(40)], [1] * 40)
    few, many = (anneal(ring, sweeps=5, runs=r, rng=1).kernel for r in (1, 64))
    assert few != many
    assert anneal(ring, sweeps=5, runs=1, rng=1).kernel == few


@pytest.mark.parametrize("solve", [anneal, temper])
def test_results_do_not_depend_on_it(solve):
    problem = problem_of(3)
    fresh = solve(problem, sweeps=50, runs=20, rng=1)
    again = solve(problem, sweeps=50, runs=20, rng=1)
    assert np.array_equal(fresh.states, again.states)
    engines.forget()
    assert np.array_equal(solve(problem, sweeps=50, runs=20, rng=1).states, fresh.states)


def test_other_kinds_of_problems_stay_ready_too():
    qubo = Qubo.from_matrix(np.random.default_rng(4).integers(-9, 10, (12, 12)))
    assert engines.make_ready(SpinForm(qubo)) is engines.make_ready(SpinForm(qubo))


def test_only_the_last_problem_is_kept():
    first = weakref.ref(engines.make_ready(SpinForm(problem_of(5))))
    assert first() is not None
    engines.make_ready(SpinForm(problem_of(6)))
    gc.collect()
    assert first() is None


def test_a_kernel_that_was_added_is_considered(monkeypatch):
    form = SpinForm(problem_of(5))
    ready = engines.make_ready(form)
    monkeypatch.setattr(engines, "KERNELS", {})
    assert engines.make_ready(form) is not ready


def test_large_problems_are_not_kept(monkeypatch):
    monkeypatch.setattr(engines, "_SMALL", 10)
    form = SpinForm(problem_of(6))
    assert engines.make_ready(form) is not engines.make_ready(form)
