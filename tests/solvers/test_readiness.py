"""The last problem stays ready: the same results, sooner, and no memory that nobody needs."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from glasshouse.problems import Ising, Qubo
from glasshouse.solvers import anneal, readiness, temper
from glasshouse.solvers.forms import Form


def problem_of(seed: int) -> Ising:
    draws = np.random.default_rng(seed)
    return Ising.from_matrix(np.triu(draws.integers(-9, 10, (20, 20)), 1))


@pytest.fixture(autouse=True)
def _nothing_is_ready():
    readiness.forget()


def test_the_same_problem_is_ready_and_another_is_not():
    one, two = Form(problem_of(1)), Form(problem_of(2))
    first = readiness.make_ready(one)
    assert readiness.make_ready(one) is first
    assert readiness.make_ready(two) is not first
    assert readiness.make_ready(one) is not first  # only the last one is
    equal = Form(problem_of(1))
    assert readiness.make_ready(equal) is not readiness.make_ready(one)


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
    readiness.forget()
    assert np.array_equal(solve(problem, sweeps=50, runs=20, rng=1).states, fresh.states)


def test_other_kinds_of_problems_stay_ready_too():
    qubo = Qubo.from_matrix(np.random.default_rng(4).integers(-9, 10, (12, 12)))
    assert readiness.make_ready(Form(qubo)) is readiness.make_ready(Form(qubo))


def test_only_the_last_problem_is_kept():
    first = weakref.ref(readiness.make_ready(Form(problem_of(5))))
    assert first() is not None
    readiness.make_ready(Form(problem_of(6)))
    gc.collect()
    assert first() is None


def test_a_kernel_that_was_added_is_considered(monkeypatch):
    form = Form(problem_of(5))
    ready = readiness.make_ready(form)
    monkeypatch.setattr(readiness, "KERNELS", {})
    assert readiness.make_ready(form) is not ready


def test_large_problems_are_not_kept(monkeypatch):
    monkeypatch.setattr(readiness, "_SMALL", 10)
    form = Form(problem_of(6))
    assert readiness.make_ready(form) is not readiness.make_ready(form)
